"""Environment variables, set for a while."""

from __future__ import annotations

import contextlib
import os
from typing import Iterator, Mapping


@contextlib.contextmanager
def variables_set(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables of this process, and afterwards what they were before.

    >>> with variables_set({"BAPI_WORKER": "3"}):
    ...     os.environ["BAPI_WORKER"]
    '3'
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

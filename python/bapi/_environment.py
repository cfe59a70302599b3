"""Environment variables, set for a while."""

from __future__ import annotations

import contextlib
import os
from typing import Iterator, Mapping, Optional


@contextlib.contextmanager
def variables_set(variables: Mapping[str, Optional[str]]) -> Iterator[None]:
    """Sets environment variables of this process, or removes them (None), and afterwards what they were before.

    >>> with variables_set({"BAPI_WORKER": "3"}):
    ...     os.environ["BAPI_WORKER"]
    '3'
    """
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, Optional[str]]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def database_variables() -> Mapping[str, None]:
    """What training functions of a study in a database do not get: its address, and libpq's own variables."""
    if "BAPI_STORAGE" not in os.environ:
        return {}
    return {name: None for name in os.environ if name == "BAPI_STORAGE" or name.startswith("PG")}

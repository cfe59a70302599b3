"""Arguments from Python, checked before they reach the engine."""

from __future__ import annotations

import operator
from typing import Any

from . import _core


def whole_number(value: Any, name: str) -> int:
    """Anything that is a whole number, numpy's included. 2.5 is not, and neither is "2".

    >>> whole_number(3, "max_epochs"), whole_number(3.0, "max_epochs")
    (3, 3)
    """
    try:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return operator.index(value)
    except TypeError:
        raise _core.InvalidInput(f"{name}: found {value!r}, expected a whole number") from None


def number(value: Any, name: str) -> float:
    """Anything that has a value as a real number: numpy's scalars, tensors of one element. Text has none.

    >>> number(1, "cost")
    1.0
    """
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise _core.InvalidInput(f"{name}: found {value!r}, expected a number")

"""Arguments from Python, checked before they reach the engine."""

from __future__ import annotations

import operator
from typing import Any, Mapping, Optional

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


_GOALS = {
    "maximize": "maximize",
    "maximise": "maximize",
    "max": "maximize",
    "minimize": "minimize",
    "minimise": "minimize",
    "min": "minimize",
}


def goal_of(goal: Any, direction: Any = None) -> str:
    """ "maximize" or "minimize", from what was given: `goal`, or `direction` as Optuna calls it.

    >>> goal_of(None), goal_of("min"), goal_of(None, "minimize")
    ('maximize', 'minimize', 'minimize')
    """
    given = {name: value for name, value in (("goal", goal), ("direction", direction)) if value is not None}
    for name, value in given.items():
        if not isinstance(value, str) or value not in _GOALS:
            raise _core.InvalidInput(f'{name}: found {value!r}, expected "maximize" or "minimize"')
    wanted = {_GOALS[value] for value in given.values()}
    if len(wanted) > 1:
        raise _core.InvalidInput(f"found goal={goal!r} and direction={direction!r}; they mean the same, give one")
    return wanted.pop() if wanted else "maximize"


def reported_value(metric: Optional[str], value: Any, metrics: Mapping[str, Any]) -> float:
    """The value of a report, given as `value` or under the name of the metric, among others.

    >>> reported_value("accuracy", 0.9, {}), reported_value("accuracy", None, {"accuracy": 0.9, "loss": 0.3})
    (0.9, 0.9)
    """
    if value is not None:
        if metric in metrics:
            raise _core.InvalidInput(f"report: found value={value!r} and {metric}={metrics[metric]!r}, expected one")
        return number(value, "value")
    if metric in metrics:
        return number(metrics[metric], str(metric))
    found = ", ".join(metrics) or "no value"
    name = metric or "accuracy"
    raise _core.InvalidInput(f"report: found {found}, expected report(epoch, value) or report(epoch, {name}=value)")

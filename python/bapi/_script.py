"""Functions for training scripts that `bapi run` starts. Started by hand, they report nothing and leave no files."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import shutil
import tempfile
from typing import Any, Dict, Optional

from ._arguments import number, reported_value, whole_number


def started_by_bapi() -> bool:
    """Whether `bapi run` started this process."""
    return "BAPI_REPORT" in os.environ


def report(epoch: int, value: Optional[float] = None, cost: Optional[float] = None, **metrics: float) -> str:
    """Reports an epoch: `bapi.report(3, accuracy=0.91)` or, for the study's metric, `bapi.report(3, 0.91)`.

    The arguments are those of `trial.report`. The answer is always "continue": `bapi run` ends the script when its
    trial pauses. In a script started by hand, only the arguments are checked.

    >>> report(3, accuracy=0.91)
    'continue'
    >>> report(3, 0.91)
    'continue'
    """
    line: Dict[str, Any] = {"epoch": whole_number(epoch, "epoch")}
    metric = os.environ.get("BAPI_METRIC")
    if value is not None or not metrics:
        line[metric or "value"] = reported_value(metric, value, metrics)
    line.update({name: number(other, name) for name, other in metrics.items()})
    if cost is not None:
        line["cost"] = number(cost, "cost")
    path = os.environ.get("BAPI_REPORT")
    if path is not None:
        _append(path, line)
    return "continue"


def ready() -> None:
    """Marks the end of loading, so that it is charged as start-up and not to the first epoch."""
    path = os.environ.get("BAPI_REPORT")
    if path is not None:
        _append(path, {"ready": True})


def config(**defaults: Any) -> Dict[str, Any]:
    """Returns the configuration to train, on top of the defaults, which apply alone if the script is started by hand.

    >>> config(lr=0.1, units=64)
    {'lr': 0.1, 'units': 64}
    """
    path = os.environ.get("BAPI_CONFIG")
    if path is None:
        return dict(defaults)
    return {**defaults, **json.loads(pathlib.Path(path).read_text(encoding="utf-8"))}


def checkpoint_dir() -> pathlib.Path:
    """Returns the directory for checkpoints; if the script is started by hand, one that is removed at exit."""
    path = os.environ.get("BAPI_CHECKPOINT_DIR")
    if path is not None:
        return pathlib.Path(path)
    global _by_hand
    if _by_hand is None:
        _by_hand = pathlib.Path(tempfile.mkdtemp(prefix="bapi-"))
        atexit.register(shutil.rmtree, _by_hand, ignore_errors=True)
    return _by_hand


_by_hand: Optional[pathlib.Path] = None


def _append(path: str, line: Dict[str, Any]) -> None:
    """One write, so that lines of several threads stay whole."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(file, (json.dumps(line) + "\n").encode())
    finally:
        os.close(file)

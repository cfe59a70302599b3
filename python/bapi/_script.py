"""For training scripts that `bapi run` starts. Run by hand, nothing is reported and nothing is left behind."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import shutil
import tempfile
from typing import Any, Dict, Optional


def started_by_bapi() -> bool:
    """Whether `bapi run` has started this process."""
    return "BAPI_REPORT" in os.environ


def report(epoch: int, *, cost: Optional[float] = None, **metrics: float) -> None:
    """Reports an epoch: `bapi.report(3, accuracy=0.91)`. Does nothing when the script was started by hand.

    >>> report(3, accuracy=0.91)
    """
    path = os.environ.get("BAPI_REPORT")
    if path is None:
        return
    line: Dict[str, Any] = {"epoch": int(epoch)}
    line.update({name: float(value) for name, value in metrics.items()})
    if cost is not None:
        line["cost"] = float(cost)
    _append(path, line)


def ready() -> None:
    """Says that loading is over and training begins, so that epochs are not charged for it."""
    path = os.environ.get("BAPI_REPORT")
    if path is not None:
        _append(path, {"ready": True})


def config(**defaults: Any) -> Dict[str, Any]:
    """The configuration to be trained, over the defaults that hold when the script is started by hand.

    >>> config(lr=0.1, units=64)
    {'lr': 0.1, 'units': 64}
    """
    path = os.environ.get("BAPI_CONFIG")
    if path is None:
        return dict(defaults)
    return {**defaults, **json.loads(pathlib.Path(path).read_text(encoding="utf-8"))}


def checkpoint_dir() -> pathlib.Path:
    """The directory for checkpoints; one that is removed at the end when the script is started by hand."""
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

"""A segment: the stretch of training that a training function is called for."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Protocol, Tuple

from . import _core
from ._arguments import number, reported_value, whole_number


class Channel(Protocol):
    """The writer of reports to the log: the study of this process, or a pipe to the process that has it."""

    def report(
        self, trial: int, epoch: int, value: float, cost: Optional[float], others: Mapping[str, float]
    ) -> Tuple[str, int]: ...

    def directory(self, trial: int) -> str: ...

    def models(self, trial: int) -> str:
        """The directory in which its directory `checkpoint` is."""


@dataclass(frozen=True)
class SegmentFields:
    """What crosses the border of the engine, and that of a process, for a segment."""

    trial: int
    config: Dict[str, Any]
    from_epoch: int
    until: int
    last_payable: int
    budget_left: float
    seed: int
    recent: List[float]
    """The last reports of the trial, as many as `smooth` needs."""


class Segment:
    """Epochs `from_epoch + 1` to `until` of one trial: the argument of a training function.

    Load the model from `checkpoint_dir` if there is one, then loop over `epochs`: train, save, `report`. The answer of
    `report` says whether to continue; the loop over `epochs` follows it.
    """

    def __init__(self, channel: Channel, fields: SegmentFields, max_epochs: int, metric: str) -> None:
        self._channel = channel
        self._metric = metric
        self._fields = fields
        self._until = fields.until
        self._max_epochs = max_epochs
        self._advice = "continue"
        self._directory: Optional[pathlib.Path] = None

    @property
    def number(self) -> int:
        """Number of the trial: 0, 1, 2, ..."""
        return self._fields.trial

    @property
    def config(self) -> Dict[str, Any]:
        """Values of the parameters that apply."""
        return dict(self._fields.config)

    @property
    def from_epoch(self) -> int:
        """Last epoch of the trial that bapi knows; 0 for a new trial."""
        return self._fields.from_epoch

    @property
    def until(self) -> int:
        """Last epoch of the segment. Grows if the trial is chosen to continue."""
        return self._until

    @property
    def max_epochs(self) -> int:
        """Epochs of a full training."""
        return self._max_epochs

    @property
    def budget_left(self) -> float:
        """Remaining budget of the study when the segment started."""
        return self._fields.budget_left

    @property
    def seed(self) -> int:
        """Seed of this trial, below 2**31; the same whenever the trial continues."""
        return self._fields.seed

    @property
    def directory(self) -> pathlib.Path:
        """Directory of the trial."""
        if self._directory is None:
            self._directory = pathlib.Path(self._channel.directory(self._fields.trial))
        return self._directory

    @property
    def checkpoint_dir(self) -> pathlib.Path:
        """Directory for the trial's checkpoints. It exists; its contents are yours."""
        return pathlib.Path(self._channel.models(self._fields.trial)) / "checkpoint"

    @property
    def advice(self) -> str:
        """Last answer to a report: "continue", "pause" or "stop"."""
        return self._advice

    def report(
        self, epoch: int, value: Optional[float] = None, cost: Optional[float] = None, **metrics: float
    ) -> str:
        """Reports an epoch, and returns "continue", "pause" or "stop".

        `report(3, 0.91)` and, with metric="accuracy", `report(3, accuracy=0.91)` mean the same. Other metrics are
        recorded but not tuned (`Trial.metrics`).

        The report is in the log when the call returns. Without `cost`, a budget in seconds is charged the time since
        the last report. A value that is not finite fails the trial.
        """
        price = None if cost is None else number(cost, "cost")
        result = reported_value(self._metric, value, metrics)
        self._advice, self._until = self._channel.report(
            self._fields.trial,
            whole_number(epoch, "epoch"),
            result,
            price,
            {name: number(other, name) for name, other in metrics.items() if name != self._metric},
        )
        return self._advice

    def epochs(self, start: Optional[int] = None) -> Iterator[int]:
        """Yields the epochs to train, until bapi says pause or stop.

        `start` is the last epoch in your checkpoint; default: `from_epoch`. If it is older, the epochs in between are
        trained and charged again. If it is newer by up to three epochs, which were saved and never reported, these are
        missing in the curve; a still newer one is ignored.
        """
        known = self._fields.from_epoch
        first = known if start is None else whole_number(start, "start")
        if first > known + _core.MOST_UNREPORTED:
            first = known
        for epoch in range(first + 1, self._max_epochs + 1):
            if self._advice != "continue":
                return
            yield epoch

    def __repr__(self) -> str:
        return f"Segment(trial {self._fields.trial}, epochs {self._fields.from_epoch + 1} to {self._until}, {dict(self._fields.config)})"


def failure_text(error: BaseException) -> str:
    """The error with the place where it was raised: what is kept of a failed trial."""
    text = f"{type(error).__name__}: {error}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return text
    return f"{text} ({pathlib.Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"


def config_text(config: Mapping[str, Any]) -> str:
    """lr=0.01 units=64, numbers short."""
    return " ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in config.items()
    )

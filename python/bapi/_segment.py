"""A stretch of training: what a training function gets, and what its reports are answered with."""

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
    """Epochs `from_epoch + 1` to `until` of one trial, to be trained by you.

    Load the model of `checkpoint_dir` if `from_epoch` is above 0, train epoch by epoch, save, and `report` every epoch:
    the answer says whether to continue. `epochs` is the loop that follows the answers.
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
        """The number of the trial: 0, 1, 2, ..."""
        return self._fields.trial

    @property
    def config(self) -> Dict[str, Any]:
        """The values of the parameters that apply."""
        return dict(self._fields.config)

    @property
    def from_epoch(self) -> int:
        """The last epoch that is known of the trial; 0 for a new one."""
        return self._fields.from_epoch

    @property
    def until(self) -> int:
        """Where the segment ends. Grows when the trial is chosen again at its end."""
        return self._until

    @property
    def max_epochs(self) -> int:
        """The epochs of a full training."""
        return self._max_epochs

    @property
    def budget_left(self) -> float:
        """What was left of the study's budget when the segment was handed out."""
        return self._fields.budget_left

    @property
    def seed(self) -> int:
        """A seed of the trial's own, below 2**31; the same whenever the trial is continued."""
        return self._fields.seed

    @property
    def directory(self) -> pathlib.Path:
        """The directory of the trial."""
        if self._directory is None:
            self._directory = pathlib.Path(self._channel.directory(self._fields.trial))
        return self._directory

    @property
    def checkpoint_dir(self) -> pathlib.Path:
        """The directory for the trial's checkpoints. It exists, and is yours."""
        return self.directory / "checkpoint"

    @property
    def advice(self) -> str:
        """The last answer: "continue", "pause" or "stop"."""
        return self._advice

    def report(
        self, epoch: int, value: Optional[float] = None, cost: Optional[float] = None, **metrics: float
    ) -> str:
        """Tells what an epoch came to, and returns "continue", "pause" or "stop".

        `report(3, 0.91)` and, in a study with metric="accuracy", `report(3, accuracy=0.91)` are the same; other metrics
        are kept too, and not tuned (`Trial.metrics`).

        The report is in the log when the call returns. Without `cost` a budget in seconds measures the time since the
        last report. A value that is not finite fails the trial.
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
        """The epochs to be trained, until bapi says pause or stop.

        `start` is the last epoch that your checkpoint holds, if that is not `from_epoch`. One that is older is paid
        for again. A few epochs that were saved, but not reported any more, are left out of the curve.
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

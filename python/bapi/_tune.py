"""The loop that most people want."""

from __future__ import annotations

import signal
import sys
from typing import Any, Callable, Mapping, Optional

from . import _core
from ._interrupt import on_ctrl_c
from ._progress import Progress, progress_of
from ._segment import Segment, failure_text
from ._space import Space
from ._study import Budget, Path, Study, StudyOptions


class TooManyFailures(_core.Error):
    """So many trials have failed in a row that going on makes no sense. The message has the last failure."""


def tune(
    train: Callable[[Segment], Any],
    *,
    space: Space,
    budget: Budget,
    max_epochs: int,
    goal: str = "maximize",
    storage: Optional[Path] = None,
    workers: int = 1,
    metric: str = "value",
    policy: str = "bapi",
    policy_options: Optional[Mapping[str, Any]] = None,
    seed: int = 0,
    deadline: Optional[Budget] = None,
    min_epochs: int = 1,
    checkpoints: bool = True,
    max_failures: int = 10,
    grace: Budget = 2.0,
    progress: Optional[bool] = None,
) -> Study:
    """Tunes `train` until the budget is spent, and returns the study.

    `train(trial)` is called once per segment: it loads the trial's checkpoint if there is one, trains epoch by epoch,
    and reports each. An exception fails the trial, and the next one is tried; returning before the end of the segment
    completes it where it stands.

    budget: a total, "30m", "500 epochs", "12 usd" (then every report needs a cost), or seconds. In seconds it pays for
        the training, failed trials included, and for the time that decisions take.
    max_epochs: the length of a full training.
    goal: "maximize" or "minimize" what is reported.
    storage: the directory of the study, "NAME.bapi"; the same call goes on with a study that exists, and with another
        budget to that total. Without, the study is kept in memory.
    workers: trials at a time. One trains in this process; more in processes of their own, started by "spawn": `train`
        must then be a function at the top level of a module, and the script must have its
        `if __name__ == "__main__":`.
    policy, policy_options: what decides; see `bapi.policies()`.
    deadline: wall clock after the study's first decision.
    checkpoints: False if `train` cannot continue; then every segment begins at epoch 1 and pays for it.
    max_failures: failed trials in a row after which TooManyFailures is raised.
    grace: time that workers get to reach their next report on Ctrl-C, and to end when the budget is spent.
    progress: whether to draw a progress bar; None: on terminals and in notebooks.

    Ctrl-C pauses the study and returns it; the same call resumes it.

    >>> import bapi
    >>> def train(trial):
    ...     for epoch in trial.epochs():
    ...         trial.report(epoch, (1 - 0.7 ** epoch) * (1 - (trial.config["x"] - 0.3) ** 2))
    >>> study = bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget="60 epochs", max_epochs=9, policy="hyperband")
    >>> study.best.value > 0.9
    True
    """
    options = StudyOptions.among(locals())
    if not callable(train):
        raise _core.InvalidInput(f"train: found {train!r}, expected a function that takes a trial")
    study = Study._driven(options)
    display = progress_of(study, progress)
    try:
        if workers == 1:
            ctrl_c = _CtrlC()
            with on_ctrl_c(ctrl_c.press):
                _train_here(study, train, display, ctrl_c)
        else:
            from ._workers import train_in_workers

            end, reason = train_in_workers(study, train, display)
            if end == "interrupted":
                raise KeyboardInterrupt
            if end == "too many failures":
                raise TooManyFailures(reason)
        display.finish()
        if workers == 1 and study._core.gave_up():
            raise TooManyFailures(study.reason)
    except KeyboardInterrupt:
        study._core.pause("interrupted")
        display.finish()
        sys.stderr.write(f"bapi: {study.name} is paused, nothing is lost; the same call goes on with it\n")
    finally:
        study.close()
    return study


class _CtrlC:
    """Remembers Ctrl-C: libraries that catch KeyboardInterrupt to end their fit early would swallow it."""

    def __init__(self) -> None:
        self._pressed = False

    def press(self, number: int, frame: Any) -> None:
        """Handles the signal."""
        self._pressed = True
        signal.default_int_handler(number, frame)

    def check(self) -> None:
        """Raises what was swallowed."""
        if self._pressed:
            raise KeyboardInterrupt


def _train_here(study: Study, train: Callable[[Segment], Any], display: Progress, ctrl_c: _CtrlC) -> None:
    while (segment := study.ask()) is not None:
        segment._channel = _Watched(study, display, ctrl_c)
        try:
            train(segment)
        except Exception as error:
            if study._core.is_handed_out(segment.number):
                study.fail(segment.number, failure_text(error))
        else:
            ctrl_c.check()
            if study._core.is_handed_out(segment.number):
                study.complete(segment.number)
        display.update()


class _Watched:
    """The study, with its display. What an interrupted epoch came to is not told: it is trained again."""

    def __init__(self, study: Study, display: Progress, ctrl_c: _CtrlC) -> None:
        self._study = study
        self._display = display
        self._ctrl_c = ctrl_c

    def report(self, trial: int, epoch: int, value: float, cost: Optional[float]) -> Any:
        self._ctrl_c.check()
        answer = self._study.report(trial, epoch, value, cost)
        self._display.update()
        return answer

    def directory(self, trial: int) -> str:
        return self._study.directory(trial)

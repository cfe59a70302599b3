"""bapi.tune: a training function under a budget."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, Callable, Mapping, Optional, Tuple, Type, Union

from . import _core
from ._callbacks import Callbacks, Messenger
from ._environment import variables_set
from ._executor import Executor, refuse_other_executors
from ._interrupt import on_ctrl_c
from ._progress import progress_of
from ._segment import Segment, failure_text
from ._space import Space
from ._study import Budget, Path, Study, StudyOptions, is_database


Exceptions = Union[Type[BaseException], Tuple[Type[BaseException], ...]]


class TrainingFailed(_core.Error):
    """Training ended without an exception before any trial had reported: the function is silent, or a worker died."""


class TooManyFailures(_core.Error):
    """`max_failures` trials in a row have failed. The message has the last failure."""


def tune(
    train: Callable[[Segment], Any],
    *,
    space: Space,
    budget: Budget,
    max_epochs: int,
    goal: Optional[str] = None,
    direction: Optional[str] = None,
    storage: Optional[Path] = None,
    workers: Optional[int] = None,
    metric: Union[str, Mapping[str, Any]] = StudyOptions.metric,
    policy: str = StudyOptions.policy,
    policy_options: Optional[Mapping[str, Any]] = None,
    seed: int = StudyOptions.seed,
    deadline: Optional[Budget] = None,
    min_epochs: int = StudyOptions.min_epochs,
    checkpoints: Union[bool, Mapping[str, Any]] = StudyOptions.checkpoints,
    max_failures: int = StudyOptions.max_failures,
    grace: Budget = StudyOptions.grace,
    catch: Exceptions = (),
    progress: Optional[bool] = None,
    callbacks: Optional[Callbacks] = None,
    executor: Optional[Executor] = None,
    directory: Optional[Path] = None,
    **more: Any,
) -> Study:
    """Tunes `train` until the budget is spent, and returns the study.

    `train(trial)` is called once per segment. It loads the trial's checkpoint if there is one, trains epoch by epoch, and
    reports each epoch. Returning before the end of the segment completes the trial. An exception fails the trial, and
    the next one is tried. Before any trial has reported an epoch, the exception is raised instead: no trial fails, and
    the same call continues once the function is fixed.

    space: what to tune, {"lr": bapi.Float(1e-5, 1, log=True), "units": bapi.Int(16, 256), "optimizer": ["sgd", "adam"]}.
    budget: a total: "30m", "500 epochs", "12 usd" (every report then needs a cost), or a number of seconds. Seconds pay
        for training, failed trials included, and for the time that decisions take.
    max_epochs: epochs of a full training.
    min_epochs: the fewest epochs worth training a trial for.
    goal: "maximize" (the default) or "minimize"; also "max" and "min". `direction` is another name for it.
    metric: name of the reported value; or a dict as in a study file: {"name": "accuracy", "bounds": [0, 1]} gives its
        lowest and highest possible value (None: unbounded). For noisy trainings, {"smooth": 3} counts the mean of the
        last three reports, and {"of": "last"} counts a trial's last epoch instead of its best. `repeat=3` trains the
        finalists three times with different seeds; `study.best` is then the best mean.
    storage: directory of the study, "NAME.bapi". If it exists, the same call continues it; a larger budget continues it
        to that total. Without `storage` the study is kept in memory. "postgresql://user@host/database#NAME" keeps it in a
        database: this process leads it and trains in its own workers, and `bapi.work` trains it on other machines.
    workers: number of trials to train at the same time; default: one, or one for each place of `gpus`. One worker trains
        in this process. Several are processes started by "spawn": `train` must be a function at the top level of a
        module, and the script needs `if __name__ == "__main__":`. For a study in a database that goes for one as well,
        and 0 means that this process only leads.
    policy, policy_options: policy to use (see `bapi.policies()`), and its options.
    seed: random seed.
    deadline: wall-clock limit, counted from the study's first decision.
    checkpoints: False if `train` cannot continue from a checkpoint: every segment then starts at epoch 1 and is charged
        in full. {"keep": "best 3", "final": True} bounds the disk space: of trials that have ended, only the files of
        the best three are kept; with "final": False, only the model of their best epoch.
    max_failures: number of failed trials in a row that raises TooManyFailures.
    catch: exceptions that fail their trial even before the first report: a class or a tuple; `Exception` for all.
    grace: time for workers to reach their next report after Ctrl-C or when the budget is spent.
    progress: whether to draw a progress bar; default: on terminals and in notebooks.
    callbacks: functions to call on events, {"epoch": f, "best": g, "trial_end": h, "study_end": k}. Each gets a
        `bapi.Notice` and runs in a separate thread. An exception in one is a warning; the study continues.
    executor: source of workers, for example `bapi.integrations.ray.executor(num_gpus=1)` for Ray actors; default:
        processes of this machine.
    directory: of a study in a database, where checkpoints go, a directory that all workers see; default: "NAME.bapi".
    tries: configurations to try first, [{"lr": 0.1}]; the policy chooses the values that you leave out.
    warm_start: earlier studies to learn from, "old.bapi" or a list. Their best configurations are tried first; their
        curves are evidence with a learned weight. Give a study with another metric as
        {"study": "old.bapi", "metric": "accuracy"}.
    more: other fields of a study file that do not concern a training program, with the same values.

    Ctrl-C, `bapi pause` or the dashboard pauses the study and returns it; the same call resumes it.

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
    if executor is not None:
        refuse_other_executors(executor)
        if more.get("gpus") is not None:
            raise _core.InvalidInput(
                "found gpus and an executor; gpus are those of this machine: tell the executor what a worker needs, "
                "for example bapi.integrations.ray.executor(num_gpus=1)"
            )
    if is_database(storage):
        return _tune_there(train, options, executor, directory, catch, progress, callbacks)
    if directory is not None:
        raise _core.InvalidInput(
            f"directory: found {os.fspath(directory)!r} for a study that is not in a database; storage is its directory"
        )
    study = Study._driven(options)
    try:
        display = Messenger(study, progress_of(study, progress), callbacks)
    except _core.InvalidInput:
        study.close()
        raise
    try:
        here = executor is None and study._about["workers"] == 1
        if here:
            ctrl_c = _CtrlC()
            with on_ctrl_c(ctrl_c.press), variables_set(_core.worker_environment(study._core.spec, 0)):
                _train_here(study, train, display, ctrl_c, catch)
            if study._core.asked_to_pause():
                raise KeyboardInterrupt
        else:
            from ._workers import train_in_workers

            end, reason, error = train_in_workers(study, train, display, catch, executor)
            if end == "interrupted":
                raise KeyboardInterrupt
            _raise_failure(end, reason, error)
        display.finish()
        if here and study._core.gave_up():
            raise TooManyFailures(study.reason)
        if progress is not False:
            _tell_failures(study)
    except KeyboardInterrupt:
        study._core.pause("interrupted")
        display.finish()
        sys.stderr.write(f"bapi: {study.name} is paused, nothing is lost; the same call continues it\n")
    finally:
        display.stop()
        study.close()
    return study


def _raise_failure(end: str, reason: str, error: Optional[BaseException]) -> None:
    """Raises what a study has failed with, if it has; `error` is the exception of the training function."""
    if end == "program failed":
        raise error or TrainingFailed(reason)
    if end == "too many failures":
        raise TooManyFailures(reason)


def _tell_failures(study: Study) -> None:
    """They are recorded, not raised: a mistake that shows only in some trials would go unnoticed."""
    trials = study.trials
    failed = [trial for trial in trials if trial.failure]
    if failed:
        first = failed[0]
        sys.stderr.write(
            f"bapi: {len(failed)} of {len(trials)} trials failed; trial {first.number}: {first.failure.splitlines()[0]}\n"
        )


def _tune_there(
    train: Callable[[Segment], Any],
    options: StudyOptions,
    executor: Optional[Executor],
    directory: Optional[Path],
    catch: Exceptions,
    progress: Optional[bool],
    callbacks: Optional[Callbacks],
) -> Study:
    from ._cluster import Led

    if executor is not None:
        raise _core.InvalidInput(
            "found an executor and a study in a database; give one: an executor brings its workers, those of a study in a "
            "database are started with bapi.work"
        )
    led = Led(options, directory)
    study = led.study
    display: Optional[Messenger] = None
    try:
        display = Messenger(study, progress_of(study, progress), callbacks)
        end, reason, error = led.run(train, display, catch)
        _raise_failure(end, reason, error)
        display.finish()
        if progress is not False:
            _tell_failures(study)
        if end == "interrupted":
            sys.stderr.write(f"bapi: {study.name} is not led here any more, nothing is lost; the same call continues it\n")
    finally:
        if display is not None:
            display.stop()
        led.close()
    return study


class _CtrlC:
    """Remembers Ctrl-C, because some libraries catch KeyboardInterrupt to end their fit early."""

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


def _train_here(
    study: Study, train: Callable[[Segment], Any], display: Messenger, ctrl_c: _CtrlC, catch: Exceptions
) -> None:
    while (segment := study.ask()) is not None:
        segment._channel = _Watched(study, display, ctrl_c)
        try:
            train(segment)
        except Exception as error:
            if study._core.is_handed_out(segment.number):
                if study._core.progress()[2] is None and not isinstance(error, catch):
                    study._core.put_back(segment.number, failure_text(error))
                    raise
                study.fail(segment.number, failure_text(error))
        else:
            ctrl_c.check()
            if study._core.is_handed_out(segment.number):
                _complete(study, segment, catch)
        display.update()


def _complete(study: Study, segment: Segment, catch: Exceptions) -> None:
    silent = TrainingFailed("the function returned without a report; call trial.report(epoch, value) after every epoch")
    if study._core.progress()[2] is None and not isinstance(silent, catch):
        study._core.put_back(segment.number, str(silent))
        raise silent
    study.complete(segment.number)


class _Watched:
    """The study, with its display. What an interrupted epoch came to is not told: it is trained again."""

    def __init__(self, study: Study, display: Messenger, ctrl_c: _CtrlC) -> None:
        self._study = study
        self._display = display
        self._ctrl_c = ctrl_c

    def report(
        self, trial: int, epoch: int, value: float, cost: Optional[float], others: Mapping[str, float]
    ) -> Any:
        self._ctrl_c.check()
        answer = self._study.report(trial, epoch, value, cost, others)
        self._display.update()
        return answer

    def directory(self, trial: int) -> str:
        return self._study.directory(trial)

    def models(self, trial: int) -> str:
        return self._study.models(trial)

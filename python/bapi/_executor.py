"""Where workers come from: the interface of `bapi.tune(..., executor=...)`, and what every worker does."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Protocol, Sequence, Tuple, Union

from . import _core
from ._segment import Segment, SegmentFields, failure_text

Train = Callable[[Segment], Any]


@dataclass(frozen=True)
class Work:
    """What all workers of a study have in common."""

    train: Train
    catch: Any
    """Exceptions that fail their trial and nothing else."""


@dataclass(frozen=True)
class Task:
    """What a worker is to train."""

    fields: SegmentFields
    directory: str
    max_epochs: int
    metric: str
    counts: Optional[Tuple[str, int, str]]
    """How reports count: goal, smooth and of. None if no model is to be kept: the study is in memory."""
    models: str = ""
    """Where its checkpoints are, if not in `directory`."""
    carry: Optional[Tuple[str, str]] = None
    """Shell commands that fetch its checkpoints before it is trained, and push them afterwards."""

    @property
    def place_of_models(self) -> str:
        """The directory in which its directory `checkpoint` is."""
        return self.models or self.directory


@dataclass(frozen=True)
class Answer:
    """What a report is answered with."""

    advice: str
    """"continue", "pause" or "stop"; "error" if the report is refused."""
    until: int
    message: str


class RemoteTraceback(Exception):
    """Where an exception was raised in a worker: the cause of the exception that is raised here."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


@dataclass(frozen=True)
class Raised:
    """An exception on its way to the process that has the study."""

    pickled: Optional[bytes]
    text: str
    trace: str

    @staticmethod
    def of(error: BaseException) -> "Raised":
        """What is to be sent of an exception."""
        pickled = None
        with contextlib.suppress(Exception):  # some can be sent and not be made again
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        return Raised(pickled, failure_text(error), trace)

    def error(self) -> BaseException:
        """The exception, or one with its text."""
        error: BaseException = RuntimeError(self.text)
        with contextlib.suppress(Exception):
            if self.pickled is not None:
                error = pickle.loads(self.pickled)
        error.__cause__ = RemoteTraceback(self.trace)
        return error


@dataclass(frozen=True)
class Message:
    """What a worker says, when it was sent (by `time.monotonic`), and its parts.

    In this order: "waits" and "placed", if it has to wait for a machine, which costs nothing; "ready", when it has a
    task; any number of "report", each answered; and then "returned" or "raised", after which it is free.
    """

    kind: str
    sent: float
    parts: Tuple[Any, ...] = ()
    error: Optional[Raised] = None


@dataclass(frozen=True)
class Ended:
    """There is no such worker any more."""

    how: str
    lost: bool = False
    """It went with its machine: its segment is put back. Otherwise its trial has crashed."""


class Executor(Protocol):
    """Starts workers and passes on what they are told and say. Driven by one loop; only `poll` waits.

    What `spawn` returns stands for the worker in all other calls. A worker that is gone is told nothing: its end
    arrives by `poll`, as that of every other worker does.
    """

    def spawn(self, number: int, work: Work) -> Any:
        """A new worker; the number is not that of any other one which is alive."""

    def give(self, worker: Any, task: Optional[Task]) -> None:
        """A task for a worker that is free; None: there are no more, and it ends."""

    def answer(self, worker: Any, answer: Answer) -> None:
        """The answer to its last report."""

    def poll(self, workers: Sequence[Any], seconds: float) -> List[Tuple[Any, Union[Message, Ended]]]:
        """What these workers say, in order; at once if there is something, and nothing after a time."""

    def kill(self, worker: Any) -> None:
        """Ends a worker."""


CALLS = ("spawn", "give", "answer", "poll", "kill")


def refuse_other_executors(executor: Any) -> None:
    """Raises InvalidInput for what is no executor."""
    missing = [call for call in CALLS if not callable(getattr(executor, call, None))]
    if missing:
        raise _core.InvalidInput(
            f"executor: found {executor!r}, which has no method {missing[0]}; expected for example "
            "bapi.integrations.ray.executor()"
        )


class Link(Protocol):
    """The worker's side: what it says, and what it hears after a report."""

    def say(self, message: Message) -> None: ...

    def hear(self) -> Answer: ...


class _Reports:
    """A report is sent to the process that has the study, and answered when it is in the log."""

    def __init__(self, link: Link, task: Task) -> None:
        self._link = link
        self._task = task
        self._known = task.fields.from_epoch
        self._saver = None
        if task.counts is not None:
            self._saver = _core.BestModelSaver(task.place_of_models, *task.counts, task.fields.recent)

    def report(
        self, trial: int, epoch: int, value: float, cost: Optional[float], others: Mapping[str, float]
    ) -> Tuple[str, int]:
        done = time.monotonic()
        if self._saver is not None and epoch > self._known:
            self._saver.reported(epoch, value)
            self._known = epoch
        self._link.say(Message("report", done, (epoch, value, cost, dict(others), time.monotonic() - done)))
        answer = self._link.hear()
        if answer.advice == "error":
            raise _core.InvalidInput(answer.message)
        return answer.advice, answer.until

    def directory(self, trial: int) -> str:
        return self._task.directory

    def models(self, trial: int) -> str:
        return self._task.place_of_models


class _TransferFailed(Exception):
    """A command that carries checkpoints did not succeed."""


def _carry(command: str, option: str, task: Task) -> None:
    """Runs a command for the checkpoints of a task, in the environment that training programs get."""
    fields = task.fields
    about = {
        "BAPI_TRIAL": str(fields.trial),
        "BAPI_DIR": task.directory,
        "BAPI_CHECKPOINT_DIR": os.path.join(task.place_of_models, "checkpoint"),
        "BAPI_CONFIG": os.path.join(task.directory, "config.json"),
        "BAPI_FROM_EPOCH": str(fields.from_epoch),
        "BAPI_UNTIL_EPOCH": str(fields.until),
    }
    done = subprocess.run(["sh", "-c", command], env={**os.environ, **about}, check=False)
    if done.returncode != 0:
        raise _TransferFailed(f"the command of {option} failed with exit code {done.returncode}")


def _train_carried(work: Work, task: Task, segment: Segment) -> None:
    """Trains with checkpoints that other machines find. Those that cannot be pushed are lost to them, and no more."""
    fetch, push = task.carry or ("", "")
    if fetch and task.fields.from_epoch > 0:
        _carry(fetch, "fetch", task)
    try:
        work.train(segment)
    finally:
        if push:
            try:
                _carry(push, "push", task)
            except _TransferFailed as error:
                sys.stderr.write(f"bapi: trial {task.fields.trial}: {error}\n")


def train_task(link: Link, work: Work, task: Task) -> None:
    """Trains a task in this process, from "ready" to "returned" or "raised"."""
    link.say(Message("ready", time.monotonic()))
    segment = Segment(_Reports(link, task), task.fields, task.max_epochs, task.metric)
    try:
        _train_carried(work, task, segment)
    except Exception as error:
        parts = (failure_text(error), isinstance(error, work.catch))
        link.say(Message("raised", time.monotonic(), parts, Raised.of(error)))
    else:
        link.say(Message("returned", time.monotonic()))

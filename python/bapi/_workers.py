"""Training in processes of their own: one study, several workers.

The loop, its limits and its accounts are those of the engine; here processes are started, talked to and ended.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from . import _core
from ._callbacks import Messenger
from ._environment import variables_set
from ._interrupt import on_ctrl_c
from ._segment import Segment, SegmentFields, failure_text
from ._study import Study


@dataclass(frozen=True)
class _Task:
    """What a worker is to train."""

    fields: SegmentFields
    directory: str
    max_epochs: int
    metric: str
    counts: Optional[Tuple[str, int, str]]
    """How reports count: goal, smooth and of. None if no model is to be kept: the study is in memory."""


class RemoteTraceback(Exception):
    """Where an exception was raised in a worker: the cause of the exception that is raised here."""

    def __init__(self, trace: str) -> None:
        super().__init__(trace)

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


@dataclass(frozen=True)
class _Raised:
    """An exception on its way to the process that has the study."""

    pickled: Optional[bytes]
    text: str
    trace: str

    @staticmethod
    def of(error: BaseException) -> "_Raised":
        pickled = None
        with contextlib.suppress(Exception):  # some can be sent and not be made again
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        return _Raised(pickled, failure_text(error), trace)

    def error(self) -> BaseException:
        error: BaseException = RuntimeError(self.text)
        with contextlib.suppress(Exception):
            if self.pickled is not None:
                error = pickle.loads(self.pickled)
        error.__cause__ = RemoteTraceback(self.trace)
        return error


@dataclass(frozen=True)
class _Message:
    """What a worker says: the name of a `_core.WorkerMessage`, when it was sent, and its parts."""

    kind: str
    sent: float
    parts: Tuple[Any, ...] = ()
    error: Optional["_Raised"] = None


class _Pipe:
    """The worker's side of a report: sent to the process that has the study, answered when it is in the log."""

    def __init__(self, end: "connection.Connection", task: _Task) -> None:
        self._end = end
        self._directory = task.directory
        self._known = task.fields.from_epoch
        self._saver = None
        if task.counts is not None:
            self._saver = _core.BestModelSaver(task.directory, *task.counts, task.fields.recent)

    def report(
        self, trial: int, epoch: int, value: float, cost: Optional[float], others: Mapping[str, float]
    ) -> Tuple[str, int]:
        done = time.monotonic()
        if self._saver is not None and epoch > self._known:
            self._saver.reported(epoch, value)
            self._known = epoch
        self._end.send(_Message("report", done, (epoch, value, cost, dict(others), time.monotonic() - done)))
        answer, until, message = self._end.recv()
        if answer == "error":
            raise _core.InvalidInput(message)
        return answer, until

    def directory(self, trial: int) -> str:
        return self._directory


def _work(end: "connection.Connection", parent: int, train: Callable[[Segment], Any], catch: Any) -> None:
    """The life of a worker: a segment after the other, until there are no more."""
    os.setsid()  # Ctrl-Z is for the process that has the study, too; its guardian stops everything else
    _core.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has the study
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    while os.getppid() == parent:
        task = end.recv()
        if task is None:
            return
        end.send(_Message("ready", time.monotonic()))
        segment = Segment(_Pipe(end, task), task.fields, task.max_epochs, task.metric)
        try:
            train(segment)
        except Exception as error:
            parts = (failure_text(error), isinstance(error, catch))
            end.send(_Message("raised", time.monotonic(), parts, _Raised.of(error)))
        else:
            end.send(_Message("returned", time.monotonic()))


@contextlib.contextmanager
def _in_environment(variables: List[str]) -> Iterator[None]:
    """Processes that are started here have these variables (NAME=value)."""
    names = [variable.partition("=")[0] for variable in variables]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(variable.partition("=")[::2] for variable in variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """A process that is started here ignores Ctrl-C from its first instruction on."""
    resource_tracker.ensure_running()  # starting it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _refuse_what_workers_cannot_import(train: Callable[[Segment], Any]) -> None:
    """A function of a notebook or of standard input is sent by its name alone, which the worker would not find."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    by_name = getattr(main, "__spec__", None) is not None
    if getattr(train, "__module__", None) == "__main__" and not by_name and (file is None or not os.path.exists(file)):
        raise _core.InvalidInput(
            "workers: the training function is defined in a notebook or an interactive session, where other processes "
            "cannot find it; put it into a module and import it, or use workers=1"
        )


class _Worker:
    def __init__(
        self,
        number: int,
        variables: Dict[str, str],
        train: Callable[[Segment], Any],
        catch: Any,
        guard: "_core.WorkerGuard",
    ) -> None:
        self.number = number
        context = multiprocessing.get_context("spawn")
        self.end, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, os.getpid(), train, catch), daemon=True)
        self.started = False  # it has said something
        self.killed = False
        try:
            # What it imports may look at its variables already.
            with _ctrl_c_blocked(), variables_set(variables), _in_environment(guard.marks()):
                self.process.start()
                guard.watch(self.process.pid)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _core.InvalidInput(
                f"workers: the training function cannot be sent to another process ({error}); "
                "define it at the top level of a module, or use workers=1"
            ) from error
        theirs.close()
        self.trial: Optional[int] = None

    def send(self, message: Any) -> None:
        """To a worker that is gone nothing is said; its end is noticed by the sentinel."""
        with contextlib.suppress(OSError, ValueError):
            self.end.send(message)

    def how_it_ended(self) -> str:
        code = self.process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


class WorkerPool:
    """The workers of one study, as the engine's loop uses them."""

    def __init__(self, study: Study, train: Callable[[Segment], Any], catch: Any = ()) -> None:
        self._study = study
        self._train = train
        self._catch = catch
        self.raised: Optional[_Raised] = None
        """The first exception that no trial is to blame for."""
        self._workers: List[_Worker] = []
        self.guard = _core.WorkerGuard(study._core)
        """Ends what workers leave, and everything when this process is killed; stops all of it with this process."""
        self.interrupted = False
        """Ctrl-C was pressed."""

    def interrupt(self, number: int, frame: Any) -> None:
        """Ctrl-C lets the workers reach their next report; pressed again, it ends at once."""
        if self.interrupted:
            signal.default_int_handler(number, frame)
        self.interrupted = True

    def start(self, record: Dict[str, Any]) -> None:
        """Gives a segment to a free worker, or to a new one."""
        fields = SegmentFields(**record)
        worker = next((worker for worker in self._workers if worker.trial is None), None)
        if worker is None:
            taken = {worker.number for worker in self._workers}
            number = next(number for number in itertools.count() if number not in taken)
            variables = _core.worker_environment(self._study._core, number)
            worker = _Worker(number, variables, self._train, self._catch, self.guard)
            self._workers.append(worker)
        worker.trial = fields.trial
        about = self._study._about
        counts = None if self._study.path is None else (about["goal"], about["smooth"], about["of"])
        worker.send(
            _Task(fields, self._study.directory(fields.trial), about["max_epochs"], about["metric"], counts)
        )

    def answer(self, trial: int, answer: str, until: int, message: str) -> None:
        """Answers the last report of a trial; its worker may have died since."""
        worker = self._worker_of(trial)
        if worker is not None:
            worker.send((answer, until, message))

    def kill(self, trial: int) -> None:
        """Ends the worker of a trial, if it still has one."""
        worker = self._worker_of(trial)
        if worker is not None:
            worker.killed = True
            self.guard.kill(worker.process.pid)

    def wait(self, seconds: float) -> List["_core.WorkerMessage"]:
        """What workers say within a time; at once if there is something."""
        by_handle: Dict[Any, _Worker] = {}
        for worker in self._workers:
            by_handle[worker.end] = worker
            by_handle[worker.process.sentinel] = worker
        if not by_handle:
            time.sleep(min(seconds, 1.0))
            return []
        messages: List[_core.WorkerMessage] = []
        ended = []
        for handle in connection.wait(list(by_handle), seconds):
            worker = by_handle[handle]
            if handle is worker.end:
                messages += self._read(worker)
            else:
                ended.append(worker)
        for worker in ended:
            messages += self._read(worker)
            messages += self._remove(worker)
        return messages

    def close(self) -> None:
        """Ends all workers: those that train are killed, the others told to end."""
        for worker in self._workers:
            if worker.trial is None:
                worker.send(None)
            else:
                self.guard.kill(worker.process.pid)
        for worker in self._workers:
            if not connection.wait([worker.process.sentinel], 1.0):
                self.guard.kill(worker.process.pid)
                worker.process.kill()
            self.guard.forget(worker.process.pid)
            worker.process.join()
        self._workers.clear()
        del self.guard  # its process ends now, even if somebody keeps the pool

    def _worker_of(self, trial: int) -> Optional[_Worker]:
        return next((worker for worker in self._workers if worker.trial == trial), None)

    def _read(self, worker: _Worker) -> List["_core.WorkerMessage"]:
        messages = []
        with contextlib.suppress(EOFError, ConnectionError):  # its end is noticed by the sentinel
            while worker.end.poll():
                message = worker.end.recv()
                worker.started = True
                trial, age = worker.trial, time.monotonic() - message.sent
                if message.error is not None and self.raised is None and not message.parts[1]:
                    self.raised = message.error
                if message.kind in ("returned", "raised"):
                    worker.trial = None
                if trial is not None:
                    messages.append(getattr(_core.WorkerMessage, message.kind)(trial, age, *message.parts))
        return messages

    def _remove(self, worker: _Worker) -> List["_core.WorkerMessage"]:
        """A worker that ended by itself has failed its trial; if it never came to train, every other one would."""
        self.guard.forget(worker.process.pid)
        worker.process.join()
        self._workers.remove(worker)
        if not worker.started and not worker.killed:
            raise _core.Error(
                f"a worker process ended with {worker.how_it_ended()} before it could train; its output says why. With "
                'workers > 1 the script needs `if __name__ == "__main__":` around bapi.tune, and the training function '
                "has to be in a module that can be imported"
            )
        if worker.trial is None:
            return []
        return [_core.WorkerMessage.died(worker.trial, f"the worker process ended with {worker.how_it_ended()}")]


def train_in_workers(
    study: Study, train: Callable[[Segment], Any], display: Messenger, catch: Any = ()
) -> Tuple[str, str, Optional[BaseException]]:
    """Runs the study to its end in as many processes as it has workers: how it ended, why, and what was raised."""
    _refuse_what_workers_cannot_import(train)
    pool = WorkerPool(study, train, catch)
    try:
        with on_ctrl_c(pool.interrupt):
            end, reason = _core.tune_in_workers(study._core, pool, display.update)
        return end, reason, pool.raised.error() if pool.raised is not None else None
    finally:
        pool.close()

"""Training in processes of their own: one study, several workers.

The loop, its limits and its accounts are those of the engine; here processes are started, talked to and ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import time
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import _core
from ._interrupt import on_ctrl_c
from ._progress import Progress
from ._segment import Segment, SegmentFields, failure_text
from ._study import Study


@dataclass(frozen=True)
class _Task:
    """What a worker is to train."""

    fields: SegmentFields
    directory: str
    max_epochs: int


@dataclass(frozen=True)
class _Message:
    """What a worker says: the name of a `_core.WorkerMessage`, when it was sent, and its parts."""

    kind: str
    sent: float
    parts: Tuple[Any, ...] = ()


class _Pipe:
    """The worker's side of a report: sent to the process that has the study, answered when it is in the log."""

    def __init__(self, end: "connection.Connection", directory: str) -> None:
        self._end = end
        self._directory = directory

    def report(self, trial: int, epoch: int, value: float, cost: Optional[float]) -> Tuple[str, int]:
        self._end.send(_Message("report", time.monotonic(), (epoch, value, cost)))
        answer, until, message = self._end.recv()
        if answer == "error":
            raise _core.InvalidInput(message)
        return answer, until

    def directory(self, trial: int) -> str:
        return self._directory


def _work(end: "connection.Connection", parent: int, train: Callable[[Segment], Any]) -> None:
    """The life of a worker: a segment after the other, until there are no more."""
    _core.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has the study
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    while os.getppid() == parent:
        task = end.recv()
        if task is None:
            return
        end.send(_Message("ready", time.monotonic()))
        segment = Segment(_Pipe(end, task.directory), task.fields, task.max_epochs)
        try:
            train(segment)
        except Exception as error:
            end.send(_Message("raised", time.monotonic(), (failure_text(error),)))
        else:
            end.send(_Message("returned", time.monotonic()))


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
    def __init__(self, train: Callable[[Segment], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.end, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, os.getpid(), train), daemon=True)
        self.started = False  # it has said something
        self.killed = False
        try:
            with _ctrl_c_blocked():
                self.process.start()
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

    def __init__(self, study: Study, train: Callable[[Segment], Any]) -> None:
        self._study = study
        self._train = train
        self._workers: List[_Worker] = []
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
            worker = _Worker(self._train)
            self._workers.append(worker)
        worker.trial = fields.trial
        worker.send(_Task(fields, self._study.directory(fields.trial), self._study._about["max_epochs"]))

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
            worker.process.kill()

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
                worker.process.kill()
        for worker in self._workers:
            worker.process.join(1.0)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()

    def _worker_of(self, trial: int) -> Optional[_Worker]:
        return next((worker for worker in self._workers if worker.trial == trial), None)

    def _read(self, worker: _Worker) -> List["_core.WorkerMessage"]:
        messages = []
        with contextlib.suppress(EOFError, ConnectionError):  # its end is noticed by the sentinel
            while worker.end.poll():
                message = worker.end.recv()
                worker.started = True
                trial, age = worker.trial, time.monotonic() - message.sent
                if message.kind in ("returned", "raised"):
                    worker.trial = None
                if trial is not None:
                    messages.append(getattr(_core.WorkerMessage, message.kind)(trial, age, *message.parts))
        return messages

    def _remove(self, worker: _Worker) -> List["_core.WorkerMessage"]:
        """A worker that ended by itself has failed its trial; if it never came to train, every other one would."""
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


def train_in_workers(study: Study, train: Callable[[Segment], Any], display: Progress) -> Tuple[str, str]:
    """Runs the study to its end in as many processes as it has workers: how it ended, and why."""
    _refuse_what_workers_cannot_import(train)
    pool = WorkerPool(study, train)
    try:
        with on_ctrl_c(pool.interrupt):
            return _core.tune_in_workers(study._core, pool, display.update)
    finally:
        pool.close()

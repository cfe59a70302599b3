"""One study, several workers.

The loop, its limits and its accounts are those of the engine. Where the workers come from is an executor's business;
here they get their segments and their answers.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from typing import Any, Dict, List, Optional, Protocol, Tuple

from . import _core
from ._callbacks import Messenger
from ._executor import Answer, Ended, Executor, Message, Raised, Task, Train, Work
from ._interrupt import on_ctrl_c
from ._segment import SegmentFields
from ._study import Study

_TIME_TO_END = 1.0  # seconds, for a worker that is told that there is no more work


class _Worker:
    def __init__(self, number: int, handle: Any) -> None:
        self.number = number
        self.handle = handle
        """What the executor knows it by."""
        self.trial: Optional[int] = None


class Home(Protocol):
    """Where the files of trials are, and what else a worker has to know of the study."""

    def task(self, fields: SegmentFields) -> Task: ...


class _StudyHome:
    """That of a study which this process drives."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def task(self, fields: SegmentFields) -> Task:
        about = self._study._about
        counts = None if self._study.path is None else (about["goal"], about["smooth"], about["of"])
        directory = os.path.abspath(self._study.directory(fields.trial))
        return Task(fields, directory, about["max_epochs"], about["metric"], counts)


class WorkerPool:
    """The workers of one study, as the engine's loop uses them."""

    def __init__(self, home: Home, work: Work, executor: Executor, guard: Optional["_core.WorkerGuard"]) -> None:
        self._home = home
        self._work = work
        self._executor: Optional[Executor] = executor
        self.guard = guard
        """Keeps limits while this process is busy; None if workers are on other machines."""
        self.raised: Optional[Raised] = None
        """The first exception that no trial is to blame for."""
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
        worker = next((worker for worker in self._workers if worker.trial is None), None) or self._new_worker()
        worker.trial = fields.trial
        self._by.give(worker.handle, self._home.task(fields))

    def answer(self, trial: int, answer: str, until: int, message: str) -> None:
        """Answers the last report of a trial; its worker may have died since."""
        worker = self._worker_of(trial)
        if worker is not None:
            self._by.answer(worker.handle, Answer(answer, until, message))

    def kill(self, trial: int) -> None:
        """Ends the worker of a trial, if it still has one."""
        worker = self._worker_of(trial)
        if worker is not None:
            self._by.kill(worker.handle)

    def wait(self, seconds: float) -> List["_core.WorkerMessage"]:
        """What workers say within a time; at once if there is something."""
        messages: List[_core.WorkerMessage] = []
        for worker, said in self._poll(seconds):
            messages += self._remove(worker, said) if isinstance(said, Ended) else self._take(worker, said)
        return messages

    def close(self) -> None:
        """Ends all workers: those that train are killed, the others told to end."""
        for worker in self._workers:
            if worker.trial is None:
                self._by.give(worker.handle, None)
            else:
                self._by.kill(worker.handle)
        deadline = time.monotonic() + _TIME_TO_END
        while self._workers:
            for worker, said in self._poll(max(0.0, deadline - time.monotonic())):
                if isinstance(said, Ended):
                    self._workers.remove(worker)
            if time.monotonic() < deadline:
                continue
            for worker in self._workers:
                self._by.kill(worker.handle)
            deadline = time.monotonic() + _TIME_TO_END
        self._executor = self.guard = None  # the guard's process ends now, even if somebody keeps the pool

    @property
    def _by(self) -> Executor:
        assert self._executor is not None
        return self._executor

    def _new_worker(self) -> _Worker:
        taken = {worker.number for worker in self._workers}
        number = next(number for number in itertools.count() if number not in taken)
        worker = _Worker(number, self._by.spawn(number, self._work))
        self._workers.append(worker)
        return worker

    def _worker_of(self, trial: int) -> Optional[_Worker]:
        return next((worker for worker in self._workers if worker.trial == trial), None)

    def _poll(self, seconds: float) -> List[Tuple[_Worker, Any]]:
        by_handle = {id(worker.handle): worker for worker in self._workers}
        said = self._by.poll([worker.handle for worker in self._workers], seconds)
        return [(by_handle[id(handle)], what) for handle, what in said]

    def _take(self, worker: _Worker, message: Message) -> List["_core.WorkerMessage"]:
        trial, age = worker.trial, max(0.0, time.monotonic() - message.sent)
        if message.error is not None and self.raised is None and not message.parts[1]:
            self.raised = message.error
        if message.kind in ("returned", "raised"):
            worker.trial = None
        return [] if trial is None else [getattr(_core.WorkerMessage, message.kind)(trial, age, *message.parts)]

    def _remove(self, worker: _Worker, ended: Ended) -> List["_core.WorkerMessage"]:
        self._workers.remove(worker)
        if worker.trial is None:
            return []
        end = _core.WorkerMessage.lost if ended.lost else _core.WorkerMessage.died
        return [end(worker.trial, ended.how)]


def train_in_workers(
    study: Study, train: Train, display: Messenger, catch: Any = (), executor: Optional[Executor] = None
) -> Tuple[str, str, Optional[BaseException]]:
    """Runs the study to its end in as many workers as it has: how it ended, why, and what was raised.

    Without an executor the workers are processes of this machine.
    """
    guard = None
    if executor is None:
        from ._processes import ProcessExecutor, refuse_what_processes_cannot_import

        refuse_what_processes_cannot_import(train)
        executor = processes = ProcessExecutor(study._core.spec)
        guard = processes.guard
        del processes
    pool = WorkerPool(_StudyHome(study), Work(train, catch), executor, guard)
    del executor, guard  # the pool drops them when it is closed
    try:
        with on_ctrl_c(pool.interrupt):
            end, reason = _core.tune_in_workers(study._core, pool, display.update)
        return end, reason, pool.raised.error() if pool.raised is not None else None
    finally:
        pool.close()

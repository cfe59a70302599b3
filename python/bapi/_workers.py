"""Training in processes of their own: one study, several workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import time
from multiprocessing import connection, resource_tracker
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import _core
from ._progress import Progress
from ._segment import Segment, failure_text
from ._study import Study

_TICK = 0.2  # seconds between two looks at the display


class _Pipe:
    """The worker's side of a report: sent to the process that has the study, answered when it is in the log."""

    def __init__(self, end: "connection.Connection", directory: str) -> None:
        self._end = end
        self._directory = directory

    def report(self, trial: int, epoch: int, value: float, cost: Optional[float]) -> Tuple[str, int]:
        self._end.send(("report", epoch, value, cost, time.monotonic()))
        answer, detail = self._end.recv()
        if answer == "error":
            raise _core.InvalidInput(detail)
        return answer, detail

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
        fields, directory, max_epochs = task
        end.send(("ready",))
        segment = Segment(_Pipe(end, directory), fields, max_epochs)
        try:
            train(segment)
        except Exception as error:
            end.send(("failed", failure_text(error)))
        else:
            end.send(("done",))


@contextlib.contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """A process that is started here is deaf to Ctrl-C from its first instruction on."""
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
        self.told_to_end: Optional[float] = None  # when its trial was told to pause or stop

    def give(self, fields: Tuple[Any, ...], directory: str, max_epochs: int) -> None:
        self.trial = fields[0]
        self.told_to_end = None
        self.end.send((fields, directory, max_epochs))


class _Crew:
    """The workers of one study, and what they say."""

    def __init__(self, study: Study, train: Callable[[Segment], Any], size: int, display: Progress) -> None:
        self._study = study
        self._train = train
        self._size = size
        self._display = display
        self._workers: List[_Worker] = []
        self._interrupted = False
        self._news = True  # something happened since there was nothing to hand out

    def run(self) -> None:
        try:
            while self._hand_out():
                self._listen(min(_TICK, self._study._core.seconds_to_limit()))
                self._kill_the_deaf()
                if self._study._core.seconds_to_limit() <= 0.0:
                    self._cut("the budget is spent or the deadline is reached")
        except KeyboardInterrupt:
            self._interrupted = True
            self._wind_down()
            raise
        finally:
            self._dismiss()

    def _busy(self) -> List[_Worker]:
        return [worker for worker in self._workers if worker.trial is not None]

    def _hand_out(self) -> bool:
        """Gives every free worker a segment; False when nothing runs and nothing will."""
        while self._news and len(self._busy()) < self._size:
            fields = self._study._core.ask()
            if fields is None:
                self._news = False
                break
            idle = next((worker for worker in self._workers if worker.trial is None), None)
            if idle is None:
                idle = _Worker(self._train)
                self._workers.append(idle)
            idle.give(fields, self._study.directory(fields[0]), self._study._about["max_epochs"])
        return bool(self._busy())

    def _listen(self, seconds: float) -> None:
        by_handle: Dict[Any, _Worker] = {}
        for worker in self._workers:
            by_handle[worker.end] = worker
            by_handle[worker.process.sentinel] = worker
        gone = []
        for handle in connection.wait(list(by_handle), max(0.0, seconds)):
            worker = by_handle[handle]
            if handle is worker.end:
                self._hear(worker)
            else:
                gone.append(worker)
        for worker in gone:
            self._bury(worker)
        self._display.update()

    def _hear(self, worker: _Worker) -> None:
        try:
            while worker.end.poll():
                self._answer(worker, worker.end.recv())
        except (EOFError, ConnectionError):
            pass  # its end is noticed by the sentinel

    def _answer(self, worker: _Worker, message: Tuple[Any, ...]) -> None:
        self._news = True
        core, trial = self._study._core, worker.trial
        if trial is None:
            return
        if message[0] == "ready":
            worker.started = True
            core.ready(trial)
        elif message[0] == "report":
            answer = self._take_report(trial, *message[1:])
            if answer[0] in ("pause", "stop"):
                worker.told_to_end = time.monotonic()
            worker.end.send(answer)
        elif message[0] == "failed":
            worker.trial = None
            if core.is_out(trial):
                core.fail(trial, message[1])
        elif message[0] == "done":
            worker.trial = None
            if core.is_out(trial):
                core.complete(trial)

    def _take_report(self, trial: int, epoch: int, value: float, cost: Optional[float], sent: float) -> Tuple[Any, Any]:
        core = self._study._core
        try:
            advice, until = core.report(trial, epoch, value, cost, time.monotonic() - sent)
        except _core.InvalidInput as error:
            return "error", str(error)
        if self._interrupted and advice == "continue":
            core.put_back(trial, "interrupted")
            return "pause", until
        return advice, until

    def _bury(self, worker: _Worker) -> None:
        """A worker that died by itself has failed its trial; if it never came to train, every other one would."""
        self._news = True
        self._hear(worker)
        worker.process.join()
        self._workers.remove(worker)
        if worker.trial is not None and self._study._core.is_out(worker.trial):
            code = worker.process.exitcode
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            if not worker.started:
                self._study.put_back(worker.trial, "its worker did not start")
                raise _core.Error(
                    f"a worker process ended with {how} before it could train; its output says why. With workers > 1 "
                    'the script needs `if __name__ == "__main__":` around bapi.tune, and the training function has to '
                    "be in a module that can be imported"
                )
            self._study.fail(worker.trial, f"the worker process ended with {how}")

    def _kill_the_deaf(self) -> None:
        """A function that goes on long after it was told to end gives up its worker."""
        limit = time.monotonic() - self._study._about["grace"]
        self._kill([w for w in self._busy() if w.told_to_end is not None and w.told_to_end < limit], 0.0)

    def _wind_down(self) -> None:
        """Workers may reach their next report within the grace period, and are told to pause there."""
        end = time.monotonic() + self._study._about["grace"]
        while self._busy() and time.monotonic() < end:
            self._listen(min(_TICK, end - time.monotonic()))

    def _cut(self, reason: str) -> None:
        self._kill(self._busy(), self._study._about["effective_grace"])
        self._study._core.finish(reason)

    def _kill(self, workers: List[_Worker], grace: float) -> None:
        for worker in workers:
            worker.process.terminate()
        end = time.monotonic() + grace
        for worker in workers:
            worker.process.join(max(0.0, end - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            self._workers.remove(worker)
            self._news = True

    def _dismiss(self) -> None:
        self._kill(self._busy(), 0.0)
        for worker in self._workers:
            with contextlib.suppress(OSError, ValueError):
                worker.end.send(None)
        for worker in self._workers:
            worker.process.join(1.0)
        self._kill([worker for worker in self._workers if worker.process.is_alive()], 0.0)
        self._workers.clear()


def train_in_workers(study: Study, train: Callable[[Segment], Any], size: int, display: Progress) -> None:
    """Runs the study to its end with `size` processes."""
    _refuse_what_workers_cannot_import(train)
    _Crew(study, train, size, display).run()

"""Workers that are processes of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import time
from multiprocessing import connection, resource_tracker
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _core
from ._environment import database_variables, variables_set
from ._executor import Answer, Ended, Message, Task, Train, Work, train_task


class _Pipe:
    """The worker's side of its pipe."""

    def __init__(self, end: "connection.Connection") -> None:
        self._end = end

    def say(self, message: Message) -> None:
        self._end.send(message)

    def hear(self) -> Answer:
        answer: Answer = self._end.recv()
        return answer


def _live(end: "connection.Connection", parent: int, work: Work) -> None:
    """The life of a worker: a segment after the other, until there are no more."""
    os.setsid()  # Ctrl-Z is for the process that has the study, too; its guardian stops everything else
    _core.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has the study
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    while os.getppid() == parent:
        task = end.recv()
        if task is None:
            return
        train_task(_Pipe(end), work, task)


@contextlib.contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """A process that is started here ignores Ctrl-C from its first instruction on."""
    resource_tracker.ensure_running()  # starting it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def refuse_what_processes_cannot_import(train: Train) -> None:
    """A function of a notebook or of standard input is sent by its name alone, which the worker would not find."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    by_name = getattr(main, "__spec__", None) is not None
    if getattr(train, "__module__", None) == "__main__" and not by_name and (file is None or not os.path.exists(file)):
        raise _core.InvalidInput(
            "workers: the training function is defined in a notebook or an interactive session, where other processes "
            "cannot find it; put it into a module and import it, or use workers=1"
        )


class _Process:
    """A worker, as the process that has the study knows it."""

    def __init__(self, work: Work, variables: Mapping[str, Optional[str]], guard: "_core.WorkerGuard") -> None:
        context = multiprocessing.get_context("spawn")
        self.end, theirs = context.Pipe()
        self.process = context.Process(target=_live, args=(theirs, os.getpid(), work), daemon=True)
        self.started = False  # it has said something
        self.killed = False
        try:
            # What it imports may look at its variables already.
            variables = {**database_variables(), **variables, **_by_name(guard.marks())}
            with _ctrl_c_blocked(), variables_set(variables):
                self.process.start()
                guard.watch(self.process.pid)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _core.InvalidInput(
                f"workers: the training function cannot be sent to another process ({error}); "
                "define it at the top level of a module, or use workers=1"
            ) from error
        theirs.close()

    def send(self, message: Any) -> None:
        """To a worker that is gone nothing is said; its end is noticed by the sentinel."""
        with contextlib.suppress(OSError, ValueError):
            self.end.send(message)

    def said(self) -> List[Message]:
        """What it has said since."""
        messages: List[Message] = []
        with contextlib.suppress(EOFError, ConnectionError):  # its end is noticed by the sentinel
            while self.end.poll():
                messages.append(self.end.recv())
                self.started = True
        return messages

    def how_it_ended(self) -> str:
        code = self.process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def _by_name(variables: List[str]) -> Dict[str, str]:
    """NAME=value as a mapping."""
    return dict(variable.partition("=")[::2] for variable in variables)


class ProcessExecutor:
    """Processes that `multiprocessing` starts, of one study."""

    def __init__(self, spec: "_core.Spec") -> None:
        self._spec = spec
        self.guard = _core.WorkerGuard(spec)
        """Ends what workers leave, and everything when this process is killed; stops all of it with this process."""

    def spawn(self, number: int, work: Work) -> _Process:
        """Starts a process."""
        return _Process(work, _core.worker_environment(self._spec, number), self.guard)

    def give(self, worker: _Process, task: Optional[Task]) -> None:
        """Sends a task."""
        worker.send(task)

    def answer(self, worker: _Process, answer: Answer) -> None:
        """Sends an answer."""
        worker.send(answer)

    def kill(self, worker: _Process) -> None:
        """Kills the process and everything that it has started."""
        if worker.killed:  # and its guard has not ended it
            worker.process.kill()
        worker.killed = True
        self.guard.kill(worker.process.pid)

    def poll(self, workers: Sequence[_Process], seconds: float) -> List[Tuple[Any, Union[Message, Ended]]]:
        """What came through the pipes, and which processes have ended."""
        by_handle: Dict[Any, _Process] = {}
        for worker in workers:
            by_handle[worker.end] = worker
            by_handle[worker.process.sentinel] = worker
        if not by_handle:
            time.sleep(min(seconds, 1.0))
            return []
        said: List[Tuple[Any, Union[Message, Ended]]] = []
        ended = []
        for handle in connection.wait(list(by_handle), seconds):
            worker = by_handle[handle]
            if handle is worker.end:
                said += [(worker, message) for message in worker.said()]
            else:
                ended.append(worker)
        for worker in ended:
            said += [(worker, message) for message in worker.said()]
            said.append((worker, self._end(worker)))
        return said

    def _end(self, worker: _Process) -> Ended:
        """A worker that ended by itself has failed its trial; if it never came to train, every other one would."""
        self.guard.forget(worker.process.pid)
        worker.process.join()
        if not worker.started and not worker.killed:
            raise _core.Error(
                f"a worker process ended with {worker.how_it_ended()} before it could train; its output says why. With "
                'workers > 1 the script needs `if __name__ == "__main__":` around bapi.tune, and the training function '
                "has to be in a module that can be imported"
            )
        return Ended(f"the worker process ended with {worker.how_it_ended()}")

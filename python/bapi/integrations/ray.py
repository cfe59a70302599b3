"""Ray: workers on a Ray cluster, and bapi's planner for Ray Tune.

`executor` lets `bapi.tune` train in Ray actors; log, budget and decisions stay in the process that called it:

    study = bapi.tune(train, space=space, budget="8h", max_epochs=50, workers=16, storage="/shared/mlp",
                      executor=executor(num_gpus=1))

`planner` gives Ray Tune a searcher and a scheduler that share one plan under one budget:

    plan = planner(budget="8h", max_epochs=50, storage="/shared/mlp")
    tuner = tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(
        search_alg=plan.searcher, scheduler=plan.scheduler, metric="accuracy", mode="max", num_samples=-1))
    tuner.fit()
"""

from __future__ import annotations

import collections
import os
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Deque, Dict, List, Optional, Sequence, Tuple, Union

import ray
import ray.cloudpickle

from .._core import InvalidInput, version
from .._executor import Answer, Ended, Message, Raised, Task, Work, train_task
from .._segment import failure_text

if TYPE_CHECKING:
    from ._ray_tune import Planner

_PATIENCE = 10.0  # seconds, for a directory to be seen on another machine

_OURS = ("max_restarts", "max_task_retries", "max_concurrency", "concurrency_groups", "lifetime", "name", "namespace")


def executor(*, num_cpus: float = 1, num_gpus: float = 0, **options: Any) -> "RayExecutor":
    """Workers of `bapi.tune` as Ray actors, each with these resources.

    options: what else `ray.remote` takes for an actor: resources, memory, runtime_env, accelerator_type,
        scheduling_strategy, ...

    An actor or node that dies puts its segment back: the trial continues from its checkpoint in another actor. The
    study's directory (`storage`) has to be on a file system that all nodes share. Every node needs bapi, in the same
    version. Waiting for resources costs nothing.
    """
    for name in _OURS:
        if name in options:
            raise InvalidInput(f"{name}: found {options[name]!r}; bapi sets this option of its actors itself")
    return RayExecutor({"num_cpus": num_cpus, "num_gpus": num_gpus, **options})


def planner(**arguments: Any) -> "Planner":
    """A searcher and a scheduler for Ray Tune that share one plan: see `Planner`, which has the arguments."""
    from ._ray_tune import Planner

    return Planner(**arguments)


class _Link:
    """Between the thread that trains and the actor's calls."""

    def __init__(self) -> None:
        self.said: "queue.SimpleQueue[Message]" = queue.SimpleQueue()
        self.answers: "queue.SimpleQueue[Answer]" = queue.SimpleQueue()

    def say(self, message: Message) -> None:
        self.said.put(message)

    def hear(self) -> Answer:
        return self.answers.get()


class _Unusable(Exception):
    """Why no worker can train on this node."""


class _Actor:
    """A worker. Every call returns the next thing that it says, so that one call is under way at any time."""

    def __init__(self) -> None:
        self._link = _Link()
        self._work: Optional[Work] = None

    def place(self, number: int, driver_version: str) -> Message:
        """It has a place on a node."""
        if version != driver_version:
            raise _Unusable(f"has bapi {version}, and the process that called bapi.tune {driver_version}")
        os.environ["BAPI_WORKER"] = str(number)
        return Message("placed", time.monotonic())

    def give(self, pickled: bytes, task: Task) -> Message:
        if self._work is None:
            try:
                self._work = ray.cloudpickle.loads(pickled)
            except Exception as error:
                raise _Unusable(f"cannot load the training function: {failure_text(error)}") from None
        _wait_for_directory(task.directory)
        threading.Thread(target=self._train, args=(self._work, task), daemon=True).start()
        return self.next()

    def answer(self, answer: Answer) -> Message:
        self._link.answers.put(answer)
        return self.next()

    def next(self) -> Message:
        return self._link.said.get()

    def _train(self, work: Work, task: Task) -> None:
        try:
            train_task(self._link, work, task)
        except BaseException as error:  # SystemExit ends a process, but not a thread's process
            self._link.say(Message("raised", time.monotonic(), (failure_text(error), False), Raised.of(error)))


def _wait_for_directory(path: str) -> None:
    """A network file system shows what was just created after a moment."""
    deadline = time.monotonic() + _PATIENCE
    while not os.path.isdir(path):
        if time.monotonic() > deadline:
            raise _Unusable(
                f"does not see {path}; give bapi.tune a storage on a file system that all nodes of the cluster share"
            )
        time.sleep(0.1)


class _Worker:
    """An actor, as the process that has the study knows it."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.calls: Deque[Any] = collections.deque()  # under way, in order
        self.inbox: Deque[Union[Message, Ended]] = collections.deque([Message("waits", time.monotonic())])
        self.ended = False
        self._offset: Optional[float] = None

    def in_our_time(self, message: Message) -> Message:
        """Clocks of two machines have nothing in common. The message that came quickest shows how they differ."""
        offset = time.monotonic() - message.sent
        self._offset = offset if self._offset is None else min(self._offset, offset)
        return Message(message.kind, message.sent + self._offset, message.parts, message.error)


class RayExecutor:
    """Starts Ray actors that train. `executor` makes one."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._options = options
        self._sent: Tuple[Optional[Work], Any] = (None, None)  # what is in Ray's object store, and where

    def __repr__(self) -> str:
        return f"bapi.integrations.ray.executor({', '.join(f'{k}={v!r}' for k, v in self._options.items())})"

    def spawn(self, number: int, work: Work) -> _Worker:
        """Asks Ray for an actor."""
        if not ray.is_initialized():
            ray.init()
        if self._sent[0] is not work:
            self._sent = (work, ray.put(_pickled(work)))
        # What happens to an actor is the study's business: it is neither restarted nor asked twice.
        actor = ray.remote(_Actor).options(max_restarts=0, max_task_retries=0, **self._options).remote()
        worker = _Worker(actor)
        worker.calls.append(actor.place.remote(number, version))
        return worker

    def give(self, worker: _Worker, task: Optional[Task]) -> None:
        """Calls the actor."""
        if task is None:
            self.kill(worker)
        elif not worker.ended:
            worker.calls.append(worker.actor.give.remote(self._sent[1], task))

    def answer(self, worker: _Worker, answer: Answer) -> None:
        """Calls the actor."""
        if not worker.ended:
            worker.calls.append(worker.actor.answer.remote(answer))

    def kill(self, worker: _Worker) -> None:
        """Kills the actor; a call that is under way shows when it is gone."""
        ray.kill(worker.actor, no_restart=True)
        if not worker.calls and not worker.ended:
            self._end(worker, "was killed")

    def poll(self, workers: Sequence[_Worker], seconds: float) -> List[Tuple[Any, Union[Message, Ended]]]:
        """What the calls that are under way have returned."""
        waiting = any(worker.inbox for worker in workers)
        under_way = {worker.calls[0]: worker for worker in workers if worker.calls}
        if under_way:
            refs = list(under_way)
            done, _ = ray.wait(refs, num_returns=1, timeout=0.0 if waiting else seconds)
            if done:
                done, _ = ray.wait(refs, num_returns=len(refs), timeout=0.0)
            for ref in done:
                self._take(under_way[ref], ref)
        elif not waiting:
            time.sleep(min(seconds, 1.0))
        said: List[Tuple[Any, Union[Message, Ended]]] = []
        for worker in workers:
            while worker.inbox:
                said.append((worker, worker.inbox.popleft()))
        return said

    def _take(self, worker: _Worker, ref: Any) -> None:
        worker.calls.popleft()
        try:
            message: Message = ray.get(ref)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, _Unusable):
                raise InvalidInput(f"the Ray node {_node_of(error)} {cause}") from None
            raise
        except ray.exceptions.RayError as error:  # the actor is gone, with its node or without
            ray.kill(worker.actor, no_restart=True)
            self._end(worker, _in_one_line(error))
            return
        worker.inbox.append(worker.in_our_time(message))
        if message.kind == "ready":
            worker.calls.append(worker.actor.next.remote())

    def _end(self, worker: _Worker, how: str) -> None:
        worker.ended = True
        worker.calls.clear()
        worker.inbox.append(Ended(f"the Ray actor {how}", lost=True))


def _pickled(work: Work) -> bytes:
    try:
        pickled: bytes = ray.cloudpickle.dumps(work)
    except Exception as error:
        raise InvalidInput(f"executor: the training function cannot be sent to a Ray actor: {error}") from error
    return pickled


def _node_of(error: "ray.exceptions.RayTaskError") -> str:
    return str(getattr(error, "ip", "") or "of the worker")


def _in_one_line(error: Exception) -> str:
    """Ray explains at length; the line with the reason is the one that is kept."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith("The actor ") and "before finishing this task" not in line]
    return f"died ({type(error).__name__}): {(reasons or lines or ['no reason given'])[0]}"

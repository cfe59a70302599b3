"""The interface between the loop and those who start workers: with threads of this process as workers."""

import collections
import os
import queue
import threading
import time

import pytest
from conftest import quality

import bapi
from bapi._executor import Ended, Message, train_task

LOOP = {"space": {"lr": bapi.Float(1e-6, 1, log=True)}, "budget": "120 epochs", "max_epochs": 9, "policy": "hyperband"}


class Worker:
    """A thread that trains; what it says after its end is not heard."""

    def __init__(self, number, work):
        self.number = number
        self.work = work
        self.said = queue.SimpleQueue()
        self.answers = queue.SimpleQueue()
        self.over = False

    def say(self, message):
        self.said.put(message)

    def hear(self):
        return self.answers.get()

    def train(self, task):
        threading.Thread(target=train_task, args=(self, self.work, task), daemon=True).start()


class Threads:
    """An executor that writes down its calls. `fate(worker, message)` may end a worker: what it returns is its end."""

    def __init__(self, fate=lambda worker, message: None, seconds_to_place=0.0):
        self.fate = fate
        self.seconds_to_place = seconds_to_place
        self.calls = collections.Counter()
        self.most = 0
        self.alive = set()

    def spawn(self, number, work):
        self.calls["spawn"] += 1
        assert number not in {worker.number for worker in self.alive}
        worker = Worker(number, work)
        self.alive.add(worker)
        self.most = max(self.most, len(self.alive))
        if self.seconds_to_place:
            worker.say(Message("waits", time.monotonic()))
        return worker

    def give(self, worker, task):
        self.calls["give"] += 1
        if task is None:
            return self.end(worker, Ended("told to end"))
        assert os.path.isabs(task.directory)
        if not self.seconds_to_place:
            return worker.train(task)

        def place():
            worker.say(Message("placed", time.monotonic()))
            worker.train(task)

        threading.Timer(self.seconds_to_place, place).start()

    def answer(self, worker, answer):
        self.calls["answer"] += 1
        worker.answers.put(answer)

    def kill(self, worker):
        self.calls["kill"] += 1
        self.end(worker, Ended("killed"))

    def end(self, worker, how):
        if not worker.over:
            worker.over = True
            worker.said.put(how)

    def poll(self, workers, seconds):
        deadline = time.monotonic() + seconds
        while True:
            said = [(worker, message) for worker in workers for message in self.read(worker)]
            if said or time.monotonic() >= deadline:
                return said
            time.sleep(0.001)

    def read(self, worker):
        while worker in self.alive and not worker.said.empty():
            message = worker.said.get()
            if isinstance(message, Ended):
                self.alive.discard(worker)
            else:
                end = self.fate(worker, message)
                if end is not None:
                    worker.over = True
                    self.alive.discard(worker)
                    message = end
            yield message


def train(trial):
    path = trial.checkpoint_dir / "epoch"
    start = int(path.read_text()) if path.exists() else 0
    for epoch in trial.epochs(start):
        trial.report(epoch, quality(trial.config, epoch))
        path.write_text(str(epoch))


class EveryTenth:
    """Ends the worker that makes every tenth report of an epoch that is new."""

    def __init__(self, end):
        self.end = end
        self.seen = set()
        self.ended = 0

    def __call__(self, worker, message):
        if message.kind != "report" or len(self.seen) > 100:
            return None
        key = (id(worker), message.sent)
        self.seen.add(key)
        if len(self.seen) % 10:
            return None
        self.ended += 1
        return self.end


@pytest.mark.parametrize("workers", [1, 3])
def test_a_study_trains_in_the_workers_of_an_executor(tmp_path, workers):
    executor = Threads()
    study = bapi.tune(train, workers=workers, storage=tmp_path / "s", executor=executor, **LOOP)
    assert study.state == "finished" and study.spent == 120
    assert executor.most == executor.calls["spawn"] == workers
    assert not executor.alive, "all were told to end"
    assert sum(row["cost"] for row in study.ledger()) == 120


def test_lost_workers_put_their_segments_back_and_no_trial_fails(tmp_path):
    fate = EveryTenth(Ended("its node has died", lost=True))
    executor = Threads(fate)
    study = bapi.tune(train, workers=2, storage=tmp_path / "s", executor=executor, retries=0, **LOOP)
    assert fate.ended >= 5
    assert study.state == "finished" and study.spent == 120
    assert {trial.state for trial in study.trials} <= {"completed", "paused", "stopped", "interrupted"}
    assert not any(trial.failure for trial in study.trials)
    assert all(trial.reported == list(range(1, trial.epochs + 1)) for trial in study.trials), "none is left out"


def test_workers_that_die_by_themselves_fail_their_trials(tmp_path):
    executor = Threads(EveryTenth(Ended("the worker process ended with exit code 3")))
    study = bapi.tune(train, workers=2, storage=tmp_path / "s", executor=executor, retries=0, **LOOP)
    assert {trial.failure for trial in study.trials} == {"", "the worker process ended with exit code 3"}


def test_a_trial_that_loses_every_worker_ends_the_call(tmp_path):
    executor = Threads(lambda worker, message: Ended("out of memory", lost=True))
    with pytest.raises(bapi.TrainingFailed, match="out of memory"):
        bapi.tune(train, workers=1, storage=tmp_path / "s", executor=executor, **LOOP)
    study = bapi.open_study(tmp_path / "s")
    assert study.spent == 0 and [trial.state for trial in study.trials] == ["interrupted"]
    assert bapi.tune(train, workers=1, storage=tmp_path / "s", executor=Threads(), **LOOP).spent == 120


def test_waiting_for_a_place_costs_nothing(tmp_path):
    def sleeps(trial):
        for epoch in trial.epochs():
            time.sleep(0.01)
            trial.report(epoch, 0.5)

    executor = Threads(seconds_to_place=1.0)
    loop = {**LOOP, "budget": "0.5s", "policy": "random"}
    study = bapi.tune(sleeps, workers=2, storage=tmp_path / "s", executor=executor, **loop)
    assert study.state == "finished"
    assert sum(trial.epochs for trial in study.trials) > 0, "the budget was not spent by waiting"


def test_an_exception_is_raised_here_with_its_traceback():
    def fails(trial):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as raised:
        bapi.tune(fails, workers=2, executor=Threads(), **LOOP)
    assert 'raise KeyError("mine")' in str(raised.value.__cause__)


def test_workers_that_do_not_return_are_killed():
    def hangs(trial):
        trial.report(1, 0.5)
        time.sleep(100)

    executor = Threads()
    study = bapi.tune(hangs, workers=2, executor=executor, grace=0.1, **{**LOOP, "budget": "1s", "policy": "random"})
    assert study.state == "finished" and executor.calls["kill"] >= 2


def test_functions_that_no_process_could_import_are_the_executors_business():
    study = bapi.tune(lambda trial: [trial.report(epoch, 0.5) for epoch in trial.epochs()], executor=Threads(), **LOOP)
    assert study.spent == 120


def test_what_is_no_executor_is_refused():
    with pytest.raises(bapi.InvalidInput, match="executor: found 'ray', which has no method spawn"):
        bapi.tune(train, executor="ray", **LOOP)
    with pytest.raises(bapi.InvalidInput, match="gpus are those of this machine"):
        bapi.tune(train, executor=Threads(), gpus=1, **LOOP)

"""Studies in PostgreSQL that Python functions train: `bapi.tune(storage=address)` leads, `bapi.work` helps elsewhere."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import bapi

PATIENCE = 200  # seconds that a busy machine may take

# A function whose checkpoint is the epoch, and which notes where each of its processes begins.
TRAINING = """
import gc, json, os, pathlib, sys, time
import bapi

URL, DELAY = {url!r}, {delay!r}

def train(trial):
    saved = trial.checkpoint_dir / "epoch"
    start = int(saved.read_text()) if saved.exists() else 0
    with open({begun!r}, "a") as begun:
        begun.write(f"{{trial.number}} {{start}} {{os.getpid()}} {{'BAPI_STORAGE' in os.environ}}\\n")
    for epoch in trial.epochs(start):
        time.sleep(DELAY)
        new = saved.with_suffix(".new")
        new.write_text(str(epoch))
        new.replace(saved)
        trial.report(epoch, (1 - 0.7 ** epoch) * (1 - (trial.config["x"] - 0.3) ** 2))

def wrong(trial):
    raise KeyError("no such data")

forked = []

def fork(notice):
    if not forked:  # what the child has of the study is its parent's
        forked.append(os.fork())
        if forked[0] == 0:
            gc.collect()
            os._exit(0)
        os.waitpid(forked[0], 0)

def tune(function=train, **more):
    about = dict(space={{"x": bapi.Float(0, 1)}}, budget="40 epochs", max_epochs=9, policy="hyperband", grace="1s")
    about.update(more)
    return bapi.tune(function, storage=URL, directory={files!r}, **about)

if __name__ == "__main__":
    {call}
"""


class Cluster:
    """A study in the database, and who leads and trains it."""

    def __init__(self, database, name, directory, run):
        self.database = database
        self.name = name
        self.url = f"{database.url}#{name}"
        self.directory = pathlib.Path(directory)
        self.files = str(self.directory / "files")
        self.begun = str(self.directory / "begun")
        self.run = run
        self.started = []

    def python(self, call, delay=0.05):
        """A script with the function above, in the background."""
        number = len(self.started)
        script = self.directory / f"script{number}.py"
        fields = {"url": self.url, "delay": delay, "begun": self.begun, "files": self.files, "call": call}
        script.write_text(TRAINING.format(**fields))
        return self._begin([sys.executable, str(script)])

    def program(self, *arguments):
        """The program bapi, in the background."""
        return self._begin([os.environ["BAPI"], *arguments])

    def _begin(self, command):
        output = self.directory / f"output{len(self.started)}"
        path = os.pathsep.join(filter(None, sys.path))
        with open(output, "w") as out:
            process = subprocess.Popen(command, cwd=self.directory, env={**os.environ, "PYTHONPATH": path}, stdout=out,
                                       stderr=out, start_new_session=True)
        process.output = output
        self.started.append(process)
        return process

    def end_of(self, process, code=0):
        """What it has printed until it ended."""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still runs: {process.output.read_text()}")
        assert process.returncode == code, process.output.read_text()
        return process.output.read_text()

    def wait_for(self, happened, what):
        deadline = time.monotonic() + PATIENCE
        while not happened():
            if time.monotonic() > deadline:
                pytest.fail(f"waited in vain for {what}: " + "\n".join(p.output.read_text() for p in self.started))
            time.sleep(0.05)

    def json(self, *words):
        return json.loads(self.run(*words, "-f", "json"))

    def exists(self):
        return self.name in self.database.bapi("ls", self.database.url).stdout

    def epochs(self):
        return sum(trial["epochs"] for trial in self.json("trials", self.url)) if self.exists() else 0

    def workers(self):
        return self.json("workers", self.url, "--all") if self.exists() else []

    def leader(self):
        rows = self.database.sql(f"SELECT leader FROM bapi.study WHERE name = '{self.name}'").splitlines()
        words = rows[2].split() if len(rows) > 2 else []
        return int(words[0]) if words and words[0].isdigit() else None

    def beginnings(self):
        """(trial, epoch, process, whether it saw the address of the database) of every time the function was called."""
        lines = [line.split() for line in pathlib.Path(self.begun).read_text().splitlines()]
        return [(int(trial), int(epoch), int(pid), seen == "True") for trial, epoch, pid, seen in lines]

    def check_books(self, spent=None):
        """Of a study that has finished."""
        status = self.json("status", self.url)
        assert status["state"] == "finished"
        ledger = self.json("ledger", self.url)
        total = 0.0
        for row in ledger:
            total += row["cost"]
        assert total == status["budget"]["spent"]
        epochs = [(row["trial"], row["epoch"]) for row in ledger if row["kind"] == "epoch"]
        assert len(epochs) == len(set(epochs))
        if spent is not None:
            assert total == spent
        return status

    def nobody_is_left(self):
        """No process that trains, or that was started for this test."""
        for _, _, pid, _ in self.beginnings():
            assert not pathlib.Path(f"/proc/{pid}").exists(), pid
        for process in self.started:
            assert process.poll() is not None


@pytest.fixture
def cluster(database, request, tmp_path, program):
    name = re.sub("[^a-z]+", "-", request.node.name[5:])[:40]
    made = Cluster(database, name, tmp_path, program)
    yield made
    for process in made.started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_study_is_led_and_trained_by_one_call(cluster):
    told = cluster.directory / "told"
    call = f"""
    tell = lambda notice: open({str(told)!r}, "a").write("x")
    study = tune(workers=2, callbacks={{"trial_end": tell, "epoch": fork}})
    print(repr(study), study.finished, study.spent, study.best.checkpoint)
    print(tune(budget="50 epochs", workers=2).spent)"""
    said = cluster.end_of(cluster.python(call))
    assert f"Study({cluster.name}, {cluster.url}: " in said and " True 40.0 " in said
    assert f"{cluster.files}/trials/" in said  # the model of the best epoch
    assert said.rstrip().endswith("50.0")
    cluster.check_books(50.0)
    assert [(worker["state"], worker["slots"]) for worker in cluster.workers()] == [("gone", 2)] * 2
    assert told.read_text()
    assert not any(seen for *_, seen in cluster.beginnings()), "the function saw the address of the database"
    cluster.nobody_is_left()


def test_python_trains_for_a_leader_that_is_the_program(cluster):
    creator = cluster.python("tune(workers=0)")
    cluster.wait_for(lambda: cluster.exists() and cluster.leader() == creator.pid, "the study")
    creator.kill()
    creator.wait()
    leader = cluster.program("lead", cluster.url, "-q")
    worker = cluster.python("print(bapi.work(URL, train, slots=2, lead=False))")
    assert cluster.end_of(worker).splitlines()[-1] == "True"
    cluster.end_of(leader)
    cluster.check_books(40.0)
    cluster.nobody_is_left()


def test_programs_train_for_a_leader_in_python(cluster):
    leader = cluster.python("print(tune(workers=0, metric='accuracy').spent)")
    cluster.wait_for(cluster.exists, "the study")
    trainer = cluster.directory / "trainer.sh"
    trainer.write_text("epoch=$BAPI_FROM_EPOCH\nwhile [ $epoch -lt $BAPI_MAX_EPOCH ]; do\nepoch=$((epoch + 1))\n"
                       'echo "{\\"epoch\\": $epoch, \\"accuracy\\": 0.$epoch}" >> $BAPI_REPORT\nsleep 0.02\ndone\n')
    file = cluster.directory / "study.yaml"
    file.write_text(f"name: any\ncommand: [sh, {trainer}]\nmetric: {{name: accuracy, goal: maximize}}\n"
                    'budget: "40 epochs"\nepochs: {min: 1, max: 9}\nparameters: {x: {min: 0.0, max: 1.0}}\n')
    refused = cluster.run("worker", cluster.url, expect=2)
    assert "bapi.work" in refused and "--file" in refused
    worker = cluster.program("worker", cluster.url, "--file", str(file), "--no-lead")
    cluster.end_of(worker)
    assert cluster.end_of(leader).splitlines()[-1] == "40.0"
    cluster.check_books(40.0)


def test_killed_workers_and_leaders_cost_no_more_than_the_budget(cluster):
    leader = cluster.python('tune(workers=0, budget="30s", lease="5s")', delay=0.1)
    cluster.wait_for(lambda: cluster.exists() and cluster.leader() == leader.pid, "the study")
    workers = [cluster.python("bapi.work(URL, train, slots=2)", delay=0.1) for _ in range(2)]
    cluster.wait_for(lambda: {worker["pid"] for worker in cluster.workers()} == {w.pid for w in workers}, "both workers")
    cluster.wait_for(lambda: cluster.epochs() >= 6, "epochs")
    workers[0].kill()
    cluster.wait_for(lambda: "lost" in {worker["state"] for worker in cluster.workers()}, "the loss of the worker")
    leader.kill()
    cluster.wait_for(lambda: cluster.leader() not in (None, leader.pid), "another leader")
    cluster.end_of(workers[1])
    status = cluster.check_books()
    assert 25.0 < status["budget"]["spent"] < 34.0
    assert "lost" in {row["kind"] for row in cluster.json("ledger", cluster.url)}
    cluster.nobody_is_left()


def test_who_is_told_to_leave_hands_its_trials_back(cluster):
    leader = cluster.python("tune(workers=1)", delay=0.1)
    cluster.wait_for(lambda: cluster.epochs() >= 3, "epochs")
    leader.send_signal(signal.SIGINT)
    assert "nothing is lost" in cluster.end_of(leader)
    done = cluster.epochs()
    assert 3 <= done < 40
    leader = cluster.python("print(tune(workers=0).spent)")
    for sign in (signal.SIGTERM, signal.SIGUSR1):
        before = cluster.epochs()
        worker = cluster.python("print(bapi.work(URL, train, slots=2))", delay=0.1)
        cluster.wait_for(lambda: cluster.epochs() > before + 2, "epochs")
        worker.send_signal(sign)
        assert "False" in cluster.end_of(worker)
    last = cluster.python("print(bapi.work(URL, train, slots=2))")
    assert "40.0" in cluster.end_of(leader) and "True" in cluster.end_of(last)
    cluster.check_books(40.0)
    assert {worker["state"] for worker in cluster.workers()} == {"gone"}
    cluster.nobody_is_left()


def test_checkpoints_are_carried_by_commands_or_trained_again(cluster):
    leader = cluster.python("tune(workers=0)")
    cluster.wait_for(cluster.exists, "the study")
    fetch = "echo $BAPI_TRIAL >> fetched; cp -r store/$BAPI_TRIAL/. $BAPI_CHECKPOINT_DIR/"
    push = "mkdir -p store/$BAPI_TRIAL && cp -r $BAPI_CHECKPOINT_DIR/. store/$BAPI_TRIAL/"
    carried = f"bapi.work(URL, train, fetch={fetch!r}, push={push!r}, lead=False, scratch="
    one = cluster.python(carried + "'one')", delay=0.1)
    cluster.wait_for(lambda: cluster.epochs() >= 4, "epochs")
    other = cluster.python(carried + "'other')")
    cluster.wait_for(lambda: len(cluster.workers()) == 2, "the other worker")
    one.send_signal(signal.SIGTERM)
    cluster.end_of(one)
    cluster.end_of(other)
    cluster.end_of(leader)
    cluster.check_books(40.0)
    assert "repeat" not in {row["kind"] for row in cluster.json("ledger", cluster.url)}
    assert (cluster.directory / "fetched").exists()
    assert not pathlib.Path(cluster.files, "trials", "0000", "checkpoint").exists()


def test_an_exception_of_the_function_is_raised_where_the_study_is_led(cluster):
    assert "KeyError: 'no such data'" in cluster.end_of(cluster.python("tune(wrong)"), code=1)
    assert cluster.json("status", cluster.url)["trials"]["failed"] == 0
    leader = cluster.python("tune(workers=0)")
    cluster.wait_for(lambda: cluster.leader() == leader.pid, "the leader")
    worker = cluster.python("bapi.work(URL, wrong)")
    said = cluster.end_of(leader, code=1)
    assert "TrainingFailed" in said and "no such data" in said
    cluster.wait_for(lambda: "no such data" in worker.output.read_text(), "the traceback")
    worker.send_signal(signal.SIGTERM)
    cluster.end_of(worker)
    fixed = cluster.python("print(tune().spent)")
    assert cluster.end_of(fixed).splitlines()[-1] == "40.0"


def train(trial):
    """Is never called."""


def test_mistakes_are_refused_with_what_was_expected(database, tmp_path, program):
    url = database.url
    with pytest.raises(bapi.StoreError, match="there is no study of this name"):
        bapi.work(url + "#nowhere", train)
    with pytest.raises(bapi.StoreError, match="nowhere|could not|connection|refused"):
        bapi.work("postgresql://bapi@127.0.0.1:1/bapi#mlp", train, patience=0)
    with pytest.raises(bapi.InvalidInput, match="PGPASSFILE"):
        bapi.work("postgresql://ann:secret@db/tuning#mlp", train)
    with pytest.raises(bapi.InvalidInput, match="trained by a command.*bapi worker"):
        bapi.work(database.study, train, directory=tmp_path)
    with pytest.raises(bapi.InvalidInput, match="found a study in a directory"):
        bapi.work(str(pathlib.Path(database.place) / "here.bapi"), train)
    with pytest.raises(bapi.InvalidInput, match="fetch and push together"):
        bapi.work(database.study, train, fetch="true")
    with pytest.raises(bapi.InvalidInput, match="in one place"):
        bapi.work(database.study, train, fetch="true", push="true", directory=tmp_path)
    with pytest.raises(bapi.InvalidInput, match="a function"):
        bapi.work(database.study, "train")
    about = {"space": {"x": bapi.Float(0, 1)}, "budget": "40 epochs", "max_epochs": 9}
    with pytest.raises(bapi.InvalidInput, match="expected the name of the study"):
        bapi.tune(train, storage=url, **about)
    with pytest.raises(bapi.InvalidInput, match="bapi.Study needs a directory"):
        bapi.Study(storage=url + "#wrong", **about)
    with pytest.raises(bapi.InvalidInput, match="not in a database"):
        bapi.tune(train, storage=str(tmp_path / "mlp.bapi"), directory=tmp_path, **about)
    assert "wrong" not in database.bapi("ls", url).stdout

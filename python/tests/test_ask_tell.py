"""Asking and telling: the loop of people who have one."""

import functools
import operator
import random
import sqlite3
import threading
import time

import pytest
from conftest import quality

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True)}


def study_of(**options):
    return bapi.Study(**{"space": SPACE, "budget": "100 epochs", "max_epochs": 9, "policy": "hyperband", **options})


def train(segment):
    for epoch in segment.epochs():
        segment.report(epoch, quality(segment.config, epoch))


def test_the_budget_is_spent_to_the_last_epoch():
    study = study_of()
    while (segment := study.ask()) is not None:
        train(segment)
    assert study.finished and study.spent == 100
    assert sum(row["cost"] for row in study.ledger()) == 100
    assert study.best.value == max(max(trial.values) for trial in study.trials)


def test_the_loop_ends_where_the_answer_is_pause_or_stop():
    study = study_of()
    answers = set()
    while (segment := study.ask()) is not None:
        for epoch in segment.epochs():
            answer = segment.report(epoch, quality(segment.config, epoch))
            answers.add(answer)
            if answer == "continue":
                assert epoch < segment.until
        assert segment.advice != "continue"
    assert answers == {"continue", "pause", "stop"}


def test_the_program_reads_what_python_wrote(tmp_path, program):
    with study_of(storage=tmp_path / "half.bapi") as study:
        study.ask().report(1, 0.5)
    with study_of(storage=tmp_path / "mine.bapi", policy="bapi") as study:
        while (segment := study.ask()) is not None:
            (segment.checkpoint_dir / "model").write_text("weights")
            train(segment)
    interrupted = program("status", tmp_path / "half.bapi")
    assert "run the program that created it again to continue" in interrupted and "bapi resume" not in interrupted
    for command in ["status", "best", "trials", "ledger", "plan", "forecast", "explain", "calibration"]:
        assert program(command, tmp_path / "mine.bapi")
    assert "hyperband" not in program("status", tmp_path / "mine.bapi")
    assert study.best.checkpoint.name == "checkpoint"
    assert "Run that program again" in program("resume", tmp_path / "mine.bapi", "--budget", "200 epochs", expect=2)
    assert study.status()["budget"]["total"] == 100


def test_a_study_goes_on_where_it_was(tmp_path):
    with study_of(storage=tmp_path / "s", seed=3) as study:
        first = study.ask()
        first.report(1, 0.5) if first.until > 1 else None
    with study_of(storage=tmp_path / "s", seed=3) as study:
        again = study.ask()
        assert (again.number, again.config, again.seed) == (first.number, first.config, first.seed)
        train(again)
        while (segment := study.ask()) is not None:
            train(segment)
    with study_of(storage=tmp_path / "s", seed=3, budget="120 epochs") as more:
        assert not more.finished and more.notes
        while (segment := more.ask()) is not None:
            train(segment)
        assert more.spent == 120


def test_another_space_is_refused(tmp_path):
    with study_of(storage=tmp_path / "s") as study:
        train(study.ask())
    with pytest.raises(bapi.InvalidInput, match="created with different settings"):
        study_of(storage=tmp_path / "s", space={"lr": bapi.Float(1e-5, 1)})


def test_a_study_without_a_report_is_made_anew_with_another_space(tmp_path):
    with study_of(storage=tmp_path / "s") as study:
        study.ask()
    with study_of(storage=tmp_path / "s", space={"lr": bapi.Float(1e-5, 1)}) as study:
        assert study.trials == [] and "starts over" in study.notes[0]


def test_a_second_controller_is_refused(tmp_path):
    with study_of(storage=tmp_path / "s"):
        with pytest.raises(bapi.StoreError, match="this process is running this study already; close it"):
            study_of(storage=tmp_path / "s")
        assert bapi.open_study(tmp_path / "s.bapi").state == "running"


def test_a_study_that_is_looked_at_follows_the_log(tmp_path):
    with study_of(storage=tmp_path / "s") as study:
        looking = bapi.open_study(tmp_path / "s.bapi")
        with pytest.raises(bapi.NoResult, match="s: no trial has reported a value yet"):
            looking.best
        train(study.ask())
        assert looking.best == study.best
        with pytest.raises(bapi.InvalidInput, match="opened for reading"):
            looking.ask()


def test_reports_that_cannot_follow_are_refused():
    study = study_of()
    segment = study.ask()
    with pytest.raises(bapi.InvalidInput, match="epoch 2 where epoch 1 was expected"):
        segment.report(2, 0.5)
    while segment.report(len(study.trials[0].values) + 1, 0.5) == "continue":
        pass
    with pytest.raises(bapi.InvalidInput, match="ask for the next one"):
        segment.report(2, 0.5)


@pytest.mark.parametrize(
    "epoch, value, cost, message",
    [
        (1.5, 0.5, None, "epoch: found 1.5, expected a whole number"),
        (1, None, None, r"found no value, expected report\(epoch, value\)"),
        (1, "0.5", None, "value: found '0.5'"),
        (1, 0.5, "cheap", "cost: found 'cheap'"),
        (1, 0.5, -1, "0 or more"),
    ],
)
def test_reports_that_are_no_numbers_are_refused(epoch, value, cost, message):
    study = study_of()
    segment = study.ask()
    with pytest.raises(bapi.InvalidInput, match=message):
        segment.report(epoch, value, cost)
    assert study.trials[segment.number].values == []


def test_a_report_names_the_metric_or_gives_its_value():
    study = study_of(metric="accuracy", policy="random")
    segment = study.ask()
    segment.report(1, 0.5)
    segment.report(2, accuracy=0.6, loss=3.0)
    segment.report(3, value=0.7, loss=2.0)
    assert study.trials[0].values == [0.5, 0.6, 0.7]
    for wrong in ({"loss": 3.0}, {}):
        with pytest.raises(bapi.InvalidInput, match=r"report\(epoch, accuracy=value\)"):
            segment.report(4, **wrong)
    with pytest.raises(bapi.InvalidInput, match="found value=0.1 and accuracy=0.2, expected one"):
        segment.report(4, 0.1, accuracy=0.2)


def test_the_best_of_failures_names_the_last():
    study = study_of(policy="random")
    for _ in range(2):
        study.fail(study.ask().number, "out of memory")
    with pytest.raises(bapi.NoResult, match="no trial has reported a value, and 2 failed; the last, trial 1: out of mem"):
        study.best


def test_a_value_that_is_not_finite_fails_the_trial():
    study = study_of()
    segment = study.ask()
    assert segment.report(1, float("nan")) == "stop"
    assert study.trials[segment.number].state == "failed"
    assert "diverged" in study.trials[segment.number].failure


def test_a_unit_of_ones_own_needs_a_cost():
    study = study_of(budget="12 usd")
    segment = study.ask()
    with pytest.raises(bapi.InvalidInput, match="usd"):
        segment.report(1, 0.5)
    segment.report(1, 0.5, cost=2.5)
    assert study.spent == 2.5


def test_costs_that_are_given_count_as_seconds():
    study = study_of(budget="100s", policy="random")
    segment = study.ask()
    for epoch, cost in enumerate([0.1, 40, 1e-7], 1):
        segment.report(epoch, 0.5, cost=cost)
    study.put_back(segment.number)
    study.ask().report(4, 0.5, cost=5)
    assert study.trials[segment.number].costs == [0.1, 40, 1e-7, 5], "to the last bit, also of a resumed trial"


def test_costs_that_would_make_the_sum_infinite_are_refused():
    study = study_of(budget="12 usd")
    segment = study.ask()
    for cost in (1e308, float("inf"), float("nan")):
        with pytest.raises(bapi.InvalidInput, match="at most 1e\\+15"):
            segment.report(1, 0.5, cost=cost)
    assert study.spent == 0


def test_a_trial_that_is_put_back_is_handed_out_first():
    study = study_of(workers=2, policy="random")
    first, second = study.ask(), study.ask()
    assert study.ask() is None and not study.finished
    study.put_back(first.number)
    assert study.ask().number == first.number
    assert second.report(1, 0.5) == "continue"


def test_without_checkpoints_every_segment_begins_at_epoch_1():
    study = study_of(checkpoints=False, budget="300 epochs")
    while (segment := study.ask()) is not None:
        assert segment.from_epoch == 0
        train(segment)
    assert any(row["kind"] == "repeat" for row in study.ledger())


def test_threads_may_train_at_the_same_time():
    study = study_of(workers=4, budget="400 epochs", policy="asha")

    def work():
        while not study.finished:
            segment = study.ask()
            if segment is not None:
                train(segment)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert study.finished and study.spent == 400


def test_minimising_reports_what_was_told():
    study = study_of(goal="minimize", budget="30 epochs")
    while (segment := study.ask()) is not None:
        for epoch in segment.epochs():
            segment.report(epoch, 2.0 - quality(segment.config, epoch))
    assert study.best.value == min(min(trial.values) for trial in study.trials)


def test_training_that_was_done_elsewhere_is_part_of_the_study():
    study = study_of(policy="bapi", budget="60 epochs")
    for i in range(5):
        config = {"lr": 10.0 ** -(i + 1)}
        study.add_trial(config, [quality(config, epoch) for epoch in range(1, 10)])
    failed = study.add_trial({"lr": 0.9}, [], state="failed", message="diverged")
    assert study.spent == 45 and study.best.config == {"lr": 0.01}
    assert study.trials[failed].failure == "diverged"
    assert study.ask().config["lr"] == pytest.approx(0.01, rel=30), "the planner knows what was added"
    with pytest.raises(bapi.InvalidInput):
        study.add_trial({"lr": 7.0}, [0.5])
    with pytest.raises(bapi.InvalidInput, match="momentum"):
        study.add_trial({"lr": 0.5, "momentum": 0.5}, [0.5])


def test_a_study_that_has_ended_takes_no_trials(tmp_path):
    with study_of(storage=tmp_path / "s", budget="9 epochs") as study:
        with pytest.raises(bapi.InvalidInput, match="state: found 'done'"):
            study.add_trial({"lr": 0.1}, [0.5], state="done")
        study.add_trial({"lr": 0.1}, [0.5] * 5)
        with pytest.raises(bapi.InvalidInput, match="costs 5 epochs, the budget has 4 left"):
            study.add_trial({"lr": 0.1}, [0.5] * 5)
        while (segment := study.ask()) is not None:
            train(segment)
        with pytest.raises(bapi.InvalidInput, match="has ended"):
            study.add_trial({"lr": 0.1}, [0.5])
    assert bapi.open_study(tmp_path / "s.bapi").spent == 9


def test_what_a_trial_cost_besides_its_epochs_is_charged():
    study = study_of(budget="12 usd")
    segment = study.ask()
    study.charge(segment.number, 1.5)
    segment.report(1, 0.5, cost=2.0)
    assert study.spent == 3.5
    assert {row["kind"]: row["cost"] for row in study.ledger()} == {"start-up": 1.5, "epoch": 2.0}


def test_a_log_that_cannot_be_written_is_waited_for(tmp_path):
    study = study_of(storage=tmp_path / "s.bapi", budget="60s")
    segment = study.ask()
    other = sqlite3.connect(tmp_path / "s.bapi" / "study.db", check_same_thread=False, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(8, lambda: other.execute("COMMIT"))  # SQLite itself waits for five seconds
    release.start()
    with pytest.warns(RuntimeWarning, match="training is paused, trying again"):
        segment.report(1, 0.5)
    release.join()
    other.close()
    assert study.trials[0].values == [0.5]
    assert study.spent < 7  # it trained in none of them, but SQLite does not say before that it waits


KILLED = """
import os
import time
import bapi
from conftest import quality

study = bapi.Study(space={{"lr": bapi.Float(1e-6, 1, log=True)}}, budget={budget!r}, max_epochs=9, policy="hyperband",
                   workers=2, storage="s.bapi")
say = lambda *words: os.write(1, (" ".join(map(str, words)) + "\\n").encode())
say("opened")
while (segment := study.ask()) is not None:
    path = segment.checkpoint_dir / "epoch"
    for epoch in segment.epochs(int(path.read_text()) if path.exists() else 0):
        time.sleep(0.004)
        path.with_name("new").write_text(str(epoch))
        path.with_name("new").rename(path)
        say("telling", segment.number, epoch)
        segment.report(epoch, quality(segment.config, epoch), {cost})
        say("told", segment.number, epoch)
say("spent", repr(study.spent))
"""


@pytest.mark.parametrize("budget, cost", [("200 epochs", ""), ("20 usd", "cost=0.1"), ("3s", "")])
def test_what_was_told_survives_any_number_of_kills(tmp_path, run_script, budget, cost):
    draw = random.Random(budget)
    script = KILLED.format(budget=budget, cost=cost)
    telling, told, ledger, lived = set(), set(), [], 0.0
    for _ in range(8):
        process = run_script(script, wait=False)
        begin = time.monotonic()
        lines = [process.stdout.readline() for _ in range(draw.randint(1, 40))]
        time.sleep(draw.uniform(0.0, 0.02))
        process.kill()
        words = [line.split() for line in [*lines, *process.stdout] if line]
        process.communicate()
        lived += time.monotonic() - begin
        telling |= {(int(word[1]), int(word[2])) for word in words if word[0] == "telling"}
        told |= {(int(word[1]), int(word[2])) for word in words if word[0] == "told"}
        study = bapi.open_study(tmp_path / "s.bapi")
        logged = [(trial.number, epoch) for trial in study.trials for epoch in trial.reported]
        assert told <= set(logged) <= telling and len(logged) == len(set(logged))
        before, ledger = ledger, study.ledger()
        assert ledger[: len(before)] == before
        assert functools.reduce(operator.add, (row["cost"] for row in ledger), 0.0) == study.spent  # to the last bit
    assert told
    if budget == "3s":
        assert study.spent <= lived
    out = run_script(script)
    assert float(out.split()[-1]) == pytest.approx(float(budget.split()[0].rstrip("s")), abs=0.2)
    epochs = [(row["trial"], row["epoch"]) for row in bapi.open_study(tmp_path / "s.bapi").ledger()
              if row["kind"] == "epoch"]  # fmt: skip
    assert len(epochs) == len(set(epochs))

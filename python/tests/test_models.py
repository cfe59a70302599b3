"""The model of the best epoch: kept inside `trial.report`, found by `study.best`."""

import json
import os
import signal
import time

import pytest

import bapi

SPACE = {"x": bapi.Float(0, 1)}
BEST = 4
LOOP = {"space": SPACE, "budget": "40 epochs", "max_epochs": 10, "policy": "random", "goal": "minimize"}


def loss(config, epoch):
    """Falls to epoch 4 and rises after it."""
    return 0.01 * abs(epoch - BEST) + (config["x"] - 0.3) ** 2


def train(trial):
    path = trial.checkpoint_dir / "model.json"
    start = json.loads(path.read_text())["epoch"] if trial.from_epoch else 0
    for epoch in trial.epochs(start):
        path.write_text(json.dumps({"epoch": epoch}))
        trial.report(epoch, loss(trial.config, epoch))


def epoch_of(directory):
    return json.loads((directory / "model.json").read_text())["epoch"]


def check_best(study):
    best = study.best
    assert best.epoch == BEST and best.checkpoint_epoch == BEST and best.checkpoint_note is None
    assert epoch_of(best.checkpoint) == BEST
    assert epoch_of(study.path / "trials" / f"{best.trial:04}" / "checkpoint") == 10


def test_best_has_the_model_of_its_epoch(tmp_path, program):
    study = bapi.tune(train, storage=tmp_path / "s.bapi", **LOOP)
    check_best(study)
    printed = json.loads(program("best", tmp_path / "s.bapi", "-f", "json"))
    assert printed["checkpoint"] == str(study.best.checkpoint)
    assert printed["checkpoint_epoch"] == BEST


def test_in_workers_as_well(tmp_path):
    check_best(bapi.tune(train, storage=tmp_path / "s.bapi", workers=2, **LOOP))


def test_with_ask_and_tell(tmp_path):
    with bapi.Study(storage=tmp_path / "s.bapi", **LOOP) as study:
        while (segment := study.ask()) is not None:
            train(segment)
        check_best(study)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_time_of_the_copy_is_charged(tmp_path, workers):
    study = bapi.tune(large, storage=tmp_path / "s.bapi", workers=workers, **{**LOOP, "budget": "3s", "max_epochs": 4})
    copies = [row["cost"] for row in study.ledger() if row["kind"] == "snapshot"]
    assert copies and min(copies) > 0
    assert sum(row["cost"] for row in study.ledger()) == pytest.approx(study.spent)


def large(trial):
    for epoch in trial.epochs():
        (trial.checkpoint_dir / "model").write_bytes(os.urandom(1 << 23))
        time.sleep(0.02)
        trial.report(epoch, loss(trial.config, epoch))


def test_a_model_that_was_not_saved_for_its_epoch_is_not_given_its_number(tmp_path):
    def seldom(trial):
        for epoch in trial.epochs():
            if epoch % 3 == 0:
                (trial.checkpoint_dir / "model.json").write_text(json.dumps({"epoch": epoch}))
            trial.report(epoch, loss(trial.config, epoch))

    best = bapi.tune(seldom, storage=tmp_path / "s.bapi", **LOOP).best
    assert best.epoch == BEST
    assert best.checkpoint_epoch == epoch_of(best.checkpoint) == 3
    assert "epoch 4 was not kept" in best.checkpoint_note


def test_without_files_there_is_a_note(tmp_path):
    def none(trial):
        for epoch in trial.epochs():
            trial.report(epoch, loss(trial.config, epoch))

    best = bapi.tune(none, storage=tmp_path / "s.bapi", **LOOP).best
    assert best.checkpoint is None and best.checkpoint_epoch is None
    assert "no checkpoint" in best.checkpoint_note
    assert not list((tmp_path / "s.bapi" / "trials").glob("*/best"))


def test_checkpoints_of_losers_are_removed(tmp_path):
    study = bapi.tune(train, storage=tmp_path / "s.bapi", checkpoints={"keep": "best 1", "final": False}, **LOOP)
    kept = [path for path in (tmp_path / "s.bapi" / "trials").glob("*/best") if any(path.iterdir())]
    assert [int(path.parent.name) for path in kept] == [study.best.trial]
    assert epoch_of(study.best.checkpoint) == BEST
    assert not [path for path in (tmp_path / "s.bapi" / "trials").glob("*/checkpoint") if any(path.iterdir())]


def test_after_kill_9_the_model_is_of_the_epoch_that_it_says(run_script, tmp_path):
    script = f"""
import bapi, sys
from test_models import *
slow = lambda trial: [train_slowly(trial)]
bapi.tune(slow, storage={str(tmp_path / "s.bapi")!r}, progress=False, **LOOP)
"""
    for pause in (0.5, 0.8):
        process = run_script(script, wait=False)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (tmp_path / "s.bapi" / "study.db").exists():
            best = bapi.open_study(tmp_path / "s.bapi").best
            if best is not None and best.checkpoint_epoch is not None:
                assert epoch_of(best.checkpoint) == best.checkpoint_epoch
    run_script(script)
    best = bapi.open_study(tmp_path / "s.bapi").best
    assert epoch_of(best.checkpoint) == best.checkpoint_epoch


def train_slowly(trial):
    path = trial.checkpoint_dir / "model.json"
    start = json.loads(path.read_text())["epoch"] if trial.from_epoch else 0
    for epoch in trial.epochs(start):
        time.sleep(0.02)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps({"epoch": epoch}))
        beside.rename(path)
        trial.report(epoch, loss(trial.config, epoch))

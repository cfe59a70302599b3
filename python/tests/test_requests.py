"""What users ask of a study that a Python program runs: requests of the dashboard and of `bapi pause|stop|note`."""

import json
import os
import pathlib
import time

import pytest

import bapi


def ask(root: pathlib.Path, **request: object) -> None:
    """Leaves a request as the dashboard does: whole under its name, or not at all."""
    folder = pathlib.Path(root) / "requests"
    folder.mkdir(exist_ok=True)
    name = f"{len(list(folder.iterdir())) + 1:x}"
    (folder / f"{name}.tmp").write_text(json.dumps(request))
    os.rename(folder / f"{name}.tmp", folder / f"{name}.json")


def value(trial: "bapi.Segment", epoch: int) -> float:
    return (1 - 0.7**epoch) * (1 - (trial.config["x"] - 0.3) ** 2)


def slow_train(trial: "bapi.Segment") -> None:
    for epoch in trial.epochs():
        time.sleep(0.02)
        trial.report(epoch, value(trial, epoch))


def test_requests_are_taken_up_at_the_next_report(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "own.bapi"
    with bapi.Study(space={"x": bapi.Float(0, 1)}, budget="40 epochs", max_epochs=9, storage=root, policy="random") as study:
        segment = study.ask()
        assert segment is not None
        segment.report(1, value(segment, 1))
        ask(root, action="note", text="a remark")
        ask(root, action="budget", total=50)
        ask(root, action="stop_trial", trial=segment.number)
        ask(root, action="stop_trial", trial=99)
        segment.report(2, value(segment, 2))
        assert study.trials[segment.number].state == "stopped"
        assert study.trials[segment.number].epochs == 2
        assert study.status()["budget"]["total"] == 50
        assert study.explain(segment.number)[-1]["rule"] == "asked-for-by-user"
        waiting = sorted(path.suffix for path in (root / "requests").iterdir())
        assert waiting == [".refused"], "only why one was refused is kept"
        ask(root, action="pause")
        assert not study.paused
        assert study.ask() is None
        assert study.paused and not study.finished


@pytest.mark.parametrize("workers", [1, 2])
def test_a_pause_ends_tune_and_the_same_call_continues(tmp_path: pathlib.Path, workers: int) -> None:
    root = tmp_path / "paused.bapi"
    asked = []

    def on_epoch(notice: "bapi.Notice") -> None:
        if not asked:
            asked.append(notice.trial)
            ask(root, action="pause")

    def tune() -> "bapi.Study":
        return bapi.tune(
            slow_train,
            space={"x": bapi.Float(0, 1)},
            budget="60 epochs",
            max_epochs=9,
            storage=root,
            policy="random",
            workers=workers,
            progress=False,
            callbacks={"epoch": on_epoch},
        )

    study = tune()
    assert asked and study.state == "interrupted"
    assert study.spent < 60
    again = tune()
    assert again.state == "finished" and again.spent == 60

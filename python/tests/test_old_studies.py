"""Studies that version 0.1 drove from Python go on where they were."""

import gzip
import json
import pathlib
import sqlite3

import bapi
import pytest

DATA = pathlib.Path(__file__).parents[2] / "tests/data/studies-0.1"


def value(config, epoch):
    a, b = config["a"], config["b"]
    return (a * (100 - a) + b * (100 - b)) * epoch / (epoch + 2) / 10000


@pytest.mark.parametrize("name", ["ask-tell", "ask-tell-closed"])
def test_a_study_of_version_0_1_is_read_and_continued(tmp_path, name):
    root = tmp_path / f"{name}.bapi"
    root.mkdir()
    (root / "study.db").write_bytes(gzip.decompress((DATA / f"{name}.db.gz").read_bytes()))
    before = bapi.open_study(root).spent
    assert before > 0
    study = bapi.Study(
        space={"a": bapi.Int(1, 99), "b": bapi.Int(1, 99)},
        budget="65 epochs",
        max_epochs=9,
        policy="hyperband",
        storage=root,
        seed=7,
    )
    while (segment := study.ask()) is not None:
        for epoch in segment.epochs():
            if segment.report(epoch, value(segment.config, epoch)) != "continue":
                break
    study.close()
    assert study.state == "finished"
    assert before < study.spent <= 65


def test_a_message_that_is_no_utf_8_is_shown_as_the_program_shows_it(tmp_path, program):
    """Version 0.1 kept what programs printed as it was."""
    root = tmp_path / "ask-tell.bapi"
    root.mkdir()
    (root / "study.db").write_bytes(gzip.decompress((DATA / "ask-tell.db.gz").read_bytes()))
    database = sqlite3.connect(root / "study.db")
    (seq, trial) = database.execute("SELECT seq, trial FROM event WHERE kind = 'segment_done' ORDER BY seq DESC").fetchone()
    message = '{"kind": "failed", "version": 1, "trial": %d, "message": {"bytes": "6f75740aff"}}' % trial
    database.execute("DELETE FROM event WHERE seq > ?", (seq,))
    database.execute("UPDATE event SET kind = 'failed', payload = ? WHERE seq = ?", (message, seq))
    decisions = "kind IN ('started', 'resumed', 'stopped', 'finished')"
    database.execute(f"UPDATE study SET decisions = (SELECT count(*) FROM event WHERE {decisions})")
    database.commit()
    database.close()
    study = bapi.open_study(root)
    assert study.trials[trial].failure == "out\n\ufffd"
    assert study.trials_dataframe() is not None
    assert json.loads(program("show", root, trial, "-f", "json"))["failure"] == "out\n\ufffd"

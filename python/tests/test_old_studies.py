"""Studies that version 0.1 drove from Python go on where they were."""

import gzip
import pathlib

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

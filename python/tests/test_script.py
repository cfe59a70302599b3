"""Training scripts: under `bapi run`, and by hand."""

import inspect
import json

import pytest

import bapi

TRAIN = """
import bapi
from conftest import quality

config = bapi.config(lr=0.5)
path = bapi.checkpoint_dir() / "epoch"
start = int(path.read_text()) if path.exists() else 0
bapi.ready()
for epoch in range(start + 1, 10):
    path.write_text(str(epoch))
    bapi.report(epoch, accuracy=quality(config, epoch))
print("trained by hand" if not bapi.started_by_bapi() else "trained by bapi", config, path.exists())
"""

STUDY = """
name: scripted
command: [{python}, script.py]
metric: {{name: accuracy, goal: maximize}}
budget: 30 epochs
epochs: 9
policy: random
parameters:
  lr: {{min: 1e-6, max: 1, log: true}}
"""


def test_by_hand_nothing_is_reported_and_nothing_is_left(run_script, tmp_path):
    assert "trained by hand {'lr': 0.5} True" in run_script(TRAIN)
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_under_bapi_run_the_script_gets_its_configuration_and_reports(run_script, tmp_path, program, monkeypatch):
    import os
    import pathlib
    import sys

    (tmp_path / "script.py").write_text(TRAIN)
    (tmp_path / "study.yaml").write_text(STUDY.format(python=sys.executable))
    monkeypatch.chdir(tmp_path)
    paths = [*sys.path, str(pathlib.Path(__file__).parent)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    program("run", "study.yaml", "-q")
    study = bapi.open_study("scripted")
    assert study.spent == 30
    best = json.loads(program("best", "scripted", "-f", "json"))
    assert best["value"] == study.best.value and best["config"] == study.best.config


def test_the_module_reports_as_a_trial_does(tmp_path, monkeypatch):
    monkeypatch.setenv("BAPI_REPORT", str(tmp_path / "report"))
    monkeypatch.setenv("BAPI_METRIC", "accuracy")
    assert bapi.report(1, 0.5) == "continue"
    bapi.report(2, accuracy=0.6, loss=3)
    bapi.report(3, 0.7, 1.5, loss=2)
    lines = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert lines == [
        {"epoch": 1, "accuracy": 0.5},
        {"epoch": 2, "accuracy": 0.6, "loss": 3.0},
        {"epoch": 3, "accuracy": 0.7, "loss": 2.0, "cost": 1.5},
    ]
    with pytest.raises(bapi.InvalidInput, match=r"expected report\(epoch, value\) or report\(epoch, accuracy=value\)"):
        bapi.report(4)
    with pytest.raises(bapi.InvalidInput, match="expected one"):
        bapi.report(4, 0.5, accuracy=0.5)


def test_both_reports_take_the_same_arguments():
    module = list(inspect.signature(bapi.report).parameters.values())
    trial = list(inspect.signature(bapi.Segment.report).parameters.values())[1:]
    assert module == trial

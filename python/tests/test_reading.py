"""What can be read off a study, and the models on their own."""

import base64
import fcntl
import json
import os
import pty
import re
import sqlite3
import struct
import subprocess
import sys
import termios
import types
import warnings

import pytest
from conftest import quality

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True), "opt": ["sgd", "adam"]}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    def train(trial):
        (trial.checkpoint_dir / "model").write_text("weights")
        for epoch in trial.epochs():
            trial.report(epoch, quality(trial.config, epoch))

    where = tmp_path_factory.mktemp("reading") / "mlp.bapi"
    return bapi.tune(train, space=SPACE, budget="150 epochs", max_epochs=20, storage=where, metric="accuracy")


def test_best_is_what_the_program_says(study, program):
    printed = json.loads(program("best", study.path, "-f", "json"))
    assert printed["value"] == study.best.value
    assert printed["config"] == study.best.config
    assert printed["checkpoint"] == str(study.best.checkpoint)


def test_the_plan_is_what_the_program_says(study, program):
    with bapi.Study(space=SPACE, budget="200 epochs", max_epochs=20, storage=study.path, metric="accuracy"):
        pass
    printed = json.loads(program("plan", study.path, "-f", "json"))
    plan = bapi.open_study(study.path).plan()
    assert [run["config"] for run in plan.runs] == [run["config"] for run in printed["runs"]]
    assert plan.runs and plan.budget == pytest.approx(50)


def test_everybody_says_the_same_of_a_trial_that_runs_elsewhere(tmp_path, program, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)

    def answers(driven):
        seen = bapi.open_study(driven.path)
        exported = json.loads(program("export", driven.path, "-f", "json"))
        return {
            *(study.trials[0].state for study in (driven, seen)),
            *(study.trials_dataframe()[0]["state"] for study in (driven, seen)),
            *(study.state for study in (driven, seen)),
            exported["trials"][0]["state"],
            exported["status"]["state"],
        }

    with bapi.Study(space=SPACE, budget="20 epochs", max_epochs=5, storage=tmp_path / "s", policy="random") as study:
        study.ask().report(1, 0.5)
        assert answers(study) == {"running"}
    assert answers(study) == {"interrupted"}


@pytest.mark.parametrize(
    ("change", "event"),
    [
        ("DELETE FROM event WHERE seq = 3", 3),
        ("UPDATE event SET payload = '{\"kind\": 7}' WHERE seq = 1", 1),
        ("UPDATE event SET cost = -5 WHERE seq = 2", 2),
    ],
)
def test_a_damaged_log_is_shown_with_a_warning_and_never_continued(tmp_path, change, event):
    call = {"space": SPACE, "budget": "20 epochs", "max_epochs": 5, "storage": tmp_path / "s", "policy": "random"}
    with bapi.Study(**call) as study:
        segment = study.ask()
        for epoch in (1, 2, 3):
            segment.report(epoch, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bapi.open_study(study.path)
    database = sqlite3.connect(study.path / "study.db")
    database.execute(change)
    database.commit()
    database.close()
    told = f"event {event} .*is damaged.* up to event {event - 1};"
    with pytest.warns(bapi.DamagedStudyWarning, match=told) as issued:
        seen = bapi.open_study(study.path)
        assert sum(trial.epochs for trial in seen.trials) == max(0, event - 2)
        assert len(seen.decisions()) <= 1 and seen.state in ("new", "interrupted")
    assert len(issued) == 1
    for drive in (bapi.Study, lambda **call: bapi.tune(print, **call)):
        with pytest.raises(bapi.StoreError, match=f"event {event} .*is damaged"):
            drive(**call)


def test_explanations_are_what_the_program_says(study, program):
    rows = bapi.open_study(study.path).explain()
    assert json.loads(program("explain", study.path, "-f", "json")) == [dict(row) for row in rows]
    about = study.explain(0)
    assert about[0]["decision"].startswith("start trial 0") and len(about) < len(rows)
    assert any("Expected accuracy" in row["because"] for row in rows if row["because"])


def test_what_if_starts_from_what_is_and_never_gets_worse(study):
    outlook = study.what_if("+100 epochs")
    assert outlook[0]["best"] == study.best.value
    assert all(a["best"] <= b["best"] and a["budget"] < b["budget"] for a, b in zip(outlook, outlook[1:]))
    with pytest.raises(bapi.InvalidInput, match="spent already"):
        study.what_if("10 epochs")
    with pytest.raises(bapi.InvalidInput, match="the study's budget is in epochs"):
        study.what_if("1h")


def test_listings_are_lists_of_dicts_without_pandas(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = study.trials_dataframe()
    assert len(rows) == len(study.trials)
    assert {"trial", "state", "epochs", "best", "spent", "config.lr"} <= set(rows[0])
    assert sum(row["cost"] for row in study.curves_dataframe()) == 150


def test_listings_are_data_frames_with_pandas(study, monkeypatch):
    made = types.SimpleNamespace(DataFrame=lambda rows: ("frame", rows))
    monkeypatch.setitem(sys.modules, "pandas", made)
    kind, rows = study.trials_dataframe()
    assert kind == "frame" and rows[0]["trial"] == 0


def test_pictures_and_notebooks(study, tmp_path):
    for kind in ["curves", "incumbent", "budget"]:
        assert study.plot(kind).save(tmp_path / "x.svg").read_text().startswith("<svg")
    with pytest.raises(bapi.InvalidInput, match="curves"):
        study.plot("pie")
    shown = study._repr_html_()
    assert "accuracy" in shown and 'sandbox="allow-scripts' in shown
    page = base64.b64decode(re.search(r"base64,([^\"]+)", shown).group(1)).decode()
    report = study.save_report(tmp_path / "report.html").read_text()
    for text in (page, report):
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))
        assert data["answers"]["studies/study"]["best"]["value"] == study.best.value
    assert data["answers"]["studies/study/plan"]["trouble"] is None
    assert "<polyline" in study.trials[0]._repr_html_() and "lr=" in study.trials[0]._repr_html_()
    assert "<table>" in study.plan()._repr_html_() or not study.plan().runs
    assert "150" in repr(study)


def test_a_forecast_has_a_band_at_every_epoch(study):
    forecast = study.forecast(0)
    assert len(forecast["course"]) == 20
    assert all(at["low"] <= at["mean"] <= at["high"] for at in forecast["course"])


def test_the_progress_line_shows_what_is_spent(capsys):
    def train(trial):
        for epoch in trial.epochs():
            trial.report(epoch, 0.5)

    bapi.tune(train, space=SPACE, budget="20 epochs", max_epochs=5, policy="random", progress=True)
    assert "20 of 20 epochs, 4 trials, best value 0.5" in capsys.readouterr().err


def test_the_progress_line_fits_the_terminal():
    """A line that wraps cannot be drawn over itself."""
    script = """
import bapi

def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, 0.5)

bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget="20 epochs", max_epochs=5, policy="random")
"""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    done = subprocess.run(
        [sys.executable, "-c", script],
        stderr=side,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        timeout=200,
    )
    os.close(side)
    text = os.read(terminal, 100_000).decode(errors="replace")
    os.close(terminal)
    lines = [line.replace("\x1b[K", "") for line in text.replace("\n", "\r").split("\r")]
    assert done.returncode == 0 and any("█" in line for line in lines)
    assert max(map(len, lines)) < 40


def test_a_trial_without_an_epoch_shows_its_failure():
    study = bapi.Study(space=SPACE, budget="20 epochs", max_epochs=5, policy="random")
    study.fail(study.ask().number, "no <memory>")
    shown = study.trials[0]._repr_html_()
    assert "failed" in shown and "no &lt;memory&gt;" in shown


def test_tables_read_as_tables(study):
    lines = repr(study.what_if("+100 epochs")).splitlines()
    assert lines[0].split() == ["runs", "budget", "best", "low", "high"]
    assert len({len(line) for line in lines}) == 1
    assert repr(study.plan()).startswith("Plan(")


def test_in_a_notebook_the_cell_is_drawn_over(monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, picture):
            shown.append(picture)

    def display(picture, display_id):
        shown.append(picture)
        return Handle()

    kernel = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))
    parts = types.SimpleNamespace(HTML=lambda text: text, display=display)
    monkeypatch.setitem(sys.modules, "IPython.display", parts)

    def train(trial):
        for epoch in trial.epochs():
            trial.report(epoch, 0.5)

    bapi.tune(train, space=SPACE, budget="20 epochs", max_epochs=5, policy="random")
    assert len(shown) >= 2 and shown[-1].startswith("<pre>")
    assert "20 of 20 epochs" in shown[-1]
    assert capsys.readouterr().err == ""


def test_the_curve_model_takes_numpy_arrays():
    numpy = pytest.importorskip("numpy")
    x = numpy.linspace(0, 1, 6).reshape(-1, 1)
    curves = [(1 - (v - 0.4) ** 2) * (1 - 0.8 ** numpy.arange(1, 21)) for v in x[:, 0]]
    model = bapi.LearningCurveModel(max_epochs=30).fit(x, curves)
    course = model.predict(x[2])
    assert len(course.mean) == 30
    assert all(a <= b + 1e-9 for a, b in zip(course.mean, course.mean[1:]))
    assert course.mean[9] == pytest.approx(curves[2][9], abs=0.03)


def test_numpy_scalars_are_values():
    numpy = pytest.importorskip("numpy")
    space = {"x": bapi.Float(numpy.float32(0), numpy.float64(1)), "n": bapi.Int(numpy.int64(1), numpy.int32(3))}
    study = bapi.Study(space=space, budget="9 epochs", max_epochs=numpy.int64(3), policy="random")
    assert study.ask().report(numpy.int64(1), numpy.float32(0.5)) == "continue"
    assert study.best.value == 0.5


def test_simulation_is_what_the_program_says(program):
    table = "synthetic:crossing,rows=60,epochs=20"
    printed = json.loads(
        program("simulate", table, "--policy", "asha", "--budget", "6full", "--seed", "3", "-f", "json")
    )
    result = bapi.simulate(table, "asha", budget="6full", seed=3)
    assert result["best"] == printed["best"] and result["spent"] == printed["spent"]
    assert [list(point) for point in result["trajectory"]] == printed["trajectory"]


def test_a_model_that_was_not_fitted_says_so():
    with pytest.raises(bapi.InvalidInput, match="not been fitted"):
        bapi.LearningCurveModel().predict([0.5])

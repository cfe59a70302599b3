"""One question, one answer: the program and the package say the same, to the last digit."""

import json

import pytest
from conftest import quality

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True), "opt": ["sgd", "adam"]}
TABLE = "synthetic:crossing,rows=60,epochs=20"


def said(program, *arguments):
    """What the program prints as JSON."""
    return json.loads(program(*arguments, "-f", "json"))


def plain(answer):
    """An answer of the package as JSON would carry it."""
    return json.loads(json.dumps(answer), parse_constant=lambda _: None)


def without(record, *names):
    return {name: value for name, value in record.items() if name not in names}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    def train(trial):
        for epoch in trial.epochs():
            trial.report(epoch, quality(trial.config, epoch))

    where = tmp_path_factory.mktemp("answers") / "mlp.bapi"
    return bapi.tune(train, space=SPACE, budget="150 epochs", max_epochs=20, storage=where, metric="accuracy")


@pytest.mark.parametrize("budget", ["+60 epochs", "600 epochs"])
def test_what_if(study, program, budget, tmp_path):
    printed = said(program, "what-if", study.path, "--budget", budget, "--out", tmp_path)
    assert plain(study.what_if(budget)) == printed
    assert printed[-1]["budget"] == (210.0 if budget.startswith("+") else 600.0)


def test_forecast(study, program, tmp_path):
    assert plain(study.forecasts()) == said(program, "forecast", study.path, "--out", tmp_path)
    assert plain(study.forecast(3)["rows"]) == said(program, "forecast", study.path, "3", "--out", tmp_path)


def test_explain(study, program):
    assert plain(study.explain()) == said(program, "explain", study.path)
    assert plain(study.explain(2)) == said(program, "explain", study.path, "2")
    with pytest.raises(bapi.InvalidInput, match="no trial"):
        study.explain(10_000)


def test_status_trials_and_ledger(study, program):
    looked_at = bapi.open_study(study.path)
    assert without(plain(looked_at.status()), "reason") == said(program, "status", study.path)
    assert plain(looked_at._core.trials()) == said(program, "trials", study.path)
    assert plain(looked_at.ledger()) == said(program, "ledger", study.path)


@pytest.mark.parametrize("checkpoints", [True, False])
def test_simulate(program, checkpoints):
    options = [] if checkpoints else ["--no-checkpoints"]
    printed = said(program, "simulate", TABLE, "--policy", "hyperband", "--budget", "6full", "--workers", "2", *options)
    result = bapi.simulate(TABLE, "hyperband", budget="6full", workers=2, checkpoints=checkpoints)
    assert without(plain(result), "overhead_seconds", "end") == without(printed, "overhead_seconds")


def test_compare(program, tmp_path):
    tables = [TABLE, "synthetic:power-law,rows=40,epochs=9"]
    policies = "random,hyperband,fast=asha:eta=2"
    printed = said(
        program, "compare", "--tables", *tables, "--policies", policies, "--seeds", "2", "--out", tmp_path / "program"
    )
    found = bapi.compare(tables, policies.split(","), seeds=2, out=tmp_path / "package")
    assert plain(found.summary) == printed
    assert sorted(path.name for path in found.files) == sorted(
        path.name for path in (tmp_path / "program").iterdir() if path.suffix in (".csv", ".html", ".svg")
    )
    for name in ("ranks.csv", "curves.csv", "ranks.svg", "anytime.svg", "anytime-2.svg"):
        assert (tmp_path / "program" / name).read_text() == (tmp_path / "package" / name).read_text()


def test_compare_with_every_option(program, tmp_path):
    common = ["compare", "--tables", TABLE, "--policies", "random,hyperband", "--seeds", "2", "--budgets", "4full"]
    program(*common, "--out", tmp_path / "free")
    printed = said(
        program, *common, "--no-checkpoints", "--overhead-from", tmp_path / "free", "--out", tmp_path / "program"
    )
    found = bapi.compare(
        TABLE,
        ["random", "hyperband"],
        seeds=2,
        budgets="4full",
        checkpoints=False,
        overhead_from=tmp_path / "free",
        out=tmp_path / "package",
    )
    assert plain(found.summary) == printed


def test_tables_of_equal_names_are_told_apart(tmp_path):
    text = "# metric: {name: accuracy, goal: maximize}\n# parameters:\n#   lr: {min: 0.0, max: 1.0}\nlr,epoch,accuracy\n"
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "t.csv").write_text(text + "0.5,1,0.2\n0.25,1,0.3\n")
    found = bapi.compare([tmp_path / "a/t.csv", tmp_path / "b/t.csv"], ["random", "hyperband"], seeds=1, budgets="2full")
    assert {row["table"] for row in found.runs} == {str(tmp_path / "a/t.csv"), str(tmp_path / "b/t.csv")}

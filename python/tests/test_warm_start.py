"""Studies that learn from earlier ones."""

import math

import pytest

import bapi

SPACE = {"lr": bapi.Float(1e-6, 1, log=True), "units": bapi.Int(16, 256)}
LOOP = {"space": SPACE, "budget": "60 epochs", "max_epochs": 9}


def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, (1 - 0.7**epoch) * math.exp(-((math.log10(trial.config["lr"]) + 2) ** 2)))


@pytest.fixture
def old(tmp_path):
    return bapi.tune(train, storage=tmp_path / "old.bapi", **LOOP), tmp_path / "old.bapi"


@pytest.mark.parametrize("storage", [None, "new.bapi"])
def test_the_best_of_the_earlier_study_is_the_first_trial(old, tmp_path, storage):
    study, path = old
    new = bapi.tune(train, warm_start=path, storage=storage and tmp_path / storage, **LOOP)
    assert new.trials[0].config == study.best.config
    assert new.trials[0].why.startswith("requested by the warm start: the best of old")
    assert new.status()["from"][0]["trials"] == len(study.trials)
    assert any("weight of the earlier study" in str(row).lower() for row in new.explain())


def test_several_studies_and_other_metrics(old):
    _, path = old
    source = {"study": str(path), "metric": "value"}
    with pytest.raises(bapi.InvalidInput, match="its metric is value, to maximize; that of this study is accuracy"):
        bapi.tune(train, warm_start=path, metric="accuracy", **LOOP)
    new = bapi.tune(train, warm_start=[source], metric="accuracy", policy="random", **LOOP)
    assert new.trials[0].why.startswith("requested by the warm start")


def test_what_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(bapi.InvalidInput, match="there is no study"):
        bapi.tune(train, warm_start=tmp_path / "none.bapi", **LOOP)
    with pytest.raises(TypeError, match="did you mean 'warm_start'"):
        bapi.tune(train, warm_strat="old.bapi", **LOOP)


def test_simulate_and_compare_take_a_warm_start(old):
    _, path = old
    table = "synthetic:power-law,rows=40,epochs=9"
    warm = bapi.simulate(table, budget="3full", warm_start=table, warm_start_budget="4full")
    assert warm["trajectory"] != bapi.simulate(table, budget="3full")["trajectory"]
    found = bapi.compare(path, "random", seeds=1, budgets="2full", warm_start=path)
    assert {row["policy"] for row in found.ranks} == {"random", "random+from"}

"""Optuna: objectives under the planner, import and export."""

import math

import optuna
import pytest
from bapi.integrations.optuna import Planner, export_study, import_study

import bapi

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    """As people write it for Optuna; knows nothing of bapi."""
    lr = trial.suggest_float("lr", 1e-6, 1, log=True)
    trial.suggest_int("units", 16, 256)
    opt = trial.suggest_categorical("opt", ["sgd", "adam", None])
    value = 0.0
    for step in range(20):
        value = (1 - math.exp(-(step + 1) / 5)) * math.exp(-((math.log10(lr) + 2) ** 2)) - 0.1 * (opt == "sgd")
        trial.report(value, step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return value


@pytest.mark.parametrize("policy", ["bapi", "hyperband"])
def test_an_objective_runs_under_the_planner_by_changing_two_lines(policy):
    planner = Planner(budget="300 epochs", max_epochs=20, policy=policy)
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective)
    states = [trial.state for trial in study.trials]
    assert states.count(optuna.trial.TrialState.PRUNED) > 3
    assert states.count(optuna.trial.TrialState.COMPLETE) >= 1
    copies = [trial for trial in study.trials if "bapi:copy of trial" in trial.user_attrs]
    complete = [trial for trial in study.get_trials(states=[states[0].COMPLETE]) if trial not in copies]
    assert all(len(trial.intermediate_values) == 20 for trial in complete)
    assert planner.study.finished
    assert planner.study.spent <= 300
    steps = sum(len(trial.intermediate_values) for trial in study.trials if trial not in copies)
    assert steps == pytest.approx(planner.study.spent, abs=1)
    best = max(max(trial.intermediate_values.values()) for trial in study.trials)
    assert planner.study.best.value == pytest.approx(best)
    assert study.best_value == best and study.best_params == planner.best_params
    assert len(copies) <= 1
    assert best > 0.7


def test_the_space_may_be_given():
    planner = Planner(
        budget="60 epochs",
        max_epochs=20,
        policy="random",
        space={"lr": optuna.distributions.FloatDistribution(1e-6, 1, log=True)},
    )
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective)
    assert len(study.trials) == 3
    assert all({"lr", "units", "opt"} == set(trial.params) for trial in study.trials)


def test_steps_of_a_range_are_kept():
    def stepped(trial):
        x = trial.suggest_float("x", 0, 1, step=0.25)
        n = trial.suggest_int("n", 2, 10, step=4)
        assert x in (0, 0.25, 0.5, 0.75, 1) and n in (2, 6, 10)
        return x * n

    planner = Planner(budget="12 epochs", max_epochs=1, policy="random")
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(stepped)
    assert len(study.trials) == 12
    assert planner.study.best.value == study.best_value


def test_failures_of_the_objective_are_failed_trials():
    def fails(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.number % 3 == 1:
            raise RuntimeError("no memory")
        return x

    planner = Planner(budget="10 epochs", max_epochs=1, policy="random")
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(fails, catch=(RuntimeError,))
    assert any(trial.state == "failed" for trial in planner.study.trials)


def test_several_jobs_share_one_planner():
    planner = Planner(budget="200 epochs", max_epochs=20, policy="asha", workers=3)
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective, n_jobs=3)
    assert planner.study.finished


@pytest.mark.parametrize("space_known", [False, True])
def test_an_objective_that_always_fails_is_an_error(space_known):
    calls = []

    def fails(trial):
        calls.append(trial.suggest_float("x", 0, 1))
        return math.nan

    space = {"x": optuna.distributions.FloatDistribution(0, 1)} if space_known else None
    planner = Planner(budget="100 epochs", max_epochs=1, policy="random", space=space)
    study = optuna.create_study(sampler=planner.sampler, pruner=planner.pruner)
    with pytest.raises(bapi.TooManyFailures, match="in a row"):
        study.optimize(fails)
    assert len(calls) == 10
    study.optimize(fails, catch=(Exception,))
    assert len(calls) == 10, "it ends where exceptions are caught as well"


def test_an_objective_that_reports_too_often_is_an_error():
    planner = Planner(budget="100 epochs", max_epochs=5)
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    with pytest.raises(bapi.InvalidInput, match="20 steps, but max_epochs is 5"):
        study.optimize(objective)


def test_nothing_is_trained_after_the_end_of_the_budget():
    planner = Planner(budget="30 epochs", max_epochs=20, policy="random")
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective)
    study.optimize(objective)
    assert planner.study.spent == 30
    assert len(study.trials[-1].intermediate_values) == 1
    assert study.best_value == planner.study.best.value


def test_a_budget_below_one_run_is_spent_on_its_beginning():
    planner = Planner(budget="7 epochs", max_epochs=20)
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective)
    assert planner.study.spent == 7 and planner.study.finished


def test_threads_wait_for_each_other_where_the_policy_waits():
    planner = Planner(budget="200 epochs", max_epochs=20, policy="hyperband", workers=2)
    study = optuna.create_study(direction="maximize", sampler=planner.sampler, pruner=planner.pruner)
    study.optimize(objective, n_jobs=3)
    assert planner.study.finished
    runs = [trial for trial in study.trials if "bapi:copy of trial" not in trial.user_attrs]
    steps = sum(len(trial.intermediate_values) for trial in runs)
    assert steps <= planner.study.spent + 3, "nothing runs beside the plan"


def test_a_study_is_not_imported_over_another(tmp_path):
    url = f"sqlite:///{tmp_path}/optuna.db"
    source = optuna.create_study(study_name="old", storage=url, direction="maximize")
    source.optimize(objective, n_trials=3)
    import_study(url, "old", to=tmp_path / "old.bapi")
    with pytest.raises(bapi.InvalidInput, match="exists already"):
        import_study(url, "old", to=tmp_path / "old.bapi")
    assert len(bapi.open_study(tmp_path / "old.bapi").trials) == 3


def test_a_finished_study_is_imported(tmp_path):
    url = f"sqlite:///{tmp_path}/optuna.db"
    source = optuna.create_study(
        study_name="old", storage=url, direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1)
    )
    source.optimize(objective, n_trials=12)
    study = import_study(url, "old", to=tmp_path / "old.bapi")
    again = bapi.open_study(tmp_path / "old.bapi")
    assert len(again.trials) == 12
    assert again.best.value == pytest.approx(max(max(trial.intermediate_values.values()) for trial in source.trials))
    assert study.plan(2) is not None
    assert bapi.simulate(str(tmp_path / "old.bapi"), "hyperband", budget="3full")["trials"] > 1


def test_an_exported_study_is_one_of_optuna(tmp_path):
    def train(trial):
        if trial.number == 2:
            raise RuntimeError("broken")
        for epoch in trial.epochs():
            trial.report(epoch, (1 - 0.8**epoch) * (1 - trial.config["x"] ** 2))

    space = {"x": bapi.Float(0, 1), "units": bapi.Int(1, 9), "opt": ["a", "b"], "fixed": 3}
    study = bapi.tune(train, space=space, budget="80 epochs", max_epochs=9, policy="hyperband", storage=tmp_path / "s")
    url = f"sqlite:///{tmp_path}/out.db"
    export_study(study, url, "ours")
    loaded = optuna.load_study(study_name="ours", storage=url)
    assert len(loaded.trials) == len(study.trials)
    assert loaded.trials[2].state == optuna.trial.TrialState.FAIL
    assert loaded.best_value == study.best.value and loaded.best_trial.number == study.best.trial
    for theirs, ours in zip(loaded.trials, study.trials):
        assert list(theirs.intermediate_values.values()) == ours.values
        assert theirs.params == ours.config


def test_the_dashboard_opens_an_exported_study(tmp_path):
    dashboard = pytest.importorskip("optuna_dashboard")

    def train(trial):
        for epoch in trial.epochs():
            trial.report(epoch, trial.config["x"])

    study = bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget="30 epochs", max_epochs=5, policy="random")
    url = f"sqlite:///{tmp_path}/out.db"
    export_study(study, url, "ours")
    app = dashboard.wsgi(optuna.storages.RDBStorage(url))
    answer = {}

    def get(path):
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "wsgi.input": __import__("io").BytesIO(),
            "wsgi.errors": __import__("sys").stderr,
            "wsgi.url_scheme": "http",
        }
        return b"".join(app(environ, lambda status, headers, *rest: answer.update(status=status)))

    body = get("/api/studies")
    assert answer["status"].startswith("200") and b'"ours"' in body
    body = get("/api/studies/0") if not get("/api/studies/1").startswith(b"{") else get("/api/studies/1")
    assert body.count(b'"trial_id"') >= len(study.trials)

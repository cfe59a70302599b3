"""Callbacks and the search, with the libraries themselves."""

import importlib.util
import os
import sys
import types

import numpy
import pytest

import bapi


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    return train_test_split(x / 16, y, test_size=0.3, random_state=0)


def assert_sensible(study, above):
    assert study.state == "finished"
    assert not [trial.failure for trial in study.trials if trial.failure]
    assert not any(row["kind"] == "repeat" for row in study.ledger()), "a checkpoint was not continued"
    assert any(trial.state == "paused" for trial in study.trials)
    assert study.best.value > above


def test_budget_search_with_partial_fit(digits):
    from bapi.integrations.sklearn import BudgetSearchCV
    from sklearn.linear_model import SGDClassifier

    x, x_test, y, y_test = digits
    space = {"alpha": bapi.Float(1e-6, 1, log=True), "loss": ["hinge", "log_loss"]}
    search = BudgetSearchCV(SGDClassifier(random_state=0), space, budget="60 epochs", max_epochs=9)
    search.fit(x, y)
    assert search.best_score_ > 0.9
    assert search.score(x_test, y_test) > 0.88
    assert set(search.best_params_) == {"alpha", "loss"}
    assert len(search.cv_results_["params"]) == len(search.study_.trials)
    assert search.predict(x_test).shape == y_test.shape


def test_budget_search_over_values_that_a_study_cannot_keep(digits):
    from bapi.integrations.sklearn import BudgetSearchCV
    from sklearn.neural_network import MLPClassifier

    x, x_test, y, y_test = digits
    sizes = [(8,), (16, 8)]
    search = BudgetSearchCV(
        MLPClassifier(random_state=0), {"hidden_layer_sizes": sizes}, budget="12 epochs", max_epochs=6, cv=2
    )
    search.fit(x, y)
    assert search.best_params_["hidden_layer_sizes"] in sizes
    assert {values for values in search.cv_results_["param_hidden_layer_sizes"]} <= set(sizes)
    assert search.best_estimator_.hidden_layer_sizes == search.best_params_["hidden_layer_sizes"]


def test_budget_search_on_a_data_frame(digits):
    import pandas
    from bapi.integrations.sklearn import BudgetSearchCV
    from sklearn.linear_model import SGDClassifier

    x, x_test, y, y_test = digits
    names = [f"pixel {i}" for i in range(64)]
    space = {"alpha": bapi.Float(1e-6, 1, log=True)}
    search = BudgetSearchCV(SGDClassifier(random_state=0), space, budget="30 epochs", max_epochs=9)
    search.fit(pandas.DataFrame(x, columns=names), pandas.Series(y))
    assert list(search.feature_names_in_) == names and search.n_features_in_ == 64
    assert search.decision_function(pandas.DataFrame(x_test, columns=names)).shape == (len(y_test), 10)
    results = pandas.DataFrame(search.cv_results_)
    assert results.loc[results["rank_test_score"] == 1, "mean_test_score"].max() == search.best_score_
    assert "param_alpha" in results


def test_budget_search_takes_scipy_distributions_and_jobs(digits):
    from bapi.integrations.sklearn import BudgetSearchCV
    from scipy import stats
    from sklearn.base import clone
    from sklearn.linear_model import SGDClassifier

    x, _, y, _ = digits
    space = {"alpha": stats.loguniform(1e-6, 1), "l1_ratio": stats.uniform(0, 1)}
    one = BudgetSearchCV(SGDClassifier(random_state=0), space, budget="30 epochs", max_epochs=9, cv=2)
    two = clone(one).set_params(n_jobs=2)
    assert one.fit(x, y).best_params_ == two.fit(x, y).best_params_
    assert 1e-6 <= two.best_params_["alpha"] <= 1 and two.best_score_ == one.best_score_


def test_a_parameter_that_the_estimator_lacks_is_refused(digits):
    from bapi.integrations.sklearn import BudgetSearchCV
    from sklearn.linear_model import SGDClassifier

    search = BudgetSearchCV(SGDClassifier(), {"alfa": bapi.Float(0, 1)}, budget="9 epochs", max_epochs=9)
    with pytest.raises(bapi.InvalidInput, match="SGDClassifier has no parameter alfa"):
        search.fit(digits[0], digits[2])


def test_budget_search_with_warm_start(digits):
    from bapi.integrations.sklearn import BudgetSearchCV
    from sklearn.ensemble import RandomForestClassifier

    x, x_test, y, y_test = digits
    space = {"max_depth": bapi.Int(2, 12), "max_features": bapi.Float(0.05, 0.8)}
    forest = RandomForestClassifier(random_state=0)
    search = BudgetSearchCV(forest, space, budget="40 epochs", max_epochs=9, step=3, cv=2, policy="hyperband")
    search.fit(x, y)
    assert search.best_estimator_.n_estimators == 3 * search.best_epoch_
    assert search.score(x_test, y_test) > 0.85


def test_budget_search_is_an_estimator_of_sklearn():
    from bapi.integrations.sklearn import BudgetSearchCV
    from sklearn.base import clone
    from sklearn.linear_model import SGDClassifier
    from sklearn.neighbors import KNeighborsClassifier

    search = BudgetSearchCV(SGDClassifier(), {"alpha": bapi.Float(1e-5, 1)}, budget="9 epochs", max_epochs=3)
    assert clone(search).get_params()["max_epochs"] == 3
    wrong = BudgetSearchCV(KNeighborsClassifier(), {"n_neighbors": bapi.Int(1, 9)}, budget="9 epochs", max_epochs=3)
    with pytest.raises(bapi.InvalidInput, match="name its resource"):
        wrong.fit([[0], [1]] * 6, [0, 1] * 6)


def test_xgboost(digits, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    from bapi.integrations.xgboost import BapiCallback, saved_model

    x, x_test, y, y_test = digits
    train_data, valid_data = xgboost.DMatrix(x, y), xgboost.DMatrix(x_test, y_test)

    def train(trial):
        fixed = {"objective": "multi:softprob", "num_class": 10, "eval_metric": "merror", "nthread": 1}
        model = xgboost.train(
            {**fixed, **trial.config},
            train_data,
            num_boost_round=trial.max_epochs - trial.from_epoch,
            evals=[(valid_data, "valid")],
            xgb_model=saved_model(trial),
            callbacks=[BapiCallback(trial, "valid", "merror")],
            verbose_eval=False,
        )
        assert model.num_boosted_rounds() == len(study_of_trial(trial))

    def study_of_trial(trial):
        return bapi.open_study(tmp_path / "xgb.bapi").trials[trial.number].values

    space = {"eta": bapi.Float(0.01, 1, log=True), "max_depth": bapi.Int(1, 4)}
    options = {"budget": "60 epochs", "max_epochs": 9, "policy": "hyperband", "goal": "minimize"}
    study = bapi.tune(train, space=space, storage=tmp_path / "xgb", **options)
    assert study.best.value < 0.15
    assert not [trial.failure for trial in study.trials if trial.failure]
    assert not any(row["kind"] == "repeat" for row in study.ledger())


def test_boosting_that_does_not_continue_is_refused(digits):
    """It would give a new model the curve of the one that was saved."""
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    from bapi.integrations.lightgbm import bapi_callback
    from bapi.integrations.xgboost import BapiCallback

    x, x_test, y, y_test = digits

    def train_xgboost(trial):
        fixed = {"objective": "multi:softprob", "num_class": 10, "eval_metric": "merror", "nthread": 1}
        data, valid = xgboost.DMatrix(x, y), xgboost.DMatrix(x_test, y_test)
        callback = BapiCallback(trial, "valid", "merror", rounds=2)
        xgboost.train({**fixed, **trial.config}, data, 18, evals=[(valid, "valid")], callbacks=[callback], verbose_eval=False)

    def train_lightgbm(trial):
        fixed = {"objective": "multiclass", "num_class": 10, "metric": "multi_error", "verbose": -1, "num_threads": 1}
        data = lightgbm.Dataset(x, y)
        valid = lightgbm.Dataset(x_test, y_test, reference=data)
        callback = bapi_callback(trial, "valid", "multi_error", rounds=2)
        options = {"valid_sets": [valid], "valid_names": ["valid"], "callbacks": [callback]}
        lightgbm.train({**fixed, **trial.config}, data, 18, **options)

    for train, parameter, hint in [(train_xgboost, "eta", "xgb_model"), (train_lightgbm, "learning_rate", "init_model")]:
        study = bapi.tune(train, space={parameter: bapi.Float(0.02, 0.5)}, budget="60 epochs", max_epochs=9,
                          policy="hyperband", goal="minimize")  # fmt: skip
        failures = [trial.failure for trial in study.trials if trial.failure]
        assert failures and all(f"pass {hint}=saved_model(trial)" in failure for failure in failures), failures


def test_lightgbm(digits, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    from bapi.integrations.lightgbm import bapi_callback, saved_model

    x, x_test, y, y_test = digits

    def train(trial):
        data = lightgbm.Dataset(x, y, free_raw_data=False)
        valid = lightgbm.Dataset(x_test, y_test, reference=data, free_raw_data=False)
        fixed = {"objective": "multiclass", "num_class": 10, "metric": "multi_error", "verbose": -1, "num_threads": 1}
        lightgbm.train(
            {**fixed, **trial.config},
            data,
            num_boost_round=trial.max_epochs - trial.from_epoch,
            valid_sets=[valid],
            valid_names=["valid"],
            init_model=saved_model(trial),
            callbacks=[bapi_callback(trial, "valid", "multi_error")],
        )

    space = {"learning_rate": bapi.Float(0.02, 0.5, log=True), "num_leaves": bapi.Int(3, 15)}
    options = {"budget": "60 epochs", "max_epochs": 9, "policy": "hyperband", "goal": "minimize"}
    study = bapi.tune(train, space=space, storage=tmp_path / "lgb", **options)
    assert study.best.value < 0.2
    assert not [trial.failure for trial in study.trials if trial.failure]
    assert not any(row["kind"] == "repeat" for row in study.ledger())


def test_keras(digits, tmp_path):
    os.environ.setdefault("KERAS_BACKEND", "jax")
    keras = pytest.importorskip("keras")
    from bapi.integrations.keras import BapiCallback, saved_model

    x, x_test, y, y_test = digits

    def build(config):
        model = keras.Sequential(
            [keras.Input((64,)), keras.layers.Dense(config["units"], "relu"), keras.layers.Dense(10)]
        )
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(config["lr"]), loss, metrics=["accuracy"])
        return model

    def train(trial):
        saved = saved_model(trial)
        model = keras.models.load_model(saved) if saved else build(trial.config)
        model.fit(
            x,
            y,
            batch_size=64,
            validation_data=(x_test, y_test),
            initial_epoch=trial.from_epoch,
            epochs=trial.max_epochs,
            callbacks=[BapiCallback(trial, "val_accuracy")],
            verbose=0,
        )

    space = {"lr": bapi.Float(1e-4, 0.1, log=True), "units": bapi.Int(8, 64)}
    options = {"budget": "30 epochs", "max_epochs": 5, "policy": "hyperband"}
    study = bapi.tune(train, space=space, storage=tmp_path / "keras", **options)
    assert_sensible(study, above=0.8)


def test_lightning(digits, tmp_path):
    torch = pytest.importorskip("torch")
    lightning = pytest.importorskip("lightning.pytorch")
    from bapi.integrations.lightning import BapiCallback, saved_checkpoint

    x, x_test, y, y_test = digits

    def loader(features, labels):
        data = torch.utils.data.TensorDataset(torch.tensor(features, dtype=torch.float32), torch.tensor(labels))
        return torch.utils.data.DataLoader(data, batch_size=64)

    class Network(lightning.LightningModule):
        def __init__(self, config):
            super().__init__()
            self.rate = config["lr"]
            self.layers = torch.nn.Sequential(torch.nn.Linear(64, config["units"]), torch.nn.ReLU())
            self.last = torch.nn.Linear(config["units"], 10)

        def forward(self, features):
            return self.last(self.layers(features))

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

        def validation_step(self, batch, _):
            self.log("val_acc", (self(batch[0]).argmax(1) == batch[1]).float().mean())

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=self.rate)

    def train(trial):
        trainer = lightning.Trainer(
            max_epochs=trial.max_epochs,
            callbacks=[BapiCallback(trial, "val_acc")],
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(Network(trial.config), loader(x, y), loader(x_test, y_test), ckpt_path=saved_checkpoint(trial))

    space = {"lr": bapi.Float(1e-4, 0.1, log=True), "units": bapi.Int(8, 64)}
    options = {"budget": "30 epochs", "max_epochs": 5, "policy": "hyperband"}
    study = bapi.tune(train, space=space, storage=tmp_path / "lightning", **options)
    assert_sensible(study, above=0.8)


def test_lightning_protocol(tmp_path, monkeypatch):
    """Lightning needs torch, which is large: without it a stand-in makes the calls that its Trainer makes."""
    if importlib.util.find_spec("lightning") is None:
        package = types.ModuleType("lightning")
        package.pytorch = types.ModuleType("lightning.pytorch")
        package.pytorch.Callback = type("Callback", (), {})
        monkeypatch.setitem(sys.modules, "lightning", package)
        monkeypatch.setitem(sys.modules, "lightning.pytorch", package.pytorch)
    from bapi.integrations.lightning import BapiCallback, saved_checkpoint

    class Trainer:
        sanity_checking = False
        should_stop = False

        def __init__(self, callback, max_epochs):
            self.callback = callback
            self.max_epochs = max_epochs
            self.callback_metrics = {}

        def save_checkpoint(self, path):
            with open(path, "w") as file:
                file.write(str(self.current_epoch + 1))

        def fit(self, learn, ckpt_path):
            self.current_epoch = 0
            if ckpt_path is not None:
                with open(ckpt_path) as file:
                    self.current_epoch = int(file.read())
            while self.current_epoch < self.max_epochs and not self.should_stop:
                self.callback_metrics = {"val_acc": numpy.float32(learn(self.current_epoch + 1))}
                self.callback.on_validation_end(self, None)
                self.callback.on_train_epoch_end(self, None)
                self.current_epoch += 1

    def train(trial):
        trainer = Trainer(BapiCallback(trial, "val_acc"), trial.max_epochs)
        trainer.fit(lambda epoch: (1 - 0.7**epoch) * trial.config["x"], saved_checkpoint(trial))

    study = bapi.tune(
        train,
        space={"x": bapi.Float(0, 1)},
        budget="80 epochs",
        max_epochs=9,
        policy="hyperband",
        storage=tmp_path / "l",
    )
    assert_sensible(study, above=0.6)


def test_pandas_frames(tmp_path):
    pandas = pytest.importorskip("pandas")

    def train(trial):
        for epoch in trial.epochs():
            trial.report(epoch, trial.config["x"])

    study = bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget="30 epochs", max_epochs=5, policy="random")
    frame = study.trials_dataframe()
    assert isinstance(frame, pandas.DataFrame) and list(frame["config.x"]) == [t.config["x"] for t in study.trials]
    assert len(study.curves_dataframe()) == 30

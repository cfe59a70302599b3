"""Tunes XGBoost on the digits data with 20 seconds of boosting; an epoch is five rounds.

    python3 examples/python/xgboost_digits.py
"""

import bapi
import xgboost
from bapi.integrations.xgboost import BapiCallback, saved_model
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

ROUNDS = 5

x, y = load_digits(return_X_y=True)
x_train, x_valid, y_train, y_valid = train_test_split(x, y, test_size=0.3, random_state=0)
train_data, valid_data = xgboost.DMatrix(x_train, y_train), xgboost.DMatrix(x_valid, y_valid)


def train(trial):
    xgboost.train(
        {"objective": "multi:softprob", "num_class": 10, "eval_metric": "merror", **trial.config},
        train_data,
        num_boost_round=ROUNDS * (trial.max_epochs - trial.from_epoch),
        evals=[(valid_data, "valid")],
        xgb_model=saved_model(trial),
        callbacks=[BapiCallback(trial, "valid", "merror", rounds=ROUNDS)],
        verbose_eval=False,
    )


if __name__ == "__main__":
    study = bapi.tune(
        train,
        space={
            "eta": bapi.Float(0.01, 1, log=True),
            "max_depth": bapi.Int(1, 8),
            "subsample": bapi.Float(0.4, 1),
            "lambda": bapi.Float(1e-3, 10, log=True),
        },
        budget="20s",
        max_epochs=20,
        goal="minimize",
        metric="error",
    )
    print(study)
    print(f"error {study.best.value:.4f} with {study.best.config}")

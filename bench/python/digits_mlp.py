#!/usr/bin/env python3
"""bapi against Optuna on one real task: scikit-learn's MLPClassifier on the digits data, equal seconds for everyone.

    python3 bench/python/digits_mlp.py --seconds 20 --seeds 10 --out digits_mlp.csv

Seconds are those of tuners.py, beside this file. Needs bapi, optuna, scikit-learn, and torch for GPSampler.
"""

import warnings

import tuners  # first: it limits the threads of the libraries below
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

warnings.filterwarnings("ignore")

x, y = load_digits(return_X_y=True)
x_train, x_rest, y_train, y_rest = train_test_split(x / 16, y, test_size=0.5, random_state=0, stratify=y)
x_valid, x_test, y_valid, y_test = train_test_split(x_rest, y_rest, test_size=0.5, random_state=0, stratify=y_rest)


def model(config, seed):
    return MLPClassifier(
        hidden_layer_sizes=(config["units"],),
        learning_rate_init=config["lr"],
        alpha=config["alpha"],
        batch_size=config["batch"],
        beta_1=config["beta"],
        random_state=seed,
    )


def train_epoch(mlp):
    mlp.partial_fit(x_train, y_train, classes=range(10))
    return 1.0 - mlp.score(x_valid, y_valid)


PROBLEM = tuners.Problem(
    space={
        "lr": tuners.Range(1e-5, 1.0, log=True),
        "units": tuners.Range(8, 256, log=True),
        "alpha": tuners.Range(1e-7, 1.0, log=True),
        "batch": tuners.Range(8, 256, log=True),
        "beta": tuners.Range(0.5, 0.99),
    },
    epochs=40,
    model=model,
    train_epoch=train_epoch,
    test=lambda mlp: 1.0 - mlp.score(x_test, y_test),
    unit="error %",
    factor=100.0,
)

METHODS = [
    "bapi",
    "bapi's hyperband",
    "Optuna TPE + HyperbandPruner",
    "Optuna GPSampler",
    "Optuna GPSampler + HyperbandPruner",
]

if __name__ == "__main__":
    tuners.compare(PROBLEM, tuners.arguments(__doc__, METHODS).parse_args())

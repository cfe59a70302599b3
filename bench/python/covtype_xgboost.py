#!/usr/bin/env python3
"""bapi against Optuna on one real task: XGBoost on the forest cover types, equal seconds for everyone.

    python3 bench/python/covtype_xgboost.py --data covtype.csv.gz --seconds 100 --seeds 4

The data are a CSV file of the UCI set (Blackard, CC BY 4.0) or of a part of it, with or without a line of names: 54
features and the cover type, 1 to 7, in the last column. Half of the rows are trained on, a quarter is to choose by, a
quarter to test. Six parameters; an epoch is four rounds, a full training 40 epochs.

Learning curves cross here: a large learning rate is ahead for long, and turns after some 20 epochs; a small one is still
falling at the end. Seconds are those of tuners.py, beside this file. Needs bapi, optuna, numpy and xgboost.
"""

import gzip
import pathlib

import tuners  # first: it limits the threads of the libraries below
import numpy
import xgboost

ROUNDS = 4
CLASSES = 7


class Booster:
    """A model that is trained epoch by epoch, with what it predicts of the rows that it is measured on."""

    def __init__(self, data, config, seed):
        self.data = data
        self.booster = xgboost.Booster(
            {
                "objective": "multi:softprob",
                "num_class": CLASSES,
                "eval_metric": "mlogloss",
                "tree_method": "hist",
                "nthread": 1,
                "seed": seed,
                **config,
            },
            [data["train"], data["valid"], data["test"]],
        )
        self.rounds = 0

    def train_epoch(self):
        for _ in range(ROUNDS):
            self.booster.update(self.data["train"], self.rounds)
            self.rounds += 1
        return self.loss("valid")

    def loss(self, part):
        told = self.booster.eval(self.data[part], part)
        return float(told.rpartition(":")[2])


def read(path):
    text = (gzip.open(path, "rt") if path.suffix == ".gz" else path.open()).read()
    lines = text.splitlines()
    names = 0 if lines[0].split(",")[0].strip().lstrip("-").replace(".", "", 1).isdigit() else 1
    table = numpy.loadtxt(lines[names:], delimiter=",", dtype=numpy.float32)
    classes = table[:, -1].astype(int) - 1
    if table.shape[1] != 55 or classes.min() < 0 or classes.max() >= CLASSES:
        raise SystemExit(f"{path}: found {table.shape[1]} columns and classes from {classes.min() + 1} to "
                         f"{classes.max() + 1}, expected 55 columns with the cover type, 1 to 7, last")
    order = numpy.random.default_rng(0).permutation(len(table))
    half, three = len(order) // 2, 3 * len(order) // 4
    parts = {"train": order[:half], "valid": order[half:three], "test": order[three:]}
    return {
        name: xgboost.DMatrix(table[rows, :-1], label=classes[rows], nthread=1) for name, rows in parts.items()
    }


def problem(data):
    return tuners.Problem(
        space={
            "eta": tuners.Range(0.01, 0.5, log=True),
            "max_depth": tuners.Range(3, 12),
            "min_child_weight": tuners.Range(0.1, 20.0, log=True),
            "subsample": tuners.Range(0.4, 1.0),
            "colsample_bytree": tuners.Range(0.3, 1.0),
            "lambda": tuners.Range(0.01, 30.0, log=True),
        },
        epochs=40,
        model=lambda config, seed: Booster(data, config, seed),
        train_epoch=Booster.train_epoch,
        test=lambda booster: booster.loss("test"),
        unit="log loss",
    )


METHODS = [
    "bapi",
    "Optuna TPE + HyperbandPruner",
    "Optuna TPE + MedianPruner",
    "Optuna TPE + SuccessiveHalvingPruner",
]

if __name__ == "__main__":
    parser = tuners.arguments(__doc__, METHODS)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="CSV file, may be compressed with gzip")
    parser.set_defaults(seconds=100.0, seeds=4)
    options = parser.parse_args()
    tuners.compare(problem(read(options.data)), options)

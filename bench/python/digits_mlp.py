#!/usr/bin/env python3
"""bapi against Optuna on one real task: scikit-learn's MLPClassifier on the digits data, equal seconds for everyone.

    python3 bench/python/digits_mlp.py --seconds 20 --seeds 10 --out digits_mlp.csv

Seconds are processor seconds of this process, one thread, everything included: training, scoring and the tuner's own
thinking, so that a busy machine does not favour anyone. Needs bapi, optuna, scikit-learn, and torch for GPSampler.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import contextlib
import csv
import pathlib
import statistics
import time
import warnings

import bapi
import optuna
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

EPOCHS = 40
warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)

x, y = load_digits(return_X_y=True)
x_train, x_rest, y_train, y_rest = train_test_split(x / 16, y, test_size=0.5, random_state=0, stratify=y)
x_valid, x_test, y_valid, y_test = train_test_split(x_rest, y_rest, test_size=0.5, random_state=0, stratify=y_rest)


class Out(Exception):
    """The seconds are over."""


class Task:
    """Trains models, and remembers when the best one was found."""

    def __init__(self, seconds, seed):
        self.seconds = seconds
        self.seed = seed
        self.begin = time.process_time()
        self.best = (-1.0, 0.0)  # accuracy on the validation data, on the test data
        self.course = []
        self.training = 0.0
        self.trials = 0

    def elapsed(self):
        return time.process_time() - self.begin

    def model(self, config):
        self.trials += 1
        return MLPClassifier(
            hidden_layer_sizes=(config["units"],),
            learning_rate_init=config["lr"],
            alpha=config["alpha"],
            batch_size=config["batch"],
            beta_1=config["beta"],
            random_state=self.seed,
        )

    def train_epoch(self, model):
        """Accuracy after one more epoch."""
        if self.elapsed() >= self.seconds:
            raise Out
        begin = time.process_time()
        model.partial_fit(x_train, y_train, classes=range(10))
        accuracy = model.score(x_valid, y_valid)
        self.training += time.process_time() - begin
        if accuracy > self.best[0] and self.elapsed() < self.seconds:
            self.best = (accuracy, model.score(x_test, y_test))
            self.course.append((self.elapsed(), accuracy))
        return accuracy


SPACE = {
    "lr": bapi.Float(1e-5, 1, log=True),
    "units": bapi.Int(8, 256, log=True),
    "alpha": bapi.Float(1e-7, 1, log=True),
    "batch": bapi.Int(8, 256, log=True),
    "beta": bapi.Float(0.5, 0.99),
}


def run_bapi(task, policy="bapi"):
    """Costs are told, so that they are processor seconds; what passes between two epochs is charged to the next trial."""
    study = bapi.Study(
        space=SPACE, budget=task.seconds, max_epochs=EPOCHS, goal="maximize", policy=policy, seed=task.seed
    )
    models, charged = {}, task.begin
    while (segment := study.ask()) is not None:
        model = models.setdefault(segment.number, None) or task.model(segment.config)
        models[segment.number] = model
        for epoch in segment.epochs():
            now = time.process_time()
            study.charge(segment.number, now - charged)
            accuracy = task.train_epoch(model)
            charged = time.process_time()
            segment.report(epoch, accuracy, cost=charged - now)


def run_optuna(task, sampler, pruner):
    def objective(trial):
        config = {
            "lr": trial.suggest_float("lr", 1e-5, 1, log=True),
            "units": trial.suggest_int("units", 8, 256, log=True),
            "alpha": trial.suggest_float("alpha", 1e-7, 1, log=True),
            "batch": trial.suggest_int("batch", 8, 256, log=True),
            "beta": trial.suggest_float("beta", 0.5, 0.99),
        }
        model = task.model(config)
        accuracy = 0.0
        for step in range(EPOCHS):
            accuracy = task.train_epoch(model)
            trial.report(accuracy, step)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return accuracy

    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    study.optimize(objective)


METHODS = {
    "bapi": run_bapi,
    "bapi's hyperband": lambda task: run_bapi(task, "hyperband"),
    "Optuna TPE + HyperbandPruner": lambda task: run_optuna(
        task,
        optuna.samplers.TPESampler(seed=task.seed),
        optuna.pruners.HyperbandPruner(min_resource=1, max_resource=EPOCHS),
    ),
    "Optuna GPSampler": lambda task: run_optuna(
        task, optuna.samplers.GPSampler(seed=task.seed), optuna.pruners.NopPruner()
    ),
    "Optuna GPSampler + HyperbandPruner": lambda task: run_optuna(
        task,
        optuna.samplers.GPSampler(seed=task.seed),
        optuna.pruners.HyperbandPruner(min_resource=1, max_resource=EPOCHS),
    ),
}


def run(method, seconds, seed):
    task = Task(seconds, seed)
    with contextlib.suppress(Out):
        METHODS[method](task)
    overhead = task.elapsed() - task.training
    at_half = max([value for at, value in task.course if at <= seconds / 2], default=0.0)
    return {
        "method": method,
        "seed": seed,
        "valid": task.best[0],
        "valid_at_half": at_half,
        "test": task.best[1],
        "overhead": overhead,
        "trials": task.trials,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    for seed in range(options.seeds):
        for method in options.methods:
            rows.append(run(method, options.seconds, seed))
            print(rows[-1], flush=True)
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    print("\n| method | error % (validation) | at half the time | error % (test) | tuner's share |\n| --- | --- | --- | --- | --- |")
    for method in options.methods:
        mine = [row for row in rows if row["method"] == method]
        cells = []
        for key in ("valid", "valid_at_half", "test"):
            errors = [100 * (1 - row[key]) for row in mine]
            spread = statistics.stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else 0.0
            cells.append(f"{statistics.mean(errors):.2f} ± {spread:.2f}")
        share = statistics.mean(row["overhead"] for row in mine) / options.seconds
        print(f"| {method} | {' | '.join(cells)} | {100 * share:.0f} % |")


if __name__ == "__main__":
    main()

"""bapi and Optuna on the same real task, with equal processor seconds: what the benchmarks beside this file share.

Seconds are processor seconds of this process, one thread, everything included: training, scoring and the tuner's own
thinking, so that a busy machine does not favour anyone. Needs bapi and optuna, and torch for GPSampler.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse
import contextlib
import csv
import dataclasses
import pathlib
import statistics
import time
import typing

import bapi
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)


@dataclasses.dataclass
class Range:
    """A parameter, for either tuner."""

    low: float
    high: float
    log: bool = False

    @property
    def integer(self):
        return isinstance(self.low, int)

    def for_bapi(self):
        return (bapi.Int if self.integer else bapi.Float)(self.low, self.high, log=self.log)

    def suggested(self, trial, name):
        suggest = trial.suggest_int if self.integer else trial.suggest_float
        return suggest(name, self.low, self.high, log=self.log)


@dataclasses.dataclass
class Problem:
    """What is trained. Losses are to be minimised."""

    space: dict[str, Range]
    epochs: int
    model: typing.Callable  # of a configuration and a seed
    train_epoch: typing.Callable  # of a model: its loss on the validation data after one more epoch
    test: typing.Callable  # of a model: its loss on the test data
    unit: str = "loss"
    factor: float = 1.0  # of losses in the table of results


class Out(Exception):
    """The seconds are over."""


class Task:
    """Trains models, and remembers when the best one was found."""

    def __init__(self, problem, seconds, seed):
        self.problem = problem
        self.seconds = seconds
        self.seed = seed
        self.begin = time.process_time()
        self.best = (float("inf"), float("inf"))  # loss on the validation data, on the test data
        self.course = []
        self.training = 0.0
        self.trials = 0

    def elapsed(self):
        return time.process_time() - self.begin

    def model(self, config):
        self.trials += 1
        return self.problem.model(config, self.seed)

    def train_epoch(self, model):
        """Loss after one more epoch."""
        if self.elapsed() >= self.seconds:
            raise Out
        begin = time.process_time()
        loss = self.problem.train_epoch(model)
        self.training += time.process_time() - begin
        if loss < self.best[0] and self.elapsed() < self.seconds:
            self.best = (loss, self.problem.test(model))
            self.course.append((self.elapsed(), loss))
        return loss


def run_bapi(task, policy="bapi"):
    """Costs are told, so that they are processor seconds; what passes between two epochs is charged to the next trial."""
    study = bapi.Study(
        space={name: each.for_bapi() for name, each in task.problem.space.items()},
        budget=task.seconds,
        max_epochs=task.problem.epochs,
        goal="minimize",
        policy=policy,
        seed=task.seed,
    )
    models, charged = {}, task.begin
    while (segment := study.ask()) is not None:
        model = models.setdefault(segment.number, None) or task.model(segment.config)
        models[segment.number] = model
        for epoch in segment.epochs():
            now = time.process_time()
            study.charge(segment.number, now - charged)
            loss = task.train_epoch(model)
            charged = time.process_time()
            segment.report(epoch, loss, cost=charged - now)


def run_optuna(task, sampler, pruner):
    def objective(trial):
        model = task.model({name: each.suggested(trial, name) for name, each in task.problem.space.items()})
        loss = float("inf")
        for step in range(task.problem.epochs):
            loss = min(loss, task.train_epoch(model))
            trial.report(loss, step)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return loss

    optuna.create_study(direction="minimize", sampler=sampler, pruner=pruner).optimize(objective)


def tpe_with(pruner):
    return lambda task: run_optuna(task, optuna.samplers.TPESampler(seed=task.seed), pruner(task.problem.epochs))


def gp_with(pruner):
    return lambda task: run_optuna(task, optuna.samplers.GPSampler(seed=task.seed), pruner(task.problem.epochs))


def hyperband_pruner(epochs):
    return optuna.pruners.HyperbandPruner(min_resource=1, max_resource=epochs)


METHODS = {
    "bapi": run_bapi,
    "bapi's hyperband": lambda task: run_bapi(task, "hyperband"),
    "Optuna TPE + HyperbandPruner": tpe_with(hyperband_pruner),
    "Optuna TPE + MedianPruner": tpe_with(lambda epochs: optuna.pruners.MedianPruner()),
    "Optuna TPE + SuccessiveHalvingPruner": tpe_with(lambda epochs: optuna.pruners.SuccessiveHalvingPruner()),
    "Optuna GPSampler": gp_with(lambda epochs: optuna.pruners.NopPruner()),
    "Optuna GPSampler + HyperbandPruner": gp_with(hyperband_pruner),
}


def run(problem, method, seconds, seed):
    task = Task(problem, seconds, seed)
    with contextlib.suppress(Out):
        METHODS[method](task)
    at_half = min([value for at, value in task.course if at <= seconds / 2], default=float("nan"))
    return {
        "method": method,
        "seed": seed,
        "valid": task.best[0],
        "valid_at_half": at_half,
        "last_gain": task.course[-1][0] if task.course else float("nan"),
        "test": task.best[1],
        "overhead": task.elapsed() - task.training,
        "trials": task.trials,
    }


def arguments(description, methods):
    """The options of such a benchmark; `methods` are its default ones."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=methods, choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--out", type=pathlib.Path)
    return parser


def compare(problem, options):
    """Runs every method with every seed, and prints the table of their means."""
    rows = []
    for seed in range(options.seeds):
        for method in options.methods:
            rows.append(run(problem, method, options.seconds, seed))
            print(rows[-1], flush=True)
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    print(f"\n| method | {problem.unit} (validation) | at half the time | {problem.unit} (test) | last gain at | trials | tuner's share |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for method in options.methods:
        mine = [row for row in rows if row["method"] == method]
        cells = []
        for key in ("valid", "valid_at_half", "test"):
            losses = [problem.factor * row[key] for row in mine]
            spread = statistics.stdev(losses) / len(losses) ** 0.5 if len(losses) > 1 else 0.0
            cells.append(f"{statistics.mean(losses):.4g} ± {spread:.2g}")
        last = statistics.mean(row["last_gain"] for row in mine)
        trials = statistics.mean(row["trials"] for row in mine)
        share = statistics.mean(row["overhead"] for row in mine) / options.seconds
        print(f"| {method} | {' | '.join(cells)} | {last:.0f} s | {trials:.0f} | {100 * share:.0f} % |")

"""The log of `bapi compare` on the recorded tables, by experiment of the paper."""

import bisect
import collections
import csv
import dataclasses
import json
import pathlib
import statistics

# The paper's thirteen experiments and their tables, which end in -0, -1 and -2 where several seeds were recorded.
EXPERIMENTS = {
    "logreg-mnist": "1 logistic regression, MNIST",
    "mlp-olivetti": "2 MLP, Olivetti",
    "mlp-covtype": "3 MLP, Covtype",
    "fcnet-mnist-25": "4 fully connected, MNIST, 25 epochs",
    "fcnet-mnist-50": "5 fully connected, MNIST, 50 epochs",
    "cnn-cifar10-25": "6 CNN, CIFAR-10, 25 epochs",
    "cnn-cifar10-50": "7 CNN, CIFAR-10, 50 epochs",
    "cnn-svhn-25": "8 CNN, SVHN, 25 epochs",
    "cnn-svhn-50": "9 CNN, SVHN, 50 epochs",
    "resnet-cifar10": "10 ResNet, CIFAR-10",
    "ddqn-cartpole": "11 dueling double DQN, CartPole",
    "a2c-reacher": "12 A2C, Reacher",
    "a2c-pendulum": "13 A2C, InvertedPendulum",
}
SHARE_DIGITS = 4   # of shares of a budget: those that experiments/kept_runs.py keeps, so that its runs give the same pictures
AGENTS = ("ddqn-cartpole", "a2c-reacher", "a2c-pendulum")


@dataclasses.dataclass
class Run:
    table: str
    regret: float             # normalised: 0 is the table's best value, 1 its median full training
    shares: list              # of the budget, ascending: when the best value so far improved
    regrets: list             # what it improved to, normalised
    scale: float | None       # metric per unit of normalised regret; None if the run ended at the best value

    def regret_at(self, share):
        """After this share of the budget; before the first report, what that report says."""
        return self.regrets[max(0, bisect.bisect_right(self.shares, share) - 1)]


@dataclasses.dataclass
class Table:
    metric: str
    goal: str
    best: float
    seconds: float            # of a full training
    scale: float | None = None

    def value(self, regret):
        """The metric's value for a normalised regret."""
        loss = regret * (self.scale or 0.0)
        return self.best - loss if self.goal == "maximize" else self.best + loss


def experiment_of(table):
    return next((name for name in EXPERIMENTS if table == name or table[:-2] == name), None)


def runs_by_key(log):
    """{(experiment, policy, budget): [(table, seed, Run)]} of the thirteen experiments in a log of `bapi compare`."""
    runs = collections.defaultdict(list)
    for line in pathlib.Path(log).read_text().splitlines():
        record = json.loads(line).get("run")
        if record and experiment_of(record["table"]):
            key = experiment_of(record["table"]), record["policy"], record["budget"]
            runs[key].append((record["table"], record["seed"], run_of(record)))
    return runs


def run_of(record):
    regret = record["normalised_regret"]
    shares, regrets = zip(*record["trajectory"]) if record["trajectory"] else ((0.0,), (regret,))
    shares = [float(f"{share:.{SHARE_DIGITS}g}") for share in shares]
    return Run(record["table"], regret, shares, regrets, record["regret"] / regret if regret > 0 else None)


class Replay:
    """Runs by experiment, policy and budget, and the tables that they were run on."""

    def __init__(self, log, index):
        with open(index, newline="") as file:
            self.tables = {pathlib.Path(line["table"]).stem: Table(line["metric"], line["goal"], float(line["best"]),
                                                                   float(line["seconds_per_training"]))
                           for line in csv.DictReader(file)}
        self.runs = runs_by_key(log)
        for runs in self.runs.values():
            for table, _, run in runs:
                if run.scale is not None:
                    self.tables[table].scale = run.scale

    def metric(self, experiment):
        return next(table.metric for name, table in self.tables.items() if experiment_of(name) == experiment)

    def budgets(self):
        return sorted({budget for _, _, budget in self.runs}, key=lambda budget: int(budget.removesuffix("full")))

    def of(self, experiment, policy, budget):
        """In the order of tables and seeds."""
        return [run for _, _, run in sorted(self.runs.get((experiment, policy, budget), []), key=lambda entry: entry[:2])]

    def paired(self, experiment, policies, budget):
        """{policy: runs} on the tables and with the seeds that all of the policies have run, in the same order."""
        shared = self._shared(experiment, policies, budget)
        return {policy: [run for table, seed, run in sorted(self.runs[experiment, policy, budget], key=lambda e: e[:2])
                         if (table, seed) in shared] for policy in policies} if shared else {}

    def experiments(self, policies, budget):
        """Those with a run that all of the policies share, in the paper's order."""
        return [name for name in EXPERIMENTS if self._shared(name, policies, budget)]

    def keep_finished(self, policies):
        """Keeps of these policies the tables and seeds that all of them have run, and the budgets with two such experiments
        or more. Returns the other budgets."""
        budgets = self.budgets()
        for experiment, budget in {(experiment, budget) for experiment, _, budget in self.runs}:
            shared = self._shared(experiment, policies, budget)
            for key in [key for key in self.runs if (key[0], key[2]) == (experiment, budget) and key[1] in policies]:
                self.runs[key] = [entry for entry in self.runs[key] if entry[:2] in shared]
        unfinished = [budget for budget in budgets if len(self.experiments(policies, budget)) < 2]
        self.runs = {key: runs for key, runs in self.runs.items() if key[2] not in unfinished}
        return unfinished

    def _shared(self, experiment, policies, budget):
        """Tables and seeds."""
        return set.intersection(*({entry[:2] for entry in self.runs.get((experiment, policy, budget), [])}
                                  for policy in policies))

    def seeds(self, experiment, policies, budget):
        return {seed for _, seed in self._shared(experiment, policies, budget)}

    def regrets(self, experiment, policies, budget, share=1.0):
        """{policy: mean over the tables and seeds that all of them have run}."""
        return {policy: statistics.fmean(run.regret_at(share) for run in runs)
                for policy, runs in self.paired(experiment, policies, budget).items()}

    def ranks(self, experiment, policies, budget, share=1.0):
        """Rank of each policy by its mean regret; 1 is best, ties share the mean of their ranks."""
        regrets = self.regrets(experiment, policies, budget, share)
        return dict(zip(regrets, ranks_of(list(regrets.values()))))


def task_of(experiment):
    """Experiments with the same training, seen for 25 or 50 epochs, are one task."""
    return experiment.removesuffix("-25").removesuffix("-50")


def ranks_of(values):
    ordered = sorted(values)
    return [(bisect.bisect_left(ordered, v) + bisect.bisect_right(ordered, v) + 1) / 2 for v in values]

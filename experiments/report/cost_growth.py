#!/usr/bin/env python3
"""How far the cost of a training departs from a constant cost per epoch, where an epoch's cost grows with its value.

  experiments/report/cost_growth.py TABLE.csv...          a line of Markdown for each
  experiments/report/cost_growth.py --flatten TABLE.csv OUT.csv
  experiments/report/cost_growth.py --equal TABLE.csv OUT.csv
  experiments/report/cost_growth.py --effect COMPARISON FLAT     a line of Markdown for each experiment, budget and policy

Ratios are true cost of the epochs after the first 20 to a forecast made there: with the mean cost of the epochs so far,
and with a cost per epoch that is a line in the value, scaled to the epochs so far and applied to the values that the
trial did reach later: what the best forecast of values would give. --flatten writes a table in which every epoch of a
trial costs their mean, so that a constant rate is right; --equal one in which every epoch of all trials does. --effect
shows the regret of two directories of `bapi compare`, the second one with flattened tables, and what the first has more,
over pairs of runs with the same table and seed.
"""

import csv
import pathlib
import statistics
import sys

from panels import mean_and_error
from replay import EXPERIMENTS, runs_by_key

SEEN = 20
LEAST_SHARE = 0.1   # of the lowest cost of an epoch: no forecast is below


def read(path):
    """Header lines, names of the columns, and the rows of each configuration."""
    lines = pathlib.Path(path).read_text().splitlines()
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    trials = {}
    for row in rows[1:]:
        trials.setdefault(tuple(row[:-3]), []).append(row)
    return [line for line in lines if line.startswith("#")], rows[0], list(trials.values())


def line_through(points):
    """Intercept, slope and the share of the variance of y that the line explains."""
    slope, intercept = statistics.linear_regression(*zip(*points))
    return intercept, slope, statistics.correlation(*zip(*points)) ** 2


class Growth:
    def __init__(self, path):
        header, _, trials = read(path)
        self.curves = [[(float(row[-2]), float(row[-1])) for row in trial] for trial in trials]
        longest = max(len(curve) for curve in self.curves)
        self.curves = [curve for curve in self.curves if len(curve) == longest and curve[-1][0] == curve[-1][0]]
        points = [point for curve in self.curves for point in curve]
        self.intercept, self.slope, self.explained = line_through(points)
        self.least = LEAST_SHARE * min(cost for _, cost in points)
        sign = 1 if any("maximize" in line for line in header) else -1
        self.best_tenth = sorted(self.curves, key=lambda c: -max(sign * v for v, _ in c))[:len(self.curves) // 10]

    def cost_at(self, value):
        return max(self.least, self.intercept + self.slope * value)

    def by_mean(self, curve):
        seen = sum(cost for _, cost in curve[:SEEN])
        return sum(cost for _, cost in curve[SEEN:]) / (seen / SEEN * (len(curve) - SEEN))

    def by_value(self, curve):
        scale = sum(c for _, c in curve[:SEEN]) / sum(self.cost_at(v) for v, _ in curve[:SEEN])
        return sum(c for _, c in curve[SEEN:]) / (scale * sum(self.cost_at(v) for v, _ in curve[SEEN:]))

    def median(self, forecast, curves):
        return statistics.median(forecast(curve) for curve in curves)

    def row(self, name):
        cells = [name, f"{self.explained:.2f}", f"{self.median(self.by_mean, self.curves):.1f}",
                 f"{self.median(self.by_mean, self.best_tenth):.1f}", f"{self.median(self.by_value, self.curves):.1f}",
                 f"{self.median(self.by_value, self.best_tenth):.1f}"]
        return "| " + " | ".join(cells) + " |"


def mean_cost(rows):
    return statistics.fmean(float(row[-1]) for row in rows)


def rewrite(table, out, cost_of):
    """The table with another cost of an epoch: cost_of(rows of its trial)."""
    header, names, trials = read(table)
    with open(out, "w", newline="") as file:
        file.writelines(line + "\n" for line in header)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for trial in trials:
            cost = f"{cost_of(trial):.6g}"
            writer.writerows([*row[:-1], cost] for row in trial)


def flatten(table, out):
    rewrite(table, out, mean_cost)


def equalise(table, out):
    mean = mean_cost([row for trial in read(table)[2] for row in trial])
    rewrite(table, out, lambda trial: mean)


def effect(recorded, flat):
    """Lines of Markdown: regret with recorded costs, with constant ones, and their difference, of the runs in both."""
    runs = [runs_by_key(pathlib.Path(directory) / "runs.log") for directory in (recorded, flat)]
    lines = []
    for key in sorted(runs[0].keys() & runs[1].keys(), key=lambda key: (list(EXPERIMENTS).index(key[0]), key[1:])):
        before, after = ({(table, seed): run.regret for table, seed, run in of_key[key]} for of_key in runs)
        both = sorted(before.keys() & after.keys())
        columns = [[before[pair] for pair in both], [after[pair] for pair in both],
                   [before[pair] - after[pair] for pair in both]]
        cells = ["{:.3f} ± {:.3f}".format(*mean_and_error(column)) for column in columns]
        experiment, policy, budget = key
        lines.append("| " + " | ".join([EXPERIMENTS[experiment], budget, f"`{policy}`", *cells, str(len(both))]) + " |")
    return lines


def main(arguments):
    if arguments[:1] == ["--effect"]:
        print("\n".join(effect(*arguments[1:])))
        return
    if arguments[:1] in (["--flatten"], ["--equal"]):
        (flatten if arguments[0] == "--flatten" else equalise)(*arguments[1:])
        return
    for path in arguments:
        print(Growth(path).row(f"`{pathlib.Path(path).stem}`"))


if __name__ == "__main__":
    main(sys.argv[1:])

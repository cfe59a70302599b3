#!/usr/bin/env python3
"""Fits the laws of forecast errors, and says how often forecasts came true: docs/benchmarks.md#forecasts.

    build/release/bench_decisions bapi 5full 2 DIRECTORY/INDEX.csv > build/decisions-5.csv
    build/release/bench_decisions bapi 20full 1 DIRECTORY/INDEX.csv > build/decisions-20.csv
    bench/forecasts/fit_tails.py build/decisions-5.csv build/decisions-20.csv

An error is what came true less what was forecast, over the deviation of the forecast; src/bapi/math/error_law.h has the
form of its law. A law has the largest likelihood; tables and budgets count alike, and of a trial that got no better, the
chance to do so counts. What laws cover is told of families of tables (the directory of a table) that they were not
fitted to. The lines in braces are the constants of the program.
"""

import csv
import itertools
import math
import pathlib
import statistics
import sys
from collections import defaultdict

BANDS = (0.5, 0.8, 0.95)
NORMAL = statistics.NormalDist()
SHARES = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)
NONE = -1e8  # below this: unknown, or nothing reached


def phi(z):
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


class Law:
    """As in src/bapi/math/error_law.cc, but for the straight ends, in which a band of 95 % does not look."""

    def __init__(self, shift=0.0, scale=1.0, tail=0.0):
        self.shift, self.scale, self.tail = shift, scale, tail

    def error(self, z):
        return self.shift + self.scale * (math.sinh(self.tail * z) / self.tail if self.tail > 0.0 else z)

    def z_and_slope(self, error):
        """z, and how fast it grows with the error."""
        inner = (error - self.shift) / self.scale
        if self.tail <= 0.0:
            return inner, 1.0 / self.scale
        return math.asinh(self.tail * inner) / self.tail, 1.0 / math.hypot(1.0, self.tail * inner) / self.scale

    def __str__(self):
        quantiles = " ".join(f"{self.error(NORMAL.inv_cdf(share)):.2f}" for share in SHARES)
        return f"{{.shift = {self.shift:.2f}, .scale = {self.scale:.2f}, .tail = {self.tail:.2f}}}; quantiles {quantiles}"


class Case:
    """One forecast: its error, or that of a trial that got no better, of which only the upper end is known."""

    def __init__(self, row, error, stayed):
        self.table = row["table"]
        self.family = pathlib.Path(row["table"]).parent.name
        self.setting = row["policy"] + " " + row["budget"]
        self.error = error
        self.stayed = stayed

    def log_likelihood(self, law):
        z, slope = law.z_and_slope(self.error)
        return math.log(max(1e-12, phi(z))) if self.stayed else math.log(slope) - 0.5 * z * z

    def within(self, law, band):
        """1, 0 or, where a band ends within the chance to get no better, a share of it."""
        outside = (1.0 - band) / 2.0
        share = phi(law.z_and_slope(self.error)[0])
        if self.stayed:
            stays = max(1e-12, share)
            return max(0.0, min(stays, 1.0 - outside) - outside) / stays
        return 1.0 if outside <= share <= 1.0 - outside else 0.0


def weighted(cases):
    """(case, weight): settings weigh alike, and within one of them its tables."""
    groups = defaultdict(lambda: defaultdict(list))
    for case in cases:
        groups[case.setting][case.table].append(case)
    for tables in groups.values():
        for group in tables.values():
            for case in group:
                yield case, 1.0 / (len(groups) * len(tables) * len(group))


def fitted(cases, with_shift):
    """By a search along the coordinates that halves its steps."""
    pairs = list(weighted(cases))

    def likelihood(at):
        law = Law(at[0], math.exp(at[1]), at[2])
        return sum(weight * case.log_likelihood(law) for case, weight in pairs)

    at, step = [0.0, 0.0, 0.5], [0.4, 0.4, 0.4]
    most = likelihood(at)
    for _ in range(6):
        improved = True
        while improved:
            improved = False
            for k, sign in itertools.product(range(0 if with_shift else 1, 3), (1.0, -1.0)):
                trial = list(at)
                trial[k] += sign * step[k]
                trial[2] = min(1.6, max(0.0, trial[2]))
                found = likelihood(trial)
                if found > most + 1e-7:
                    at, most, improved = trial, found, True
        step = [s / 2.0 for s in step]
    return Law(at[0], math.exp(at[1]), at[2])


def coverage(cases, law_of):
    """Of the bands: mean over tables, then settings; and over all forecasts."""
    pairs = list(weighted(cases))
    by_table = [sum(w * case.within(law_of(case), band) for case, w in pairs) for band in BANDS]
    pooled = [statistics.fmean(case.within(law_of(case), band) for case in cases) for band in BANDS]
    return by_table, pooled


def in_percent(shares):
    return "/".join(f"{100.0 * share:.0f}" for share in shares)


def value_error(row):
    """(error, stayed) of the value, or nothing."""
    mean, sd, reached, value = (float(row[key]) for key in ("mean", "sd", "reached", "value"))
    if value < NONE or not sd > 0.0:
        return None
    stayed = reached > NONE and value <= reached + 1e-7 * (1.0 + abs(reached))
    return ((reached if stayed else value) - mean) / sd, stayed


def cost_error(row):
    error, sd = float(row["log_cost"]), float(row["log_cost_sd"])
    return (error / sd, False) if error > NONE and sd > 0.0 else None


def value_kind(row):
    return ("" if row["policy"] == "bapi" else "without the warp, ") + ("new" if row["now"] == "0" else "trained")


def cost_kind(row):
    return "first segment" if row["now"] == "0" else "further segments"


def tell(what, kinds, with_shift):
    """`kinds`: {name: cases}."""
    laws, left_out, kind_of = {}, {}, {}
    for kind, cases in sorted(kinds.items()):
        laws[kind] = fitted(cases, with_shift)
        for family in {case.family for case in cases}:
            others = [case for case in cases if case.family != family]
            left_out[kind, family] = fitted(others, with_shift) if others else laws[kind]
        kind_of.update({id(case): kind for case in cases})
    choices = {"normal": lambda case: Law(),
               "families left out": lambda case: left_out[kind_of[id(case)], case.family],
               "fitted to all": lambda case: laws[kind_of[id(case)]]}
    every = [case for cases in kinds.values() for case in cases]
    parts = {setting: [case for case in every if case.setting == setting]
             for setting in sorted({case.setting for case in every})}
    parts.update({f"  {kind}": cases for kind, cases in sorted(kinds.items())})
    print(f"\n{what}: coverage of the 50/80/95 % bands in per cent, mean over tables (over all forecasts)")
    for name, part in parts.items():
        found = []
        for label, law_of in choices.items():
            by_table, pooled = coverage(part, law_of)
            found.append(f"{label} {in_percent(by_table)} ({in_percent(pooled)})")
        print(f"  {name:40} {len(part):6}   " + "   ".join(found))
    for kind, law in laws.items():
        print(f"  {kind}: {law}")


def main():
    values, costs = defaultdict(list), defaultdict(list)
    for file in sys.argv[1:]:
        for row in csv.DictReader(open(file)):
            for kinds, error_of, kind_of in ((values, value_error, value_kind), (costs, cost_error, cost_kind)):
                error = error_of(row)
                if error:
                    kinds[kind_of(row)].append(Case(row, *error))
    tell("values", values, True)
    tell("costs of the next segment", costs, False)


if __name__ == "__main__":
    main()

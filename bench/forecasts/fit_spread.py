#!/usr/bin/env python3
"""Fits the factors of forecast bands, and scores forecasts: the tables of docs/benchmarks.md#forecasts.

    build/release/bench_forecasts 2 DIRECTORY/INDEX.csv > build/cases.csv
    bench/forecasts/fit_spread.py build/cases.csv

A factor is the one by which the deviation of a forecast has to be multiplied for 80 % of what comes true to lie within
its 80 % band; trials that got no better count with their chance to do so. Factors are fitted to all families of tables
(the directory of a table) but the one under test. Scores are means over tables of means over cases; the error is that of
the difference over tables.
"""

import csv
import math
import pathlib
import statistics
import sys
from collections import defaultdict

BANDS = [0.5, 0.8, 0.95]
SHARES = [("new", 0.0, 0.0), ("0.1", 0.0001, 0.14), ("0.2", 0.14, 0.28), ("0.4", 0.28, 0.6), ("0.8", 0.6, 1.0)]
NORMAL = statistics.NormalDist()


def bucket(case):
    share = float(case["now"]) / float(case["then"])
    for name, low, high in SHARES:
        if low <= share <= high:
            return name
    raise ValueError(f"no bucket for the share {share}")


def within(case, factor, band):
    """How much of the result lies within the central band: 1, 0 or, for a trial that got no better, a share of it."""
    mean, sd, reached, value = (float(case[key]) for key in ("mean", "raw_sd", "reached", "value"))
    sd *= factor
    outside = (1.0 - band) / 2.0
    if reached > -1e8 and value <= reached + 1e-7 * (1.0 + abs(reached)):
        stays = max(1e-12, NORMAL.cdf((reached - mean) / sd))
        return max(0.0, min(stays, 1.0 - outside) - outside) / stays
    return 1.0 if abs(value - mean) / sd <= -NORMAL.inv_cdf(outside) else 0.0


def by_table(cases, score):
    groups = defaultdict(list)
    for case in cases:
        groups[case["table"]].append(score(case))
    return {table: statistics.fmean(values) for table, values in groups.items()}


def coverage(cases, factor_of, band):
    return statistics.fmean(by_table(cases, lambda case: within(case, factor_of(case), band)).values())


def fitted_factor(cases):
    low, high = 0.2, 6.0
    for _ in range(30):
        middle = math.sqrt(low * high)
        if coverage(cases, lambda case, f=middle: f, 0.8) < 0.8:
            low = middle
        else:
            high = middle
    return middle


def crps_of_residuals(residuals, centre, truth, floor):
    """Of a law that is its centre plus one of the residuals, cut off at the value reached."""
    n = len(residuals)
    total = 0.0
    for k, residual in enumerate(residuals):
        share = (k + 0.5) / n
        quantile = max(floor, centre + residual)
        total += 2.0 * ((1.0 - share) if truth < quantile else -share) * (quantile - truth) / n
    return total


def learned_residuals(cases, key):
    """The spread of `truth - centre` for each bucket: two hundred of its quantiles."""
    found = defaultdict(list)
    for case in cases:
        found[case["bucket"]].append(float(case["truth"]) - float(case[key]))
    quantiles = {}
    for name, values in found.items():
        values.sort()
        quantiles[name] = [values[int((k + 0.5) / 200 * len(values))] for k in range(200)]
    return quantiles


def compared(name, first, second):
    tables = sorted(set(first) & set(second))
    differences = [first[t] - second[t] for t in tables]
    error = statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    print(f"  {name:24} {statistics.fmean(second[t] for t in tables):7.3f}  "
          f"forecast less this {statistics.fmean(differences):+.3f} ± {error:.3f}")


def main():
    cases = list(csv.DictReader(open(sys.argv[1])))
    for case in cases:
        case["family"] = pathlib.Path(case["table"]).parent.name
        case["bucket"] = bucket(case)
        case["cut"] = float(case["now"]) > 0
        case["final"] = case["then"] == case["last"]
    families = sorted({case["family"] for case in cases})

    factors = {}
    print("factors of the deviation, fitted without the family, and with all")
    for name, _, _ in SHARES:
        part = [case for case in cases if case["bucket"] == name]
        if not part:
            continue
        for family in families:
            factors[name, family] = fitted_factor([case for case in part if case["family"] != family])
        every = [factors[name, family] for family in families]
        print(f"  {name:4} {min(every):.2f} to {max(every):.2f}, all {fitted_factor(part):.2f}  ({len(part)} cases)")

    left_out = lambda case: factors[case["bucket"], case["family"]]
    print("\ncoverage of the 50/80/95 % bands, %: model alone, and with the factors of the other families")
    kinds = {"final value, trained": lambda c: c["cut"] and c["final"],
             "final value, new": lambda c: not c["cut"],
             "next rung": lambda c: c["cut"] and not c["final"]}
    for kind, wanted in kinds.items():
        part = [case for case in cases if wanted(case)]
        alone = "/".join(f"{100 * coverage(part, lambda c: 1.0, band):.0f}" for band in BANDS)
        with_factors = "/".join(f"{100 * coverage(part, left_out, band):.0f}" for band in BANDS)
        print(f"  {kind:22} {alone:10} {with_factors}")

    print("\nscores of final values of trained trials (CRPS: lower is better; log score: higher is better)")
    part = [case for case in cases if case["cut"] and case["final"]]
    ours = by_table(part, lambda c: float(c["crps"]))
    print(f"  {'CRPS, forecast':24} {statistics.fmean(ours.values()):7.3f}")
    compared("before", ours, by_table(part, lambda c: float(c["crps_before"])))
    for label, key in (("last value + spread", "shown"), ("power law + spread", "power")):
        spreads = {f: learned_residuals([c for c in part if c["family"] != f], key) for f in families}
        compared(label, ours, by_table(part, lambda c: crps_of_residuals(
            spreads[c["family"]].get(c["bucket"], [0.0]), float(c[key]), float(c["truth"]), float(c["shown"]))))
    logs = by_table(part, lambda c: float(c["log"]))
    print(f"  {'log score, forecast':24} {statistics.fmean(logs.values()):7.3f}")
    compared("before", logs, by_table(part, lambda c: float(c["log_before"])))
    print("\nand of new configurations")
    part = [case for case in cases if not case["cut"]]
    ours = by_table(part, lambda c: float(c["crps"]))
    print(f"  {'CRPS, forecast':24} {statistics.fmean(ours.values()):7.3f}")
    compared("before", ours, by_table(part, lambda c: float(c["crps_before"])))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Whether a study's own forecasts that have come true correct its next ones: docs/benchmarks.md#forecasts.

    bench/forecasts/study_correction.py build/decisions-5.csv build/decisions-20.csv

The files are those of fit_tails.py. A forecast of a final value has come true once its trial was trained to the last
epoch. The deviation of the next forecast is then multiplied by

    sqrt((p + e_1^2 + ... + e_n^2) / (p + n)),

where e_k are the normal scores of what came true by the law of the program, and p is how many such cases the law counts
for. p = infinity is no correction. Told is the mean log likelihood over tables with the standard error of its difference,
and how often bands held.
"""

import csv
import math
import statistics
import sys
from collections import defaultdict

from fit_tails import BANDS, Case, Law, in_percent, value_error

LAWS = {"new": Law(0.04, 0.75, 1.20), "trained": Law(0.10, 0.69, 1.54)}  # model/spread.cc
WEIGHTS = (math.inf, 40.0, 15.0, 5.0)
LARGEST_SCORE = 4.0  # one miss beyond it says no more than one at it


def law_of(row):
    return LAWS["new" if row["now"] == "0" else "trained"]


def studies(files):
    """The rows of each study, in the order of its decisions."""
    found = defaultdict(list)
    for file in files:
        for row in csv.DictReader(open(file)):
            found[row["table"], row["policy"], row["budget"], row["seed"]].append(row)
    return found


def forecasts(rows):
    """(case, scores of the forecasts that had come true before it), in the order of decisions."""
    waiting = defaultdict(list)  # trial -> scores of forecasts of its end
    known = []
    for row in rows:
        found = value_error(row)
        if found and row["then"] == row["last"]:
            case = Case(row, *found)
            yield case, law_of(row), list(known)
            score = max(-LARGEST_SCORE, min(LARGEST_SCORE, law_of(row).z_and_slope(case.error)[0]))
            # Of a trial that got no better only the upper end of its score is known: it is no surprise if it was likely.
            waiting[row["trial"]].append(min(score, 0.0) if case.stayed else score)
        if row["until"] == row["last"]:
            known += waiting.pop(row["trial"], [])


def widened(case, factor):
    """The case in units of a deviation that is `factor` times as large, and the logarithm that its density loses."""
    wide = object.__new__(Case)
    wide.__dict__.update(case.__dict__)
    wide.error = case.error / factor
    return wide, 0.0 if case.stayed else -math.log(factor)


def main():
    told = {weight: defaultdict(list) for weight in WEIGHTS}
    held = {weight: {band: defaultdict(list) for band in BANDS} for weight in WEIGHTS}
    corrected = 0
    for (table, _, budget, _), rows in studies(sys.argv[1:]).items():
        for case, law, known in forecasts(rows):
            corrected += bool(known)
            for weight in WEIGHTS:
                factor = 1.0
                if known and math.isfinite(weight):
                    factor = math.sqrt((weight + sum(score * score for score in known)) / (weight + len(known)))
                wide, lost = widened(case, factor)
                told[weight][budget, table].append(wide.log_likelihood(law) + lost)
                for band in BANDS:
                    held[weight][band][budget, table].append(wide.within(law, band))
    budgets = sorted({budget for budget, _ in told[math.inf]})
    print(f"{corrected} forecasts had earlier ones that had come true")
    for budget in budgets:
        print(f"{budget}: law counts for, log likelihood, difference, coverage of the 50/80/95 % bands")
        tables = [key for key in told[math.inf] if key[0] == budget]
        for weight in WEIGHTS:
            means = [statistics.fmean(told[weight][key]) for key in tables]
            differences = [mean - statistics.fmean(told[math.inf][key]) for mean, key in zip(means, tables)]
            error = statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.nan
            coverage = [statistics.fmean(statistics.fmean(held[weight][band][key]) for key in tables) for band in BANDS]
            print(f"  {weight:4}  {statistics.fmean(means):+.3f}  {statistics.fmean(differences):+.4f} ± {error:.4f}"
                  f"  {in_percent(coverage)}")


if __name__ == "__main__":
    main()

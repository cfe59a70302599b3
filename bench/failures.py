#!/usr/bin/env python3
"""Measures what failed trainings cost a study: the table of docs/benchmarks.md, section Failures.

    bench/failures.py [--bapi build/release/bapi] [--tables 12] [--seeds 2] [--budget 20full] [--jobs 2]

Every synthetic table is tuned three times with the same seed: as it is, with 5 % of its trainings failing by bad luck,
and with a quarter of its configurations crashing in their first epoch. Prints one line per shape, with the mean
difference of the regret from that of the table as it is, and its standard error over the tables.
"""

import argparse
import concurrent.futures
import json
import math
import statistics
import subprocess

SHAPES = ("power-law", "crossing", "diverging", "sigmoid", "late")
HEADER = (
    "shape",
    "regret",
    "5 % bad luck: change of regret",
    "trials that failed",
    "region: change of regret",
    "trials lost there",
)
CASES = {"as it is": "", "bad luck": ",failures=0.05", "region": ",crash=0.25"}


def simulate(bapi, budget, shape, table, case, seed):
    """The summary of one run."""
    name = f"synthetic:{shape},rows=200,seed={table}{CASES[case]}"
    command = [bapi, "simulate", name, "--budget", budget, "--seed", str(seed), "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def mean_and_error(values):
    """As text; of differences, so with a sign."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.mean(values):+.3f} ± {error:.3f}"


def row(shape, runs, tables, seeds):
    """One line of the table, from the runs by (table, case, seed)."""
    keys = [(table, seed) for table in tables for seed in seeds]
    of = {case: [runs[table, case, seed] for table, seed in keys] for case in CASES}

    def differences(case):
        """For each table, so that the seeds of one table count once."""
        return [
            statistics.mean(
                runs[table, case, seed]["normalised_regret"] - runs[table, "as it is", seed]["normalised_regret"]
                for seed in seeds
            )
            for table in tables
        ]

    met = sum(run["failed"] - plain["failed"] for run, plain in zip(of["bad luck"], of["as it is"]))
    lost = [run["failed"] for run in of["region"]]
    return [
        shape,
        f"{statistics.mean(run['normalised_regret'] for run in of['as it is']):.3f}",
        mean_and_error(differences("bad luck")),
        f"{met} in {sum(run['trials'] for run in of['bad luck'])}",
        mean_and_error(differences("region")),
        # Those of `diverging` would count the trainings that diverge outside of the region.
        "" if shape == "diverging" else f"{statistics.mean(lost):.1f}, at most {max(lost)}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bapi", default="build/release/bapi", help="program to measure")
    parser.add_argument("--tables", type=int, default=12, help="tables of each shape")
    parser.add_argument("--seeds", type=int, default=2, help="runs on each table")
    parser.add_argument("--budget", default="20full", help="as bapi simulate takes it")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="separated by commas")
    options = parser.parse_args()
    tables, seeds = range(1, options.tables + 1), range(1, options.seeds + 1)

    print("| " + " | ".join(HEADER) + " |")
    print("|" + " --- |" * len(HEADER))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for shape in options.shapes.split(","):
            keys = [(table, case, seed) for table in tables for case in CASES for seed in seeds]
            summaries = pool.map(lambda key: simulate(options.bapi, options.budget, shape, *key), keys)
            print("| " + " | ".join(row(shape, dict(zip(keys, summaries)), tables, seeds)) + " |", flush=True)


if __name__ == "__main__":
    main()

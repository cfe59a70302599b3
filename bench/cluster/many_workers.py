#!/usr/bin/env python3
"""bapi with 1, 8, 64 and 1,000 workers on synthetic tables, in simulated time.

    bench/cluster/many_workers.py --bapi build/release/bapi --out build/many-workers [--policies bapi,asha] [--seeds 3]

Prints, for every budget and number of workers, the mean normalised regret with its standard error, trials, decisions
and the processor time of a decision. Every run is kept in the directory and not made again.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess

TABLES = [f"synthetic:{shape},rows=3000,dims=4,epochs=27" for shape in ("power-law", "sigmoid", "crossing")]
WORKERS = [1, 8, 64, 1000]


def simulate(options, table, policy, budget, workers, seed):
    """The record of a run."""
    name = "-".join([table.split(":")[1].split(",")[0], policy.replace(":", "_"), budget, str(workers), str(seed)])
    kept = options.out / f"{name}.json"
    if not kept.exists():
        done = subprocess.run([options.bapi, "simulate", table, "-p", policy, "-b", budget, "-w", str(workers), "--seed",
                               str(seed), "-f", "json"], check=True, capture_output=True, text=True)
        kept.write_text(done.stdout)
    return json.loads(kept.read_text())


def error(numbers):
    return statistics.stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bapi", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--policies", default="bapi,asha,hyperband,random")
    parser.add_argument("--budgets", default="20full,100full")
    parser.add_argument("--workers", default=",".join(map(str, WORKERS)))
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print("| budget | policy | workers | normalised regret | trials | decisions | ms per decision |")
    print("|---|---|---:|---|---:|---:|---:|")
    for budget in options.budgets.split(","):
        for policy in options.policies.split(","):
            for workers in map(int, options.workers.split(",")):
                runs = [simulate(options, table, policy, budget, workers, seed)
                        for table in TABLES for seed in range(options.seeds)]
                regrets = [run["normalised_regret"] for run in runs]
                decisions = sum(run["decisions"] for run in runs)
                milliseconds = 1e3 * sum(run["overhead_seconds"] for run in runs) / decisions
                print(f"| {budget} | `{policy}` | {workers:,} | {statistics.mean(regrets):.3f} ± {error(regrets):.3f} | "
                      f"{statistics.mean(run['trials'] for run in runs):,.0f} | "
                      f"{statistics.mean(run['decisions'] for run in runs):,.0f} | {milliseconds:.3g} |", flush=True)


if __name__ == "__main__":
    main()

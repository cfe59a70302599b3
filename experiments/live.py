#!/usr/bin/env python3
"""Trains live what the replay only looks up: four policies on four experiments, at the sizes of the recordings.

  experiments/live.py --data DIR    adds to experiments/live.csv what it does not have; resumes after an interruption

A live study is a recording with another policy, checkpoints, one worker and a budget of some full trainings, as
tables/INDEX.csv counts them. Its cost is processor time, so other work on the machine does not change it. Unlike the
replay, a policy may choose any configuration.
"""

import argparse
import csv
import itertools
import json
import os
import pathlib
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
RECORDINGS = {"logreg-mnist": "logreg-mnist", "fcnet-mnist-50": "fcnet-mnist", "cnn-cifar10-50": "cnn-cifar10",
              "a2c-pendulum": "a2c-pendulum-0"}
POLICIES = ("bapi-4", "hyperband", "ei", "random")
COLUMNS = ["experiment", "policy", "seed", "fulls", "best", "seconds", "trials"]
OF_RECORDINGS = ("name:", "checkpoint:", "cwd:", "budget:", "workers:", "seed:", "policy:")


def live_study(recording, name, policy, seed, budget):
    """The recording's study file with another policy and budget, and with checkpoints."""
    kept = [line for line in recording.splitlines() if not line.startswith(("#", *OF_RECORDINGS))]
    kept = [line.replace("[env, -u, BAPI_CHECKPOINT_DIR, ", "[") for line in kept]
    return "\n".join([f"name: {name}", f"cwd: {HERE.parent}", "workers: 1", f"policy: {policy}", f"seed: {seed}",
                      f"budget: {{limit: {budget:.4g}, unit: cpu}}", *kept, ""])


def seconds_per_training(index, experiment):
    """Mean over the experiment's tables, which end in -0, -1 and -2 where several seeds were recorded."""
    with open(index, newline="") as file:
        lines = [(pathlib.Path(line["table"]).stem, line) for line in csv.DictReader(file)]
    found = [float(line["seconds_per_training"]) for table, line in lines if experiment in (table, table[:-2])]
    if not found:
        raise SystemExit(f"{index}: no table of {experiment}; record it with make experiments-record")
    return statistics.fmean(found)


def result(bapi, study):
    """Of the study, which is run or continued: the columns after `fulls`."""
    answer = subprocess.run([bapi, "run", study, "--dir", study.parent, "--quiet", "--format", "json"],
                            stdout=subprocess.PIPE, text=True)
    if answer.returncode != 0:   # bapi has said why
        raise SystemExit(f"{study}: the study did not end; run experiments/live.py again to continue")
    status = json.loads(answer.stdout)
    return {"best": f"{status['best']['value']:.6g}", "seconds": f"{status['budget']['spent']:.4g}",
            "trials": sum(status["trials"].values())}


def results(arguments, experiment, seed):
    """A line of the result file for each policy."""
    budget = arguments.fulls * seconds_per_training(arguments.tables / "INDEX.csv", experiment)
    recording = (HERE / "studies/record" / f"{RECORDINGS[experiment]}.yaml").read_text()
    for policy in POLICIES:
        name = f"{experiment}_{arguments.fulls}full_{policy}_{seed}"
        study = arguments.dir / f"{name}.yaml"
        study.write_text(live_study(recording, name, policy, seed, budget))
        found = result(arguments.bapi, study)
        print(f"{name}: {found['best']} in {found['seconds']} s", flush=True)
        yield {"experiment": experiment, "policy": policy, "seed": str(seed), "fulls": str(arguments.fulls), **found}


def read_results(path):
    """Lines of the result file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def runs_of(line):
    """Which runs of the four policies a line belongs to, in the order of the file."""
    return list(RECORDINGS).index(line["experiment"]), int(line["fulls"]), int(line["seed"])


def add_results(path, lines):
    """In the order of the experiments."""
    ordered = sorted(read_results(path) + lines, key=runs_of)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="Directory of the data sets")
    parser.add_argument("--dir", type=pathlib.Path, default=HERE.parent / "build/experiments/live",
                        help="Directory for the studies")
    parser.add_argument("--tables", type=pathlib.Path, default=HERE / "tables", help="Directory of the recorded tables")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "live.csv", help="Where the results go")
    parser.add_argument("--only", nargs="+", choices=RECORDINGS, default=list(RECORDINGS), help="Experiments to run")
    parser.add_argument("--seeds", type=int, default=2, help="Number of seeds; default: 2")
    parser.add_argument("--fulls", type=int, default=10, help="Budget in full trainings; default: 10")
    parser.add_argument("--bapi", default="build/release/bapi", help="Program bapi")
    arguments = parser.parse_args()
    os.environ["BAPI_DATA"] = str(arguments.data.resolve())
    arguments.dir.mkdir(parents=True, exist_ok=True)
    for seed, experiment in itertools.product(range(arguments.seeds), arguments.only):
        wanted = runs_of({"experiment": experiment, "fulls": arguments.fulls, "seed": seed})
        if wanted not in map(runs_of, read_results(arguments.out)):
            add_results(arguments.out, list(results(arguments, experiment, seed)))


if __name__ == "__main__":
    main()

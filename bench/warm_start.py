#!/usr/bin/env python3
"""Measures what a warm start is worth: the table of docs/benchmarks.md#warm-start.

    bench/warm_start.py --bapi build/release/bapi --data DIRECTORY --out build/warm-start [--seeds 20] [--set judged]

Every pair is an earlier study, which `bapi` runs on one table, and a new study on another table. In a *shuffled* table
the curves were given to other configurations at random, anew for each seed, so that the earlier study says nothing.
Resumes after an interruption: OUT/runs.csv has what was simulated. DIRECTORY holds tables as docs/compare.md describes them.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import random
import statistics
import struct
import subprocess
import tempfile
import threading

BUDGETS = ["3full", "5full", "8full"]
LC, TS, RL = "lcbench_yahpo/lcbench_", "taskset/FixedTextRNNClassification_imdb_", "hpo_rl_bench/ppo_pong_seed"

# A change of the design is to be chosen on the first set and judged by the second.
PAIRS = {
    "chosen": {
        "related": [
            (RL + "0", RL + "1"),
            (LC + "126029", LC + "126025"),
            (LC + "3945", LC + "189873"),
            (LC + "167149", LC + "167152"),
            (LC + "189865", LC + "168908"),
            (TS + "patch32_LSTM128_bs128", TS + "patch32_GRU64_avg_bs128"),
            (TS + "patch32_VRNN128_tanh_bs128", TS + "patch32_IRNN64_relu_avg_bs128"),
        ],
        "shuffled": [
            (RL + "1", RL + "0"),
            (LC + "3945", LC + "126025"),
            (LC + "126025", LC + "3945"),
            (LC + "167152", LC + "167149"),
            (LC + "168908", LC + "189873"),
            (TS + "patch32_GRU64_avg_bs128", TS + "patch32_LSTM128_bs128"),
            (TS + "patch32_IRNN64_relu_avg_bs128", TS + "patch32_VRNN128_tanh_bs128"),
        ],
    },
    "judged": {
        "related": [
            (RL + "1", RL + "2"),
            (RL + "2", RL + "0"),
            (LC + "168329", LC + "189908"),
            (LC + "167181", LC + "34539"),
            (LC + "168335", LC + "146212"),
            (LC + "189862", LC + "167190"),
            (TS + "patch128_LSTM128_avg_bs64", TS + "patch128_LSTM128_embed128_bs64"),
            (TS + "patch32_VRNN64_relu_avg_bs128", TS + "patch32_LSTM128_E128_bs128"),
        ],
        "shuffled": [
            (RL + "0", RL + "2"),
            (LC + "189908", LC + "168329"),
            (LC + "34539", LC + "167181"),
            (LC + "146212", LC + "189862"),
            (LC + "167190", LC + "168335"),
            (LC + "168331", LC + "189909"),
            (TS + "patch128_LSTM128_embed128_bs64", TS + "patch32_LSTM128_E128_bs128"),
            (TS + "patch32_LSTM128_E128_bs128", TS + "patch128_LSTM128_avg_bs64"),
        ],
    },
}


def shuffled(source, target, seed):
    """A copy of a table in which the configurations are in another order and the curves in their own."""
    data = source.with_suffix(".bin").read_bytes()
    configs, dims = struct.unpack_from("<2I", data, 8)
    start, width = 32, 8 * dims
    rows = [data[start + i * width : start + (i + 1) * width] for i in range(configs)]
    random.Random(seed).shuffle(rows)
    target.with_suffix(".bin").write_bytes(data[:start] + b"".join(rows) + data[start + configs * width :])
    target.with_suffix(".json").write_text(source.with_suffix(".json").read_text())
    return target


class Runs:
    """Normalised regrets, each simulated once and kept in runs.csv."""

    FIELDS = ["kind", "old", "new", "budget", "seed", "normalised_regret"]

    def __init__(self, arguments):
        self.arguments = arguments
        self.file = arguments.out / "runs.csv"
        self.lock = threading.Lock()
        self.known = {}
        arguments.out.mkdir(parents=True, exist_ok=True)
        if self.file.exists():
            with open(self.file, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    self.known[tuple(row[name] for name in self.FIELDS[:-1])] = float(row["normalised_regret"])
        else:
            self.file.write_text(",".join(self.FIELDS) + "\n")

    def regret(self, kind, old, new, budget, seed):
        """Of the new study with this seed, after an earlier one on `old` with the same seed; kind "none": without."""
        key = (kind, "" if kind == "none" else old, new, budget, str(seed))
        with self.lock:
            if key in self.known:
                return self.known[key]
        value = self.simulated(kind, old, new, budget, seed)
        with self.lock:
            self.known[key] = value
            with open(self.file, "a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow([*key, repr(value)])
        return value

    def simulated(self, kind, old, new, budget, seed):
        data = self.arguments.data
        with tempfile.TemporaryDirectory() as scratch:
            source = data / old
            if kind == "shuffled":
                source = shuffled(source, pathlib.Path(scratch) / source.name, seed)
            warm = [] if kind == "none" else ["--from", f"{source}.bin", "--from-budget", "10full"]
            result = subprocess.run(
                [self.arguments.bapi, "simulate", data / f"{new}.bin", "-b", budget, "--seed", str(seed), "-f", "json", *warm],
                capture_output=True,
                text=True,
            )
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        return json.loads(result.stdout)["normalised_regret"]


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.fmean(values), error


def short(name):
    for prefix, word in ((LC, "LCBench "), (TS, "TaskSet "), (RL, "PPO, seed ")):
        if name.startswith(prefix):
            return word + name[len(prefix) :]
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bapi", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--set", choices=sorted(PAIRS), default="judged")
    parser.add_argument("--kind", choices=["related", "shuffled"])
    arguments = parser.parse_args()

    runs = Runs(arguments)
    print("| earlier study | new study | 3 full | 5 full | 8 full |\n|---|---|---|---|---|", flush=True)
    summary = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for kind, pairs in PAIRS[arguments.set].items():
            if arguments.kind not in (None, kind):
                continue
            all_differences = {budget: [] for budget in BUDGETS}
            for old, new in pairs:
                cells = []
                for budget in BUDGETS:
                    without, warm = (
                        list(pool.map(lambda seed: runs.regret(which, old, new, budget, seed), range(arguments.seeds)))
                        for which in ("none", kind)
                    )
                    differences = [b - a for a, b in zip(without, warm)]
                    gain, error = mean_and_error(differences)
                    all_differences[budget] += differences
                    cells.append(
                        f"{statistics.fmean(without):.3f} → {statistics.fmean(warm):.3f} ({gain:+.3f} ± {error:.3f})"
                    )
                mark = ", curves shuffled" if kind == "shuffled" else ""
                print(f"| {short(old)}{mark} | {short(new)} | {' | '.join(cells)} |", flush=True)
            summary[kind] = {budget: mean_and_error(values) for budget, values in all_differences.items()}
            cells = [f"{mean:+.3f} ± {error:.3f}" for mean, error in summary[kind].values()]
            print(f"| **{kind}, mean difference** | | {' | '.join(cells)} |", flush=True)
    (arguments.out / f"summary-{arguments.set}.json").write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()

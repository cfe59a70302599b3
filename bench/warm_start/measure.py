#!/usr/bin/env python3
"""Measures what a warm start is worth: the tables of docs/benchmarks.md#warm-start.

    bench/warm_start/measure.py --bench build/release/bench_warm_start --data DIRECTORY --out build/warm-start --seeds 20

Every pair is an earlier study, which `bapi` runs on one table, and a new study on another table. In a *shuffled* table
the curves were given to other configurations at random, anew for each seed, so that the earlier study says nothing; in a
*misleading* one the best curve was given to the worst configuration and so on. Resumes after an interruption:
OUT/runs.csv has what was simulated. DIRECTORY holds tables as docs/compare.md describes them.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess

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


class Runs:
    """Normalised regrets of every pair, budget and seed, kept in runs.csv: without a warm start, with one that only tries
    configurations, and with a whole one."""

    KEY = ["kind", "old", "new", "budget", "seed"]
    VALUES = ["none", "tried", "warm"]

    def __init__(self, arguments):
        self.arguments = arguments
        self.file = arguments.out / "runs.csv"
        self.known = {}
        arguments.out.mkdir(parents=True, exist_ok=True)
        if self.file.exists():
            with open(self.file, encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                if rows.fieldnames != self.KEY + self.VALUES:
                    raise SystemExit(f"{self.file} is of another version of this program: take another --out")
                for row in rows:
                    self.known[tuple(row[name] for name in self.KEY)] = tuple(float(row[name]) for name in self.VALUES)
        else:
            self.file.write_text(",".join(self.KEY + self.VALUES) + "\n")

    def has(self, pair, seed):
        return all((*pair, budget, str(seed)) in self.known for budget in BUDGETS)

    def simulate(self, pair, seed):
        kind, old, new = pair
        data = self.arguments.data
        command = [self.arguments.bench, kind, data / f"{old}.bin", data / f"{new}.bin", ",".join(BUDGETS), str(seed), "1"]
        result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        with open(self.file, "a", encoding="utf-8", newline="") as file:
            for budget, seed, *values in csv.reader(result.splitlines()):
                csv.writer(file).writerow([*pair, budget, seed, *values])
                self.known[(*pair, budget, seed)] = tuple(float(value) for value in values)

    def of(self, pair, budget, seeds):
        return [self.known[(*pair, budget, str(seed))] for seed in range(seeds) if self.has(pair, seed)]


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.fmean(values), error


def text(values):
    mean, error = mean_and_error(values)
    return f"{mean:+.3f} ± {error:.3f}"


def short(name):
    for prefix, word in ((LC, "LCBench "), (TS, "TaskSet "), (RL, "PPO, seed ")):
        if name.startswith(prefix):
            return word + name[len(prefix) :]
    return name


def table(runs, kinds, seeds):
    """What is known so far: a row for each pair, then means over all pairs, and of what they consist."""
    yield "| earlier study | new study | 3 full | 5 full | 8 full |\n|---|---|---|---|---|"
    summary = {}
    for kind, pairs in kinds.items():
        of_kind = {budget: [] for budget in BUDGETS}
        for old, new in pairs:
            cells = []
            for budget in BUDGETS:
                found = runs.of((kind, old, new), budget, seeds)
                if not found:
                    continue
                of_kind[budget] += found
                none, _, warm = (statistics.fmean(values) for values in zip(*found))
                cells.append(f"{none:.3f} → {warm:.3f} ({text([w - n for n, _, w in found])})")
            mark = "" if kind == "related" else f", {kind}"
            if cells:
                yield f"| {short(old)}{mark} | {short(new)} | {' | '.join(cells)} |"
        if not of_kind[BUDGETS[0]]:
            continue
        parts = {
            "mean difference": lambda n, t, w: w - n,
            "of it, what is tried first": lambda n, t, w: t - n,
            "of it, the evidence of the curves": lambda n, t, w: w - t,
        }
        for part, difference in parts.items():
            differences = {budget: [difference(*found) for found in of_kind[budget]] for budget in BUDGETS}
            summary[f"{kind}, {part}"] = {budget: mean_and_error(values) for budget, values in differences.items()}
            yield f"| **{kind}, {part}** | | {' | '.join(text(values) for values in differences.values())} |"
    yield json.dumps(summary)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--set", choices=sorted(PAIRS), default="judged")
    parser.add_argument("--kind", choices=["related", "shuffled", "misleading"], nargs="+", default=["related", "shuffled"])
    parser.add_argument("--show", action="store_true", help="Simulate nothing, show what is there")
    arguments = parser.parse_args()

    runs = Runs(arguments)
    of_set = PAIRS[arguments.set]
    # Misled are new studies by the tables that would have helped them.
    kinds = {kind: of_set["related" if kind == "misleading" else kind] for kind in arguments.kind}
    for seed in range(0 if arguments.show else arguments.seeds):  # every pair once before any twice
        for kind, pairs in kinds.items():
            for old, new in pairs:
                if not runs.has((kind, old, new), seed):
                    runs.simulate((kind, old, new), seed)
        print(f"seed {seed}", flush=True)
    *lines, summary = table(runs, kinds, arguments.seeds)
    print("\n".join(lines))
    (arguments.out / f"summary-{arguments.set}.json").write_text(summary + "\n")


if __name__ == "__main__":
    main()

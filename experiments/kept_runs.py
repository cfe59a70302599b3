#!/usr/bin/env python3
"""Keeps the runs of `make experiments-compare` in the repository, so that the next comparison continues from them.

  experiments/kept_runs.py restore DIR    begins DIR, a directory of `bapi compare`, with the kept runs
  experiments/kept_runs.py keep DIR       keeps the runs of DIR in experiments/runs.log.xz

A log does not say which version of bapi decided. So `restore` replays one seed of every policy, and leaves out the runs
of a policy that ends anywhere else than it did when its runs were kept, and those on a table that has changed. A DIR that
has runs already stays as it is.
"""

import argparse
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "report"))

from replay import SHARE_DIGITS  # noqa: E402

KEPT = HERE / "runs.log.xz"
PROBE_SEED, PROBE_BUDGET = 0, "10full"
SECONDS_DIGITS = 2   # the other digits of times and shares would be most of the file


def read_log(text):
    """Records of a log of `bapi compare`: lines about the comparison, and runs."""
    records = [json.loads(line) for line in text.splitlines()]
    return [r for r in records if "run" not in r], [r["run"] for r in records if "run" in r]


def write_log(about, runs):
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in [*about, *({"run": r} for r in runs)])


def rounded(number, digits):
    return float(f"{number:.{digits}g}")


def kept_form(run):
    """Without the times of single decisions. Regrets stay exact: policies that found the same share a rank."""
    trajectory = [[rounded(share, SHARE_DIGITS), regret] for share, regret in run["trajectory"]]
    return {**{name: run[name] for name in sorted(run) if name != "decision_times"}, "trajectory": trajectory,
            "overhead_seconds": rounded(run["overhead_seconds"], SECONDS_DIGITS)}


def key(run):
    return run["policy"], run["table"], run["budget"], run["workers"], run["seed"]


def keep(directory, kept=KEPT):
    about, runs = read_log((directory / "runs.log").read_text())
    text = write_log(about, [kept_form(run) for run in sorted(runs, key=key)])
    kept.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{kept.name}: {len(runs)} runs, {kept.stat().st_size / 1e6:.2f} MB")


def kept_text(kept=KEPT):
    return lzma.decompress(kept.read_bytes()).decode()


def probe(bapi, tables, policies):
    """What the policies, {label: name with options}, do today: the log of a comparison."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([bapi, "compare", "--tables", tables, "--policies", ",".join(f"{k}={v}" for k, v in policies.items()),
                        "--seeds", str(PROBE_SEED + 1), "--budgets", PROBE_BUDGET, "--out", scratch],
                       check=True, stdout=subprocess.DEVNULL)
        return read_log((pathlib.Path(scratch) / "runs.log").read_text())


def contents(about):
    return {record["table"]: record["contents"] for record in about if "table" in record}


def outcomes(runs):
    """{policy: {table: where the probe ends}}."""
    ends = {}
    for run in runs:
        if (run["seed"], run["budget"], run["workers"]) == (PROBE_SEED, PROBE_BUDGET, 1):
            ends.setdefault(run["policy"], {})[run["table"]] = run["final"], run["decisions"], rounded(run["spent"], 9)
    return ends


def still_valid(about, runs, today):
    """The part of a log that a run of today would repeat, and why the rest would not be."""
    about_today, runs_today = today
    kept_tables, tables = contents(about), contents(about_today)
    changed = sorted(name for name in kept_tables if tables.get(name) != kept_tables[name])
    reasons = [f"{name} has other curves now" for name in changed]
    ends, ends_today = outcomes(run for run in runs if run["table"] not in changed), outcomes(runs_today)
    moved = sorted(policy for policy in {run["policy"] for run in runs}
                   if not ends.get(policy) or any(ends_today.get(policy, {}).get(table) != end
                                                  for table, end in ends[policy].items()))
    reasons += [f"{policy} decides otherwise now" for policy in moved]
    return ([record for record in about if record.get("table") not in changed and record.get("policy") not in moved],
            [run for run in runs if run["table"] not in changed and run["policy"] not in moved], reasons)


def restore(directory, bapi, tables, kept=KEPT):
    log = directory / "runs.log"
    if log.exists():
        return
    about, runs = read_log(kept_text(kept))
    policies = {record["policy"]: record["is"] for record in about if "policy" in record}
    about, runs, reasons = still_valid(about, runs, probe(bapi, tables, policies))
    for reason in reasons:
        print(f"{reason}: its runs are repeated")
    directory.mkdir(parents=True, exist_ok=True)
    draft = log.with_suffix(".new")
    draft.write_text(write_log(about, runs))
    draft.rename(log)
    print(f"{log}: begins with {len(runs)} runs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("restore", "keep"))
    parser.add_argument("directory", type=pathlib.Path, help="Directory of bapi compare")
    parser.add_argument("--tables", type=pathlib.Path, default=HERE / "tables/INDEX.csv", help="The recorded tables")
    parser.add_argument("--bapi", default="build/release/bapi", help="Program bapi")
    arguments = parser.parse_args()
    if arguments.verb == "keep":
        keep(arguments.directory)
    else:
        restore(arguments.directory, arguments.bapi, arguments.tables)


if __name__ == "__main__":
    main()

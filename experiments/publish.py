#!/usr/bin/env python3
"""Turns finished recordings into tables of learning curves that bapi simulate and bapi compare read.

  experiments/publish.py build/experiments/record/*.bapi --out experiments/tables

A recording is a study with the policy `random`. Its table has every trial that was trained to the end or failed, in the
order in which they were drawn, at most --limit of them; unfinished trials are left out. INDEX.csv gets one line per
table, with machine, versions and date of the recording. A failed trial ends with a value that is not a number.
"""

import argparse
import csv
import datetime
import io
import json
import pathlib
import statistics
import subprocess
import sys

INDEX_COLUMNS = ["table", "configurations", "epochs", "metric", "goal", "best", "seconds_per_training",
                 "cost_ratio", "recorded", "processor", "system", "bapi", "libraries"]
STUDIES = pathlib.Path(__file__).resolve().parent / "studies" / "record"


def exported(bapi, study):
    answer = subprocess.run([bapi, "export", str(study), "-f", "json"], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def header(study_file):
    """The lines of the study file that say what is measured and tuned."""
    lines = study_file.read_text().splitlines()
    metric = next(line for line in lines if line.startswith("metric:"))
    return [metric, *lines[lines.index("parameters:"):], "cost_unit: s"]


def whole_trials(document, limit):
    return [t for t in document["trials"] if t["state"] in ("completed", "failed") and t["curve"]][:limit]


def number(value, digits):
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def table_text(document, trials, study_file):
    names = list(trials[0]["config"])
    metric = document["study"]["metric"]
    out = io.StringIO()
    for line in header(study_file):
        out.write(f"# {line}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "epoch", metric, "cost"])
    for trial in trials:
        config = [number(trial["config"][name], 6) for name in names]
        for point in trial["curve"]:
            writer.writerow([*config, point["epoch"], number(point["value"], 6), number(point["cost"], 4)])
        if trial["state"] == "failed":
            writer.writerow([*config, len(trial["curve"]) + 1, "nan", number(trial["curve"][-1]["cost"], 4)])
    return out.getvalue()


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def libraries(study):
    names = ["libtorch1.13", "libopenblas0-serial"] if "network" in study["command"][0] else ["libmujoco2.2.2"]
    found = []
    for name in names:
        answer = subprocess.run(["dpkg-query", "--show", name], capture_output=True, text=True)
        found += answer.stdout.split("\n")[:1]
    return " + ".join(" ".join(line.split()) for line in found if line)


def index_line(name, document, trials, study_dir):
    study = document["study"]
    last = [t for t in trials if t["state"] == "completed"]
    values = [p["value"] for t in trials for p in t["curve"]]
    costs = sorted(sum(p["cost"] for p in t["curve"]) / len(t["curve"]) for t in last)
    full = [sum(p["cost"] for p in t["curve"]) for t in last]
    date = datetime.datetime.fromtimestamp((study_dir / "study.db").stat().st_mtime, datetime.timezone.utc)
    return {"table": name, "configurations": len(trials), "epochs": study["epochs"]["max"], "metric": study["metric"],
            "goal": study["goal"], "best": number((max if study["goal"] == "maximize" else min)(values), 5),
            "seconds_per_training": number(statistics.mean(full), 3), "cost_ratio": number(costs[-1] / costs[0], 3),
            "recorded": date.date().isoformat(), "processor": processor(), "system": study["provenance"]["system"],
            "bapi": study["provenance"]["bapi"], "libraries": libraries(study)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="+", type=pathlib.Path, help="Study directories of recordings")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="Directory for the tables and INDEX.csv")
    parser.add_argument("--limit", type=int, default=200, help="Largest number of configurations; default: 200")
    parser.add_argument("--least", type=int, default=100, help="Refuse fewer configurations; default: 100")
    parser.add_argument("--bapi", default="build/release/bapi", help="Program bapi")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    index = arguments.out / "INDEX.csv"
    lines = {}
    if index.exists():
        with index.open(newline="") as file:
            lines = {line["table"]: line for line in csv.DictReader(file)}
    for study in arguments.studies:
        document = exported(arguments.bapi, study)
        trials = whole_trials(document, arguments.limit)
        if len(trials) < arguments.least:
            sys.exit(f"{study}: {len(trials)} finished configurations, expected at least {arguments.least}; "
                     "continue the recording with a larger budget")
        name = f"{document['study']['name']}.csv"
        text = table_text(document, trials, STUDIES / f"{document['study']['name']}.yaml")
        (arguments.out / name).write_text(text)
        lines[name] = index_line(name, document, trials, study)
        print(f"{name}: {len(trials)} configurations, {len(text) / 1e6:.2f} MB")
    with index.open("w", newline="") as file:
        writer = csv.DictWriter(file, INDEX_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines[name] for name in sorted(lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Turns finished recordings into tables of learning curves that bapi simulate and bapi compare read.

  experiments/publish.py build/experiments/record/*.bapi --out experiments/tables

A recording is a study with the policy `random`. Its table has every trial that was trained to the end or failed, in the
order in which they were drawn, at most --limit of them; unfinished trials are left out. A failed trial ends with a value
that is not a number. The table's header and its line of INDEX.csv name machine, versions and date of the recording.

A recording whose experiments differ in their number of epochs only (studies/NAME-25.yaml and NAME-50.yaml) becomes a
table for each of them: the first epochs of the same trials.
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
STUDIES = pathlib.Path(__file__).resolve().parent / "studies"


def exported(bapi, study):
    answer = subprocess.run([bapi, "export", str(study), "-f", "json"], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def header(study_file, recording):
    """How it was recorded, as a comment, and the lines of the study file that say what is measured and tuned."""
    lines = study_file.read_text().splitlines()
    metric = next(line for line in lines if line.startswith("metric:"))
    return [f"# recorded {recording['recorded']} by bapi {recording['bapi']} with {recording['libraries']}",
            f"# on {recording['processor']}, {recording['system']}; cost is processor time of one thread",
            metric, *lines[lines.index("parameters:"):], "cost_unit: s"]


def whole_trials(document, limit):
    """A failed trial counts even if no epoch of it was reported: a policy has to find out."""
    return [t for t in document["trials"] if t["state"] == "failed" or t["state"] == "completed" and t["curve"]][:limit]


def lengths(name, epochs):
    """Name and epochs of each table that a recording becomes."""
    studies = sorted(STUDIES.glob(f"{name}-[0-9][0-9].yaml"))
    return [(study.stem, int(study.stem[-2:])) for study in studies] or [(name, epochs)]


def first_epochs(trial, count):
    if len(trial["curve"]) < count:
        return trial
    return {**trial, "curve": trial["curve"][:count], "state": "completed"}


def number(value, digits):
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def table_text(trials, study_file, index_line):
    names = list(trials[0]["config"])
    out = io.StringIO()
    for line in header(study_file, index_line):
        out.write(f"# {line}\n")
    usual_cost = statistics.median(point["cost"] for trial in trials for point in trial["curve"])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "epoch", index_line["metric"], "cost"])
    for trial in trials:
        config = [number(trial["config"][name], 6) for name in names]
        for point in trial["curve"]:
            writer.writerow([*config, point["epoch"], number(point["value"], 6), number(point["cost"], 4)])
        if trial["state"] == "failed":
            writer.writerow([*config, len(trial["curve"]) + 1, "nan", number(failure_cost(trial, usual_cost), 4)])
    return out.getvalue()


def failure_cost(trial, usual_cost):
    """Of the epoch that failed: what the trial cost besides its other epochs, else what they cost."""
    return trial["overhead"] or (trial["curve"][-1]["cost"] if trial["curve"] else usual_cost)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def libraries(study):
    is_network = any(word.endswith("train_network") for word in study["command"])
    names = ["libtorch1.13", "libopenblas0-serial"] if is_network else ["libmujoco2.2.2"]
    found = []
    for name in names:
        answer = subprocess.run(["dpkg-query", "--show", name], capture_output=True, text=True)
        found += answer.stdout.split("\n")[:1]
    return " + ".join(" ".join(line.split()) for line in found if line)


def index_line(name, epochs, document, trials, study_dir):
    study = document["study"]
    last = [t for t in trials if t["state"] == "completed"]
    values = [p["value"] for t in trials for p in t["curve"]]
    costs = sorted(sum(p["cost"] for p in t["curve"]) / len(t["curve"]) for t in last)
    full = [sum(p["cost"] for p in t["curve"]) for t in last]
    date = datetime.datetime.fromtimestamp((study_dir / "study.db").stat().st_mtime, datetime.timezone.utc)
    return {"table": name, "configurations": len(trials), "epochs": epochs, "metric": study["metric"],
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
        recording = document["study"]["name"]
        for name, epochs in lengths(recording, document["study"]["epochs"]["max"]):
            table = f"{name}.csv"
            shortened = [first_epochs(trial, epochs) for trial in trials]
            lines[table] = index_line(table, epochs, document, shortened, study)
            text = table_text(shortened, STUDIES / "record" / f"{recording}.yaml", lines[table])
            (arguments.out / table).write_text(text)
            print(f"{table}: {len(trials)} configurations, {len(text) / 1e6:.2f} MB")
    with index.open("w", newline="") as file:
        writer = csv.DictWriter(file, INDEX_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines[name] for name in sorted(lines))


if __name__ == "__main__":
    main()

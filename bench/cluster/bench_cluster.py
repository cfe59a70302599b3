#!/usr/bin/env python3
"""What a database carries, and how soon another leader takes over: against a private PostgreSQL server on 127.0.0.1.

bench_cluster_load does the first; here the leader of a study with 100,000 events is killed while a worker trains.
Prints a table; --json FILE writes a list of {name, n, value, unit, floor, ratio}.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = next(p for p in (HERE, *HERE.parents) if (p / "tests" / "support" / "private_database.py").exists())
sys.path.append(str(SOURCE / "tests" / "support"))
from private_database import PrivateDatabase, missing  # noqa: E402

# What has to be reached, at least or at most so much: by name, some for one n alone.
TARGETS = {
    ("a decision of bapi, by open segments", 1000): ("<=", 90),
    "deliveries per second": (">=", 1000),
    "reports recorded per second": (">=", 95),
    "delivery to log, p99": ("<=", 250),
    "segment end to next order, median": ("<=", 50),
    "another leader writes after": ("<=", 20),
}

TRAINER = """#!/usr/bin/env python3
import json, os, time
last = int(os.environ["BAPI_FROM_EPOCH"])
with open(os.environ["BAPI_REPORT"], "a", buffering=1) as report:
    for epoch in range(last + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
        time.sleep(0.5)
        report.write(json.dumps({"epoch": epoch, "accuracy": 1.0 - 1.0 / (epoch + 1)}) + "\\n")
"""


class Study:
    def __init__(self, database, bapi, place):
        self.database, self.bapi, self.place = database, bapi, place
        self.url = database.url + "#replay"
        self.started = []
        trainer = place / "train"
        trainer.write_text(TRAINER)
        trainer.chmod(0o755)

    def begin(self, *words):
        with open(self.place / f"out{len(self.started)}", "w") as out:
            process = subprocess.Popen([self.bapi, *words], cwd=self.place, stdout=out, stderr=out)
        self.started.append(process)
        return process

    def ask(self, column):
        rows = self.database.sql(f"SELECT coalesce({column}::text, '') FROM bapi.study WHERE name = 'replay'")
        return rows.splitlines()[2].strip()

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it takes too long; see " + str(self.place)
            time.sleep(0.05)

    def replace_leader(self):
        """Seconds from the death of a leader to the next one's lock, and to its first event."""
        leader = self.begin("lead", self.url, "--quiet")
        self.wait(lambda: self.ask("leader").startswith(f"{leader.pid} "))
        worker = self.begin("worker", self.url, "--dir", str(self.place / "files"), "--slots", "4")
        events = int(self.ask("last_seq"))
        self.wait(lambda: int(self.ask("last_seq")) > events + 20)
        leader.kill()
        leader.wait()
        died = time.monotonic()
        term, last = self.ask("term"), int(self.ask("last_seq"))
        self.wait(lambda: self.ask("term") != term)
        locked = time.monotonic() - died
        self.wait(lambda: int(self.ask("last_seq")) > last)
        leads = time.monotonic() - died
        worker.send_signal(signal.SIGTERM)
        worker.wait(60)
        return locked, leads

    def stop(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()


def measure(bapi, load, words, place):
    database = PrivateDatabase(bapi, place)
    assert database.started.returncode == 0, database.started.stderr
    try:
        figures = place / "load.json"
        subprocess.run([load, database.url, "--json", figures, *words], check=True)
        found = json.loads(figures.read_text())
        files = place / "study"
        files.mkdir()
        study = Study(database, bapi, files)
        try:
            locked, leads = study.replace_leader()
        finally:
            study.stop()
        for name, value in (("another leader has the lock after", locked), ("another leader writes after", leads)):
            found.append({"name": name, "n": 100_000, "value": value, "unit": "s", "floor": None, "ratio": None})
        return found
    finally:
        database.stop()


def judged(figure):
    """Whether it meets its target, if there is one."""
    name = figure["name"]
    found = TARGETS.get(name) or TARGETS.get((name, figure["n"]))
    if not found:
        return ""
    relation, target = found
    met = figure["value"] >= target if relation == ">=" else figure["value"] <= target
    return f"{relation} {target:,}: {'met' if met else 'missed'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bapi", default=str(HERE / "bapi"))
    parser.add_argument("--load", default=str(HERE / "bench_cluster_load"))
    parser.add_argument("--dir", help="directory for scratch files; decides about the disk")
    parser.add_argument("--json", help="file for the figures")
    options, words = parser.parse_known_args()
    if missing():
        sys.exit(missing())
    # PostgreSQL's user has to come into it, also if root calls.
    place = pathlib.Path(tempfile.mkdtemp(prefix="bapi-bench-", dir=options.dir)).resolve()
    for folder in (place, *place.parents):
        if os.geteuid() == 0 and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    loads = os.getloadavg()
    try:
        figures = measure(os.path.abspath(options.bapi), os.path.abspath(options.load), words, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=2) + "\n")
    print(f"The load of the machine was {loads[0]:.0f} at the beginning and {os.getloadavg()[0]:.0f} at the end; figures "
          "of a busy machine are those of its other programs.")
    for figure in figures:
        print(f"{figure['name']:40} {figure['n']:>8} {figure['value']:12.4g} {figure['unit']:4} {judged(figure)}".rstrip())


if __name__ == "__main__":
    main()

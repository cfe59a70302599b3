#!/usr/bin/env python3
"""Recordings become tables: publish.py on a recording made up here."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ["lr", "batch", "l2", "momentum", "layers", "units"]


def trial(number, state, epochs, overhead=0.0):
    curve = [{"epoch": e, "value": 1 / (number + e), "cost": 0.25} for e in range(1, epochs + 1)]
    return {"trial": number, "state": state, "config": {name: 0.001 * (number + 1) for name in NAMES}, "curve": curve,
            "overhead": overhead}


def recording(trials):
    return {"study": {"name": "fcnet-mnist", "metric": "error", "goal": "minimize", "epochs": {"min": 1, "max": 50},
                      "command": ["env", "build/train_network", "fcnet-mnist"],
                      "provenance": {"system": "Linux", "bapi": "0.2.0"}}, "trials": trials}


class Publish(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)
        self.study = self.directory / "fcnet-mnist.bapi"
        self.study.mkdir()
        (self.study / "study.db").touch()

    def publish(self, trials, least):
        exporter = self.directory / "bapi"   # stands for `bapi export`
        exporter.write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps(recording(trials)))})\n")
        exporter.chmod(0o755)
        return subprocess.run([sys.executable, ROOT / "experiments/publish.py", self.study, "--out", self.directory,
                               "--least", str(least), "--bapi", exporter], capture_output=True, text=True)

    def rows(self, table):
        text = (self.directory / table).read_text()
        return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))

    def test_experiments_of_25_and_50_epochs_come_from_one_recording(self):
        answer = self.publish([trial(0, "completed", 50), trial(1, "completed", 50)], 2)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        short, full = self.rows("fcnet-mnist-25.csv"), self.rows("fcnet-mnist-50.csv")
        self.assertEqual(len(short), 2 * 25)
        self.assertEqual(short, [row for row in full if int(row["epoch"]) <= 25])

    def test_a_failure_stays_in_the_tables_that_reach_it(self):
        self.publish([trial(0, "completed", 50), trial(1, "failed", 30, overhead=0.5), trial(2, "failed", 0)], 3)
        lost = {table: [(row["epoch"], row["cost"]) for row in self.rows(table) if row["error"] == "nan"]
                for table in ("fcnet-mnist-25.csv", "fcnet-mnist-50.csv")}
        self.assertEqual(lost, {"fcnet-mnist-25.csv": [("1", "0.25")], "fcnet-mnist-50.csv": [("31", "0.5"), ("1", "0.25")]})

    def test_unfinished_trials_are_left_out_and_too_few_are_refused(self):
        trials = [trial(0, "completed", 50), trial(1, "interrupted", 10)]
        answer = self.publish(trials, 2)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("1 finished configurations, expected at least 2", answer.stderr)
        self.publish(trials, 1)
        self.assertEqual(len(self.rows("fcnet-mnist-50.csv")), 50)

    def test_header_and_index_say_how_it_was_recorded(self):
        self.publish([trial(0, "completed", 50)], 1)
        self.assertIn("# # recorded", (self.directory / "fcnet-mnist-25.csv").read_text())
        with (self.directory / "INDEX.csv").open(newline="") as file:
            lines = {line["table"]: line for line in csv.DictReader(file)}
        self.assertEqual(lines["fcnet-mnist-25.csv"]["epochs"], "25")
        self.assertEqual(float(lines["fcnet-mnist-50.csv"]["seconds_per_training"]), 12.5)


if __name__ == "__main__":
    unittest.main()

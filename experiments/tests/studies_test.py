#!/usr/bin/env python3
"""The study files of experiments/ as people use them: bapi doctor, and a recording that becomes a table.

Usage: studies_test.py BAPI PROGRAM...    the training programs that this build has
"""

import collections
import csv
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

BAPI = ""
PROGRAMS = set()
ROOT = pathlib.Path(__file__).resolve().parents[2]
STUDIES = ROOT / "experiments" / "studies"
TABLES = ROOT / "experiments" / "tables"


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, **environment})


def write_idx(path, sizes, classes=None):
    """Random images, or labels that go round."""
    count = 1
    for size in sizes:
        count *= size
    data = random.Random(1).randbytes(count) if classes is None else bytes(i % classes for i in range(count))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + data)


def write_random_data(root):
    """As much of every data set as the medium size takes."""
    for name, count in (("train", 17600), ("t10k", 10)):
        write_idx(root / f"mnist/{name}-images-idx3-ubyte", [count, 28, 28])
        write_idx(root / f"mnist/{name}-labels-idx1-ubyte", [count], 10)
    write_idx(root / "olivetti/faces-idx3-ubyte", [400, 64, 64])
    write_idx(root / "olivetti/subjects-idx1-ubyte", [400], 40)
    for folder in ("cifar10", "svhn"):
        write_idx(root / f"{folder}/train-images-idx4-ubyte", [4600, 3, 32, 32])
        write_idx(root / f"{folder}/train-labels-idx1-ubyte", [4600], 10)
    rows = "".join(",".join(str((i * j) % 100) for j in range(54)) + f",{i % 7 + 1}\n" for i in range(8100))
    (root / "covtype").mkdir()
    (root / "covtype" / "covtype.csv").write_text(rows)


def is_built(study):
    text = study.read_text()
    return any(f"experiments/{program}," in text and (program != "train_agent" or "a2c" not in text or has_physics())
               for program in PROGRAMS)


def has_physics():
    return "a2c-reacher" in run(ROOT / "build/release/experiments/train_agent", "--help").stdout


class Studies(unittest.TestCase):
    def test_there_are_thirteen_of_each_size(self):
        names = sorted(file.name for file in STUDIES.glob("*.yaml"))
        self.assertEqual(len(names), 13)
        self.assertEqual(names, sorted(file.name for file in (STUDIES / "small").glob("*.yaml")))

    def test_there_are_ten_recordings_and_three_of_each_agent(self):
        names = [file.stem for file in (STUDIES / "record").glob("*.yaml")]
        tasks = collections.Counter(name[:-2] if name[-2:] in ("-0", "-1", "-2") else name for name in names)
        self.assertEqual(len(tasks), 10)
        self.assertEqual({task for task, count in tasks.items() if count == 3}, {"ddqn-cartpole", "a2c-reacher", "a2c-pendulum"})
        self.assertEqual(set(tasks.values()), {1, 3})

    def test_tables_have_a_hundred_configurations_and_say_where_they_come_from(self):
        with (TABLES / "INDEX.csv").open(newline="") as file:
            lines = {line["table"]: line for line in csv.DictReader(file)}
        self.assertEqual(sorted(lines), sorted(table.name for table in TABLES.glob("*.csv") if table.name != "INDEX.csv"))
        for table, line in lines.items():
            rows = [row.split(",") for row in (TABLES / table).read_text().splitlines() if not row.startswith("#")]
            configurations = {tuple(row[:-3]) for row in rows[1:]}
            self.assertEqual(len(configurations), int(line["configurations"]), table)
            self.assertGreaterEqual(len(configurations), 100, table)
            self.assertEqual(max(int(row[-3]) for row in rows[1:]), int(line["epochs"]), table)
            for fact in ("recorded", "processor", "system", "bapi", "libraries"):
                self.assertNotIn(line[fact], ("", "unknown"), f"{table}: {fact}")

    def test_every_study_passes_the_doctor(self):
        with tempfile.TemporaryDirectory() as scratch:
            data = pathlib.Path(scratch)
            if "train_network" in PROGRAMS:
                write_random_data(data)
            for study in sorted(STUDIES.rglob("*.yaml")):
                if is_built(study) and not study.stem.endswith(("-1", "-2")):   # the recordings of an agent's other seeds
                    answer = run(BAPI, "doctor", study, BAPI_DATA=str(data))
                    self.assertEqual(answer.returncode, 0, f"{study}\n{answer.stdout}{answer.stderr}")

    def test_a_recording_becomes_a_table_that_simulate_reads(self):
        with tempfile.TemporaryDirectory() as scratch:
            record = STUDIES / "record" / "ddqn-cartpole-0.yaml"
            answer = run(BAPI, "run", record, "--budget", "9 epochs", "--epochs", "3", "--dir", scratch, "--quiet")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            tables = pathlib.Path(scratch) / "tables"
            answer = run(ROOT / "experiments/publish.py", f"{scratch}/ddqn-cartpole-0.bapi", "--out", tables,
                         "--least", "3", "--bapi", BAPI)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            text = (tables / "ddqn-cartpole-0.csv").read_text()
            self.assertEqual(sum(not line.startswith("#") for line in text.splitlines()), 1 + 3 * 3)
            answer = run(BAPI, "simulate", tables / "ddqn-cartpole-0.csv", "--policy", "random", "--budget", "2full")
            self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_live_runs_are_written_down_and_continue(self):
        if not has_physics():
            self.skipTest("without MuJoCo")
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "live.csv"
            command = [ROOT / "experiments/live.py", "--data", scratch, "--dir", f"{scratch}/live", "--out", out, "--only",
                       "a2c-pendulum", "--seeds", "1", "--fulls", "1", "--bapi", BAPI]
            answer = run(*command)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            first = out.read_text()
            self.assertEqual([line.split(",")[1] for line in first.splitlines()[1:]], ["bapi-4", "hyperband", "ei", "random"])
            out.unlink()   # the studies are there, so that nothing is trained again
            self.assertEqual(run(*command).returncode, 0)
            self.assertEqual(out.read_text(), first)
            again = run(*command, "--dir", f"{scratch}/other")   # neither where the results are there
            self.assertEqual((again.returncode, again.stdout), (0, ""))
            self.assertEqual(out.read_text(), first)

    def test_missing_data_are_named(self):
        if "train_network" not in PROGRAMS:
            self.skipTest("without train_network")
        with tempfile.TemporaryDirectory() as scratch:
            answer = run(ROOT / "build/release/experiments/train_network", "logreg-mnist", "--data", scratch,
                         "--lr", "0.1", "--l2", "0", "--batch", "10")
            self.assertEqual(answer.returncode, 2)
            self.assertIn("train-images-idx3-ubyte", answer.stderr)


if __name__ == "__main__":
    BAPI, *programs = sys.argv[1:]
    PROGRAMS = set(programs)
    unittest.main(argv=sys.argv[:1])

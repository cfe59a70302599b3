"""Drives the built program in temporary directories. BAPI names the program."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
from delays import KILL_LATENCY, Delays, latency  # noqa: E402

BAPI = os.environ.get("BAPI", str(pathlib.Path(__file__).parents[2] / "build/release/bapi"))
HERE = pathlib.Path(__file__).parent
DELAYS = Delays()
MOST_UNREPORTED = 3  # epochs in a row that a program may have saved and not reported when it was ended
PATIENCE = 200  # seconds that a busy machine may take for what should take a few

STUDY = """
name: {name}
command: ["{python}", "{here}/trainer.py", "--lr", "${{lr}}", "--units", "${{units}}", "--delay", "{delay}"]
metric: {{name: accuracy, goal: maximize}}
budget: {budget}
epochs: {{min: 1, max: 9}}
workers: {workers}
seed: 7
grace: 1s
policy: {policy}
parameters:
  lr: {{min: 1.0e-4, max: 1, log: true}}
  units: {{min: 16, max: 256, type: int}}
"""


class EndToEnd(unittest.TestCase):
    STATED_LATENCY = KILL_LATENCY

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="bapi-e2e-")
        self.started = []
        self.began = time.monotonic()

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def environment(self):
        return {**os.environ, "BAPI": os.path.abspath(BAPI), "PYTHONDONTWRITEBYTECODE": "1"}

    def bapi(self, *arguments, code=0, **options):
        """Runs the program to its end and checks its exit code."""
        result = subprocess.run(
            [os.path.abspath(BAPI), *arguments],
            cwd=self.dir,
            env=options.pop("env", self.environment()),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            **options,
        )
        what = f"bapi {' '.join(arguments)}\n--- stdout\n{result.stdout}\n--- stderr\n{result.stderr}"
        self.assertEqual(result.returncode, code, what)
        return result

    def json(self, *arguments, **options):
        return json.loads(self.bapi(*arguments, "-f", "json", **options).stdout)

    def start(self, *arguments):
        """Starts the program in the background, in a session of its own as a terminal would."""
        process = subprocess.Popen(
            [os.path.abspath(BAPI), *arguments],
            cwd=self.dir,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def study(self, name="mlp", budget='"40 epochs"', delay=0.0, workers=1, policy="hyperband", file="study.yaml"):
        text = STUDY.format(
            name=name, budget=budget, delay=delay, workers=workers, policy=policy, python=sys.executable, here=HERE
        )
        self.write(file, text)
        return file

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as file:
            file.write(text)
        return name

    def latency(self, workers=1):
        """Seconds by which a budget in seconds may be passed on a machine as busy as this one was since the test began."""
        return workers * latency(DELAYS, self.began, self.STATED_LATENCY)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def wait_for(self, condition, what, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.02)
        self.fail(f"timed out waiting for {what}")

    def wait_for_reports(self, count, study="mlp"):
        def enough():
            if not os.path.exists(self.path(f"{study}.bapi", "study.db")):
                return False
            return sum(trial["epochs"] for trial in self.json("trials", study)) >= count

        self.wait_for(enough, f"{count} reports")

    def check_books(self, study="mlp"):
        """The invariants that hold for every study at every time."""
        status = self.json("status", study)
        ledger = self.json("ledger", study)
        spent = 0.0
        for row in ledger:
            spent += row["cost"]
        self.assertEqual(spent, status["budget"]["spent"])
        epochs = [(row["trial"], row["epoch"]) for row in ledger if row["kind"] in ("epoch", "ahead")]
        self.assertEqual(len(epochs), len(set(epochs)), "an epoch was charged twice")
        trials = self.json("trials", study)
        self.assertEqual([trial["trial"] for trial in trials], list(range(len(trials))))
        for trial in trials:
            self.check_epochs(study, trial, sorted(epoch for number, epoch in epochs if number == trial["trial"]))
        self.assertEqual({number for number, _ in epochs} - {trial["trial"] for trial in trials}, set())
        return status

    def check_epochs(self, study, trial, reported):
        """All epochs of a trial are there, but for those that a process saved and was ended before it could report."""
        self.assertEqual(reported[-1] if reported else 0, trial["epochs"])
        gaps = [later - earlier - 1 for earlier, later in zip([0, *reported], reported) if later > earlier + 1]
        self.assertLessEqual(max(gaps, default=0), MOST_UNREPORTED, (trial, reported))
        log = pathlib.Path(self.path(f"{study}.bapi", "trials", f"{trial['trial']:04}", "log"))
        if gaps and log.exists():
            processes = sum(line.startswith("[bapi] epochs ") for line in log.read_text(errors="replace").splitlines())
            self.assertLess(len(gaps), processes, (trial, reported))


def main():
    unittest.main(verbosity=2)

"""What the reliability tests share: studies whose programs run away, and eyes on every process of theirs."""

import os
import shutil
import stat
import time

from harness import BAPI, EndToEnd

TRAINER = """#!/bin/bash
# An epoch per 0.1 s.
epoch=$BAPI_FROM_EPOCH
while [ "$epoch" -lt "$BAPI_MAX_EPOCH" ]; do
  sleep 0.1
  epoch=$((epoch + 1))
  echo "{\\"epoch\\": $epoch, \\"accuracy\\": 0.5}" >> "$BAPI_REPORT"
done
"""

STUDY = """
name: s
command: {command}
metric: {{name: accuracy, goal: maximize}}
budget: {budget}
epochs: {{max: 1000}}
grace: 1s
workers: {workers}
max_failures: 1000
policy: {policy}
parameters: {{lr: {{min: 1.0e-4, max: 1, log: true}}}}
"""

# Ways in which launchers hide a program from whoever only knows the process that was started, or its group.
WRAPPERS = {
    "shell": '[bash, -c, "./tr; true"]',
    "timeout": '[bash, -c, "timeout 10m ./tr; echo done"]',
    "job control": '[bash, -c, "set -m; ./tr & wait; true"]',
    "session": '[bash, -c, "setsid --fork ./tr; sleep 1000"]',
}


def is_stopped(pid):
    """Also of one that has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"Z", b"X")
    except OSError:
        return True


class Reliability(EndToEnd):
    # Under faults the guardian ends programs, which it looks for five times a second.
    STATED_LATENCY = 1.0

    def setUp(self):
        super().setUp()
        self.program("tr", TRAINER)

    def program(self, name, text):
        self.write(name, text)
        os.chmod(self.path(name), stat.S_IRWXU)

    def reliable_study(self, command="[./tr]", budget="4s", workers=1, policy="random", extra=""):
        text = STUDY.format(command=command, budget=budget, workers=workers, policy=policy)
        return self.write("s.yaml", text + extra + "\n")

    def bapi_copy(self):
        """The program where every user can reach it."""
        shutil.copy(os.path.abspath(BAPI), self.path("bapi"))
        return self.path("bapi")

    def trainers(self, folder=""):
        """Every living process that carries the mark of a study in this test's directory, or in `folder` of it."""
        mark = ("BAPI_DIR=" + os.path.join(self.dir, folder)).encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if any(variable.startswith(mark) for variable in file.read().split(b"\0")):
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def wait_until_nobody_trains(self):
        self.wait_for(lambda: not self.trainers(), "the end of every trainer")

    def wait_until_all_are_stopped(self):
        self.wait_for(lambda: all(is_stopped(pid) for pid in self.trainers()), "the stop of every trainer")

    def report_lines(self):
        total = 0
        for trial in os.listdir(self.path("s.bapi", "trials")):
            try:
                with open(self.path("s.bapi", "trials", trial, "report"), "rb") as file:
                    total += file.read(1 << 20).count(b"\n")
            except OSError:
                pass
        return total

    def wait_for_lines(self, count):
        self.wait_for(lambda: os.path.isdir(self.path("s.bapi", "trials")) and self.report_lines() >= count, "reports")

    def spent(self, study="s"):
        return self.check_books(study)["budget"]["spent"]

    def process_files(self):
        trials = self.path("s.bapi", "trials")
        return [trial for trial in os.listdir(trials) if os.path.exists(os.path.join(trials, trial, "process"))]

    def assert_nothing_grows(self, seconds=1.0):
        before = self.report_lines()
        time.sleep(seconds)
        self.assertEqual(self.report_lines(), before)

    def kill_and_wait(self, process):
        process.kill()
        process.communicate()

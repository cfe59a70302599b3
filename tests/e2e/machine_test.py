"""The machine's troubles are not the trials': full disks, too few files and processes, wrong clocks, sleep."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from harness import BAPI, PATIENCE, main
from reliability import Reliability


@unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small disk")
class FullDisk(Reliability):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("s.bapi"))
        small = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", self.path("s.bapi")]
        if subprocess.run(small, capture_output=True).returncode != 0:
            self.skipTest("cannot mount")
        # The report of an epoch is tried until there is room for it.
        self.program("patient", """#!/bin/bash
epoch=$BAPI_FROM_EPOCH
while [ "$epoch" -lt "$BAPI_MAX_EPOCH" ]; do
  sleep 0.05
  epoch=$((epoch + 1))
  until echo "{\\"epoch\\": $epoch, \\"accuracy\\": 0.5}" 2> /dev/null >> "$BAPI_REPORT"; do sleep 0.05; done
done
""")

    def tearDown(self):
        subprocess.run(["umount", "-l", self.path("s.bapi")])
        super().tearDown()

    def fill(self):
        with open(self.path("s.bapi", "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass

    def run_until_full(self):
        process = self.start("run", self.reliable_study("[./patient]", budget="4s", workers=2))
        self.wait_for_lines(4)
        self.fill()
        said = b""
        while b"training is paused" not in said:
            line = process.stderr.readline()
            self.assertTrue(line, f"it ended without a word about the disk: {said!r}")
            said += line if isinstance(line, bytes) else line.encode()
        return process

    def test_pauses_training_until_there_is_room(self):
        process = self.run_until_full()
        time.sleep(2.0)
        os.remove(self.path("s.bapi", "filler"))
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        self.assertLess(self.spent(), 4 + self.latency(2))
        self.assertEqual(self.trainers(), [])

    def test_need_not_be_waited_for(self):
        process = self.run_until_full()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3)
        self.assertEqual(self.trainers(), [])
        os.remove(self.path("s.bapi", "filler"))
        self.bapi("resume", "s", "--quiet")
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        self.assertLess(self.spent(), 4 + self.latency(2))


class FullMachine(Reliability):
    def run_limited(self, limit, *prefix):
        self.reliable_study(budget="8s", workers=4)
        limited = [*prefix, "bash", "-c", f'ulimit {limit}; exec "$0" run s.yaml', self.bapi_copy()]
        result = subprocess.run(
            limited, cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE, env=self.environment()
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("trying again", result.stderr)
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        self.assertLess(self.spent(), 8 + self.latency(4))
        return result.stderr

    def test_too_few_open_files_fail_no_trial(self):
        self.assertIn("Too many open files", self.run_limited("-n 22"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs a user without processes: root, setpriv")
    def test_too_few_processes_fail_no_trial(self):
        user = 54321
        os.chown(self.dir, user, user)
        os.chown(self.path("tr"), user, user)
        prefix = ["setpriv", f"--reuid={user}", "--clear-groups"]
        self.assertIn("cannot start a process", self.run_limited("-u 6", *prefix))


    def test_a_limit_on_the_size_of_files_ends_the_run_in_order(self):
        self.reliable_study(budget="20s", workers=2)
        limited = ["prlimit", "--fsize=40000", os.path.abspath(BAPI), "run", "s.yaml", "--keep-going"]
        result = subprocess.run(limited, cwd=self.dir, capture_output=True, timeout=PATIENCE, env=self.environment())
        self.assertEqual(result.returncode, 3, result.stderr)
        self.bapi("status", "s")
        self.assertEqual(self.trainers(), [])


@unittest.skipUnless(shutil.which("faketime"), "faketime is not installed")
class LyingClocks(Reliability):
    def start_with_clock(self, offset):
        environment = {**self.environment(), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
        process = subprocess.Popen(
            ["faketime", "-f", offset, os.path.abspath(BAPI), "run", "s.yaml"], cwd=self.dir, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    def test_a_clock_that_was_behind_costs_nothing(self):
        self.reliable_study(budget="3s")
        process = self.start_with_clock("-1h")
        self.wait_for_lines(4)
        self.kill_and_wait(process)
        self.wait_until_nobody_trains()
        self.bapi("resume", "s", "--quiet")
        self.assertLess(self.spent(), 3 + self.latency())

    def test_epochs_cost_their_time_when_the_clock_is_ahead(self):
        self.reliable_study(budget="3s")
        process = self.start_with_clock("+1h")
        process.communicate(timeout=PATIENCE)
        self.assertLess(self.spent(), 3 + self.latency())
        epochs = [row["cost"] for row in self.json("ledger", "s") if row["kind"] == "epoch"]
        self.assertGreater(sum(epochs), 1.0)


SLEEPING_MACHINE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A machine that has slept for an hour since the file $SLEPT exists: its boot clock is ahead of the monotonic one. */
int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, time);
  const char* slept = getenv("SLEPT");
  if (clock == CLOCK_BOOTTIME && slept && access(slept, F_OK) == 0) time->tv_sec += 3600;
  return result;
}
"""


@unittest.skipUnless(shutil.which("cc"), "needs a compiler, for a clock that can be set")
class SleepingMachine(Reliability):
    def run_and_sleep(self, **study):
        self.write("sleeping.c", SLEEPING_MACHINE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "sleeping.so", "sleeping.c", "-ldl"], cwd=self.dir, check=True)
        path = self.reliable_study(**study)
        environment = {**self.environment(), "LD_PRELOAD": self.path("sleeping.so"), "SLEPT": self.path("slept")}
        process = subprocess.Popen([os.path.abspath(BAPI), "run", path], cwd=self.dir, env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.started.append(process)
        self.wait_for_lines(3)
        self.write("slept", "")
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.trainers(), [])

    def test_is_not_charged_for_its_sleep(self):
        self.run_and_sleep(budget="3s")
        self.assertGreater(self.spent(), 2.0)
        self.assertLess(self.spent(), 3 + self.latency())

    def test_comes_nearer_to_its_deadline(self):
        self.run_and_sleep(budget="1000s", extra="deadline: 30m")
        self.assertIn("the deadline is reached", self.bapi("status", "s").stdout)


if __name__ == "__main__":
    main()

"""The reliability tests that take longer."""

import os
import subprocess
import time

from harness import main
from reliability import TRAINER, WRAPPERS, Reliability


class SlowDecisions(Reliability):
    def test_do_not_pass_the_budget(self):
        self.program("tr", TRAINER.replace("sleep 0.1", "sleep 0.02"))
        self.bapi("run", self.reliable_study(budget="30s", workers=4, policy="bapi"), "--quiet")
        self.assertLess(self.spent(), 31.0)


class BusyMachine(Reliability):
    """Processes that always have something to do, each with a scheduling group of its own, as training programs have."""

    STATED_LATENCY = 0.1
    LOAD = 15  # per processor

    def setUp(self):
        super().setUp()
        count = self.LOAD * len(os.sched_getaffinity(0))
        self.load = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"], start_new_session=True) for _ in range(count)]

    def tearDown(self):
        for process in self.load:
            process.kill()
            process.wait()
        super().tearDown()

    def test_a_budget_in_seconds_is_kept_with_programs_that_have_to_be_killed(self):
        self.program("tr", TRAINER.replace("\n", "\ntrap '' TERM\n", 1))
        for workers in 1, 2:
            with self.subTest(workers=workers):
                self.bapi("run", self.reliable_study(budget=f"{3 * workers}s", workers=workers), "--quiet", "--dir", str(workers))
                self.assertLess(self.spent(f"{workers}/s.bapi"), (3 + self.STATED_LATENCY) * workers)


class Restarts(Reliability):
    def test_many_kills_charge_no_more_than_was_trained(self):
        self.reliable_study(WRAPPERS["timeout"], budget="60s", workers=2)
        lived = 0.0
        for _ in range(15):
            begin = time.monotonic()
            process = self.start("run", "s.yaml")
            time.sleep(0.7)
            self.kill_and_wait(process)
            self.wait_until_nobody_trains()
            lived += time.monotonic() - begin
            time.sleep(0.3)
        self.bapi("resume", "s", "--budget", f"{self.spent() + 0.5}s", "--quiet")
        self.assertLess(self.spent(), 2 * lived)
        self.assertEqual(self.trainers(), [])


if __name__ == "__main__":
    main()

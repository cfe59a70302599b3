"""The reliability tests that take longer."""

import time

from harness import main
from reliability import TRAINER, WRAPPERS, Reliability


class SlowDecisions(Reliability):
    def test_do_not_pass_the_budget(self):
        self.program("tr", TRAINER.replace("sleep 0.1", "sleep 0.02"))
        self.bapi("run", self.reliable_study(budget="30s", workers=4, policy="bapi"), "--quiet")
        self.assertLess(self.spent(), 31.0)


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

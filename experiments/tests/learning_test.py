#!/usr/bin/env python3
"""The agents learn. Usage: learning_test.py TRAIN_AGENT"""

import json
import statistics
import subprocess
import sys
import unittest

TRAIN_AGENT = ""
SEEDS = (0, 1, 2)   # a good configuration may fail with one seed


def scores(task, epochs, **hyperparameters):
    """The last score of each seed."""
    given = [word for name, value in hyperparameters.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    last = []
    for seed in SEEDS:
        answer = subprocess.run([TRAIN_AGENT, task, "--epochs", str(epochs), "--seed", str(seed), *given],
                                capture_output=True, text=True, check=True)
        last.append(json.loads(answer.stdout.splitlines()[-1].removeprefix("bapi: "))["score"])
    return last


class Learning(unittest.TestCase):
    def test_dqn_balances_the_pole(self):
        """Without learning, the score is about 20; the most is 200."""
        self.assertGreater(statistics.median(scores("ddqn-cartpole", 75, gamma=0.99, lr=3e-4)), 100)

    def test_actor_critic_reaches_the_target(self):
        """Without learning, the score is about -90."""
        if "a2c-reacher" not in subprocess.run([TRAIN_AGENT, "--help"], capture_output=True, text=True).stdout:
            self.skipTest("without MuJoCo")
        found = scores("a2c-reacher", 50, gamma=0.9, lr_actor=1e-4, lr_critic=1e-3)
        self.assertGreater(statistics.median(found), -30)


if __name__ == "__main__":
    TRAIN_AGENT = sys.argv[1]
    unittest.main(argv=sys.argv[:1])

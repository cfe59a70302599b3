"""Whole studies: run, interrupt, kill, resume, raise, refuse."""

import json
import os
import re
import signal
import subprocess
import sys
import time

from harness import HERE, EndToEnd, main

KILL_LATENCY = 0.25  # seconds per worker: kKillLatency of bapi/control/allowance.h


class Running(EndToEnd):
    def test_prints_what_came_out_of_it(self):
        result = self.bapi("run", self.study())
        for part in ["best", "accuracy", "lr=", "40 epochs of 40 epochs spent", "trials", "checkpoint", "plots",
                     "bapi resume mlp.bapi --budget \"80 epochs\""]:  # fmt: skip
            self.assertIn(part, result.stdout)
        self.assertRegex(result.stderr, r"trial 0 +start, to epoch \d+")
        self.assertNotIn("\x1b", result.stdout + result.stderr)

    def test_quiet_prints_only_the_result(self):
        result = self.bapi("run", self.study(), "--quiet")
        self.assertEqual(result.stderr, "")
        self.assertIn("best", result.stdout)

    def test_result_as_json_is_the_status(self):
        result = self.bapi("run", self.study(), "--quiet", "-f", "json")
        self.assertEqual(json.loads(result.stdout), self.json("status"))

    def test_inline_form(self):
        result = self.bapi(
            "run", "--budget", "12 epochs", "--epochs", "3", "--metric", "accuracy", "--policy", "random", "--quiet",
            "--", sys.executable, f"{HERE}/trainer.py", "--lr~log(1e-4,1)", "--units~int(16,64)",
        )  # fmt: skip
        self.assertIn("trainer.bapi", result.stdout)
        status = self.check_books("trainer")
        self.assertEqual(status["policy"], "random")
        self.assertEqual(status["budget"]["spent"], 12)
        for trial in self.json("trials"):
            self.assertLessEqual(trial["config"]["units"], 64)

    def test_inline_form_says_what_is_missing(self):
        for arguments, missing in [
            (["--", "true", "--lr~log(1e-4,1)"], "--budget"),
            (["--budget", "1m", "--", "true", "--lr~log(1e-4,1)"], "--metric"),
            (["--budget", "1m", "--metric", "a", "--", "true", "--lr~log(1e-4,1)"], "--epochs"),
            (["--budget", "1m", "--metric", "a", "--epochs", "3", "--", "true"], "nothing to tune"),
            ([], "study file"),
        ]:
            self.assertIn(missing, self.bapi("run", *arguments, code=2).stderr)

    def test_a_shell_script_is_a_trainer(self):
        self.write("study.yaml", f"""
name: shell
command: ["{HERE}/trainer.sh"]
metric: {{name: accuracy, goal: minimize}}
budget: "6 epochs"
epochs: {{min: 1, max: 3}}
policy: random
parameters: {{x: {{min: 0.0, max: 1.0}}}}
""")
        self.bapi("run", "study.yaml", "--quiet")
        status = self.check_books("shell")
        self.assertEqual(status["budget"]["spent"], 6)
        self.assertEqual(status["best"]["value"], 0.1)

    def test_seconds_are_kept(self):
        self.bapi("run", self.study(budget="3s", delay=0.05, workers=2), "--quiet")
        status = self.check_books()
        self.assertLessEqual(status["budget"]["spent"], 3.0 + 2 * KILL_LATENCY)
        self.assertGreater(status["budget"]["spent"], 2.0)

    def test_deadline_ends_a_study(self):
        self.bapi("run", self.study(budget="10m", delay=0.1), "--quiet", "--deadline", "2s")
        self.assertIn("deadline", self.bapi("status").stdout)
        # A later deadline opens it again.
        self.bapi("resume", "--quiet", "--deadline", "4s")
        self.check_books()

    def test_a_program_that_always_fails_ends_the_study(self):
        self.write("study.yaml", """
name: bad
command: [sh, -c, "echo the disk is on fire >&2; exit 3"]
metric: {name: accuracy, goal: maximize}
budget: 60s
epochs: {min: 1, max: 3}
max_failures: 3
parameters: {x: {min: 0.0, max: 1.0}}
""")
        result = self.bapi("run", "study.yaml", code=1)
        self.assertIn("3 trials in a row", result.stderr)
        self.assertIn("the disk is on fire", result.stderr)
        status = self.check_books("bad")
        self.assertEqual(status["trials"]["failed"], 3)
        self.assertIsNone(status["best"])
        self.assertIsNone(self.json("best", "bad"))
        self.assertIn("the disk is on fire", self.bapi("show", "bad", "0").stdout)
        # Run again, it tries again.
        self.bapi("run", "study.yaml", "--quiet", code=1)
        self.assertEqual(self.check_books("bad")["trials"]["failed"], 6)


class Continuing(EndToEnd):
    def test_a_finished_study_stays_finished(self):
        self.bapi("run", self.study(), "--quiet")
        before = self.json("status")
        self.bapi("run", "study.yaml", "--quiet")
        self.assertEqual(self.json("status"), before)

    def test_a_raised_budget_is_a_total(self):
        self.bapi("run", self.study(), "--quiet")
        self.bapi("run", "study.yaml", "--quiet", "--budget", "60 epochs")
        self.assertEqual(self.check_books()["budget"], {"total": 60, "spent": 60, "remaining": 0, "unit": "epochs"})
        self.bapi("resume", "mlp", "--quiet", "--budget", "70 epochs")
        self.assertEqual(self.check_books()["budget"]["spent"], 70)
        # The study file still says 40: a total below what was spent ends at once.
        self.bapi("run", "study.yaml", "--quiet")
        self.assertEqual(self.check_books()["budget"]["spent"], 70)

    def test_workers_may_change_and_what_is_trained_may_not(self):
        self.bapi("run", self.study(), "--quiet")
        self.bapi("run", "study.yaml", "--quiet", "--workers", "2", "--budget", "50 epochs")
        for arguments, what in [
            (["--seed", "8"], "seed: 8 here, 7 in the study"),
            (["--policy", "random"], "policy: random here, hyperband in the study"),
            (["--metric", "loss"], "metric: loss here, accuracy in the study"),
            (["--epochs", "27"], "epochs.max: 27 here, 9 in the study"),
            (["--budget", "1h"], "budget: s here, epochs in the study"),
        ]:
            result = self.bapi("run", "study.yaml", *arguments, code=2)
            self.assertIn(what, result.stderr)
            self.assertIn("--name", result.stderr)
        with open(self.path("study.yaml")) as file:
            text = file.read().replace("max: 256", "max: 512")
        self.write("study.yaml", text)
        self.assertIn("parameters.units", self.bapi("run", "study.yaml", code=2).stderr)
        self.bapi("run", "study.yaml", "--quiet", "--name", "other")

    def test_ctrl_c_pauses_and_run_goes_on(self):
        process = self.start("run", self.study(budget='"60 epochs"', delay=0.05, workers=2))
        self.wait_for_reports(5)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("bapi resume mlp.bapi", err)
        self.assertIn("best", out)
        status = self.check_books()
        self.assertEqual(status["state"], "interrupted")
        self.assertEqual(status["trials"]["running"], 0)
        spent = status["budget"]["spent"]
        self.bapi("resume", "mlp", "--quiet")
        status = self.check_books()
        self.assertEqual(status["state"], "finished")
        self.assertEqual(status["budget"]["spent"], 60)
        self.assertGreater(60, spent)

    def test_sigterm_is_as_good_as_ctrl_c(self):
        process = self.start("run", self.study(budget='"60 epochs"', delay=0.05))
        self.wait_for_reports(3)
        process.terminate()
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.check_books()

    def test_kill_9_loses_nothing(self):
        self.study(budget='"60 epochs"', delay=0.03, workers=2)
        for round in range(3):
            process = self.start("run", "study.yaml")
            self.wait_for_reports(8 * (round + 1))
            reported = sum(trial["epochs"] for trial in self.json("trials"))
            process.kill()
            process.communicate()
            self.check_books()
            self.assertGreaterEqual(sum(trial["epochs"] for trial in self.json("trials")), reported)
            self.assertEqual(self.json("status")["state"], "interrupted")
        self.bapi("run", "study.yaml", "--quiet")
        status = self.check_books()
        self.assertEqual(status["state"], "finished")
        self.assertLessEqual(status["budget"]["spent"], 60)

    def test_a_second_controller_is_refused(self):
        process = self.start("run", self.study(budget='"200 epochs"', delay=0.05))
        self.wait_for_reports(1)
        self.assertEqual(self.json("status")["state"], "running")
        for command in [["run", "study.yaml"], ["resume", "mlp"]]:
            self.assertIn(str(process.pid), self.bapi(*command, code=3).stderr)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.check_books()

    def test_a_second_ctrl_c_kills_at_once(self):
        # A trainer that ignores SIGTERM, with a long grace period.
        self.write("stubborn.py", "import signal, time, os, json\n"
                   "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                   "for epoch in range(1, 1000):\n"
                   "    time.sleep(0.05)\n"
                   "    print('bapi: ' + json.dumps({'epoch': epoch, 'accuracy': 0.5}), flush=True)\n")
        self.write("study.yaml", f"""
name: stubborn
command: ["{sys.executable}", stubborn.py]
metric: {{name: accuracy, goal: maximize}}
budget: "1000 epochs"
epochs: {{min: 1000, max: 1000}}
policy: random
grace: 30s
parameters: {{x: {{min: 0.0, max: 1.0}}}}
""")
        process = self.start("run", "study.yaml")
        self.wait_for_reports(2, "stubborn")
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=5)
        self.assertEqual(process.returncode, 130)
        self.assertIn("killed", err)


class Doctor(EndToEnd):
    def test_says_what_was_understood_and_what_the_budget_pays(self):
        result = self.bapi("doctor", self.study(delay=0.02))
        for part in ["accuracy, maximize", "lr: 1e-04 to 1, log scale".replace("1e-04", "0.0001"), "units: 16 to 256",
                     "yes, epoch 3 followed", "about 40 epochs"]:  # fmt: skip
            self.assertIn(part, result.stdout)
        self.assertEqual(os.listdir(self.dir), ["study.yaml"])

    def test_finds_programs_that_do_not_continue(self):
        self.write("forgetful.py", "import json\n"
                   "for epoch in range(1, 10):\n"
                   "    print('bapi: ' + json.dumps({'epoch': epoch, 'accuracy': 0.5}), flush=True)\n")
        self.study()
        with open(self.path("study.yaml")) as file:
            text = re.sub(r"command: .*", f'command: ["{sys.executable}", forgetful.py]', file.read())
        self.write("study.yaml", text)
        self.assertIn("began at epoch 1 again", self.bapi("doctor", "study.yaml", code=1).stdout)
        self.write("study.yaml", text + "checkpoint: none\n")
        self.assertIn("begins at epoch 1", self.bapi("doctor", "study.yaml").stdout)

    def test_shows_the_output_of_programs_that_fail(self):
        for command in ["exit 3", "exit 0"]:
            result = self.bapi("doctor", "--budget", "1m", "--epochs", "3", "--metric", "accuracy",
                               "--", "sh", "-c", f"echo no such file; {command}", "x", "--lr~log(1e-4,1)", code=1)  # fmt: skip
            self.assertIn("no such file", result.stdout)
            self.assertIn("BAPI_REPORT", result.stdout)

    def test_does_not_wait_for_ever(self):
        result = self.bapi("doctor", "--budget", "1m", "--epochs", "3", "--metric", "accuracy", "--timeout", "1s",
                           "--", "sleep", "30", "--lr~log(1e-4,1)", code=1)  # fmt: skip
        self.assertIn("FAILED", result.stdout)


if __name__ == "__main__":
    main()

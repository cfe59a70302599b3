"""Whole studies: run, interrupt, kill, resume, raise, refuse."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from harness import BAPI, HERE, PATIENCE, EndToEnd, main


class Running(EndToEnd):
    def test_prints_what_came_out_of_it(self):
        result = self.bapi("run", self.study())
        for part in ["best", "accuracy", "lr=", "40 of 40 epochs spent", "trials", "checkpoint", "plots",
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
        self.assertLessEqual(status["budget"]["spent"], 3.0 + self.latency(workers=2))
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
        result = self.bapi("run", "study.yaml", "--keep-going", code=1)
        self.assertIn("3 trials in a row", result.stderr)
        self.assertIn("the disk is on fire", result.stderr)
        status = self.check_books("bad")
        self.assertEqual(status["trials"]["failed"], 3)
        self.assertIsNone(status["best"])
        self.assertIsNone(self.json("best", "bad"))
        self.assertIn("the disk is on fire", self.bapi("show", "bad", "0").stdout)
        # Run again, it tries again.
        self.bapi("run", "study.yaml", "--quiet", "--keep-going", code=1)
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
        # The study file still says 40, which is less than what was spent.
        result = self.bapi("run", "study.yaml", "--quiet", code=2)
        self.assertIn("40 epochs is less than the 70 epochs already spent", result.stderr)
        self.assertEqual(self.check_books()["budget"], {"total": 70, "spent": 70, "remaining": 0, "unit": "epochs"})

    def test_a_space_that_is_exhausted_invites_nobody_to_go_on(self):
        self.write("study.yaml", f"""
name: small
command: ["{HERE}/trainer.sh"]
metric: {{name: accuracy, goal: minimize}}
budget: "600 epochs"
epochs: 3
policy: random
parameters: {{x: {{values: [0.1, 0.2, 0.3]}}}}
""")
        result = self.bapi("run", "study.yaml")
        self.assertIn("every configuration of the space has been trained", result.stdout)
        self.assertNotIn("--budget", result.stdout)
        self.assertEqual(self.json("status", "small")["budget"]["spent"], 9)

    def test_the_best_at_an_end_of_its_range_is_pointed_out(self):
        self.write("edge.sh", "#!/bin/sh\necho \"bapi: {\\\"epoch\\\": 1, \\\"accuracy\\\": $1}\"\n")
        os.chmod(self.path("edge.sh"), 0o755)
        self.write("study.yaml", """
name: edge
command: [./edge.sh, "${x}"]
metric: {name: accuracy, goal: maximize}
budget: "9 epochs"
epochs: 1
policy: random
parameters: {x: {values: [1, 2, 3, 4, 5]}}
""")
        text = "x lies at the upper end of its range"
        self.assertIn(text, self.bapi("run", "study.yaml").stdout)
        self.assertIn(text, self.bapi("status", "edge").stdout)
        self.assertIn(text, self.bapi("best", "edge").stderr)

    def test_workers_may_change_and_what_is_trained_may_not(self):
        self.bapi("run", self.study(), "--quiet")
        self.bapi("run", "study.yaml", "--quiet", "--workers", "2", "--budget", "50 epochs")
        for arguments, what in [
            (["--seed", "8"], "seed: here 8; in the study 7"),
            (["--policy", "random"], "policy: here random; in the study hyperband"),
            (["--metric", "loss"], "metric.name: here loss; in the study accuracy"),
            (["--epochs", "27"], "epochs.max: here 27; in the study 9"),
            (["--budget", "1h"], "budget: here in s; in the study in epochs"),
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
        out, err = process.communicate(timeout=PATIENCE)
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
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.check_books()

    def test_sigterm_at_the_start_is_as_good_as_ctrl_c(self):
        """Before anything has begun: a study file that takes a while to read."""
        text = pathlib.Path(self.path(self.study())).read_text()
        self.write("study.yaml", f"x-long: [{'1, ' * 1_000_000}1]\n{text}")
        process = self.start("run", "study.yaml")

        def catches_sigterm():
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
            return int(caught.group(1), 16) >> (signal.SIGTERM - 1) & 1

        self.wait_for(catches_sigterm, "the program to catch SIGTERM")
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(self.path("mlp.bapi")))

    def test_nohup_outlives_the_terminal(self):
        self.study(budget='"20 epochs"', delay=0.05)
        process = subprocess.Popen(["nohup", os.path.abspath(BAPI), "run", "study.yaml", "-q"], cwd=self.dir,
                                   env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)  # fmt: skip
        self.started.append(process)
        self.wait_for_reports(2)
        os.killpg(process.pid, signal.SIGHUP)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        self.assertEqual(self.check_books()["state"], "finished")

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
        process.communicate(timeout=PATIENCE)
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
        process.send_signal(signal.SIGINT)  # the same Ctrl-C, passed on by a launcher
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertIn("killed", err)


class Doctor(EndToEnd):
    def test_advises_to_tell_a_long_start_from_the_first_epoch(self):
        self.study(budget="100s", delay=0.05)
        trainer = (HERE / "trainer.py").read_text().replace("def report(", "READY\ntime.sleep(2.5)\n\n\ndef report(")
        text = pathlib.Path(self.path("study.yaml")).read_text().replace(str(HERE / "trainer.py"), "slow.py")
        self.write("study.yaml", text)
        self.write("slow.py", trainer.replace("READY", ""))
        self.assertIn("{\"ready\": true}", self.bapi("doctor", "study.yaml").stdout)
        ready = "with open(os.environ['BAPI_REPORT'], 'a') as file:\n    file.write('{\"ready\": true}\\n')\n"
        self.write("slow.py", trainer.replace("READY\ntime.sleep(2.5)\n", "time.sleep(2.5)\n" + ready))
        self.assertNotIn("{\"ready\": true}", self.bapi("doctor", "study.yaml").stdout)

    def test_says_what_was_understood_and_what_the_budget_pays(self):
        result = self.bapi("doctor", self.study(delay=0.02))
        for part in ["accuracy, maximize", "lr: 1e-04 to 1, log scale".replace("1e-04", "0.0001"), "units: 16 to 256",
                     "yes, with epoch 3", "about 40 epochs", "accuracy 0 to 1"]:  # fmt: skip
            self.assertIn(part, result.stdout)
        self.assertNotIn("no parameter is in the command", result.stdout)
        self.assertEqual(os.listdir(self.dir), ["study.yaml"])

    def test_finds_programs_that_do_not_continue(self):
        self.write("forgetful.py", "import json\n"
                   "for epoch in range(1, 10):\n"
                   "    print('bapi: ' + json.dumps({'epoch': epoch, 'accuracy': 0.5}), flush=True)\n")
        self.study()
        with open(self.path("study.yaml")) as file:
            text = re.sub(r"command: .*", f'command: ["{sys.executable}", forgetful.py]', file.read())
        self.write("study.yaml", text)
        said = self.bapi("doctor", "study.yaml", code=1).stdout
        self.assertIn("started at epoch 1 again", said)
        self.assertIn("no parameter is in the command", said)
        self.write("study.yaml", text + "checkpoint: none\n")
        self.assertIn("a resumed trial starts at epoch 1", self.bapi("doctor", "study.yaml").stdout)

    def examined(self, program, budget="1m", metric="accuracy", goal=(), code=0):
        """What the doctor says of a Python program that is given (first epoch, last epoch, checkpoint file)."""
        self.write("program.py", "import json, os, sys, time\n"
                   "path = os.environ['BAPI_CHECKPOINT_DIR'] + '/epoch'\n"
                   "start = int(open(path).read()) if os.path.exists(path) else 0\n"
                   "last = int(os.environ['BAPI_MAX_EPOCH'])\n"
                   "def save(epoch):\n"
                   "    open(path + '.new', 'w').write(str(epoch))\n"
                   "    os.replace(path + '.new', path)\n"
                   "def report(epoch, value):\n"
                   "    print('bapi: ' + json.dumps({'epoch': epoch, 'accuracy': value, 'loss': value}), flush=True)\n"
                   + program)  # fmt: skip
        return self.bapi("doctor", "--budget", budget, "--epochs", "9", "--metric", metric, *goal,
                         "--", sys.executable, "program.py", "--lr~log(1e-4,1)", code=code).stdout  # fmt: skip

    TRAIN = "for epoch in range(start + 1, last + 1):\n    save(epoch)\n    report(epoch, 0.1 * epoch)\n"

    def test_separates_start_up_from_epochs(self):
        slow_start = "time.sleep(2.0)\n" + self.TRAIN.replace("save(epoch)", "time.sleep(0.1); save(epoch)")
        found = self.examined(slow_start, budget="10m")
        pattern = r"start-up +([\d.]+) s(?:, at the first start ([\d.]+) s)?; an epoch takes ([\d.]+) (ms|s)"
        second, first, epoch, unit = re.search(pattern, found).groups()
        self.assertGreater(float(first or second), 1.9)  # the first start is told where it took longer
        self.assertGreater(float(second), 1.5)  # an estimate: the time to its first report less that of an epoch
        self.assertLess(float(epoch) * (0.001 if unit == "ms" else 1), float(first or second))
        self.assertRegex(found, r"about \d{3,4} epochs")
        self.assertEqual(found.count("warning"), 1)
        self.assertIn("the start takes longer than an epoch", found)

    def test_says_when_the_budget_pays_no_epoch(self):
        found = self.examined("time.sleep(0.5)\n" + self.TRAIN, budget="0.2s", code=1)
        self.assertIn("NOT ONE EPOCH", found)
        self.assertIn("the budget is 200 ms", found)

    def test_finds_reports_that_arrive_at_the_end(self):
        late = self.TRAIN.replace("report(epoch, 0.1 * epoch)", "time.sleep(0.4); late.append(epoch)")
        found = self.examined("late = []\n" + late + "for epoch in late: report(epoch, 0.1 * epoch)\n")
        self.assertIn("all reports arrived together", found)
        self.assertNotIn("all reports arrived together", self.examined(self.TRAIN))

    def test_python_prints_are_not_buffered(self):
        plain = self.TRAIN.replace("report(epoch, 0.1 * epoch)", "time.sleep(1.0); print('bapi: ' + json.dumps("
                                   "{'epoch': epoch, 'accuracy': 0.5}))")  # fmt: skip
        self.assertNotIn("all reports arrived together", self.examined(plain))

    def test_finds_programs_that_leave_out_epochs(self):
        found = self.examined(self.TRAIN.replace("last + 1)", "last + 1, 2)"), code=1)
        self.assertIn("epoch 2       NOT REPORTED: the program ended after epoch 1", found)
        self.assertIn("BAPI_MAX_EPOCH (2 here)", found)

    def test_finds_programs_that_fail_in_their_second_epoch(self):
        found = self.examined(self.TRAIN.replace("    save", "    if epoch == 2: sys.exit('no memory')\n    save"), code=1)
        self.assertIn("epoch 2       FAILED: exit code 1", found)
        self.assertIn("no memory", found)

    def test_finds_epoch_zero_with_a_value(self):
        found = self.examined("if start == 0: report(0, 0.05)\n" + self.TRAIN)
        self.assertIn("epoch 0 was reported with accuracy 0.05", found)

    def test_finds_checkpoints_that_a_kill_would_halve(self):
        in_place = self.TRAIN.replace("save(epoch)", "open(path, 'w').write(str(epoch))")
        self.assertIn("epoch is overwritten in place", self.examined(in_place))

    def test_finds_programs_that_save_nothing(self):
        found = self.examined(
            "start = int(os.environ['BAPI_FROM_EPOCH'])\n" + self.TRAIN.replace("save(epoch)", "pass")
        )
        self.assertIn("the checkpoint directory stayed empty", found)

    def test_states_the_bounds_of_the_metric(self):
        self.assertIn("accuracy 0 to 1", self.examined(self.TRAIN))
        self.assertIn("accuracy 0 to 100, a percentage", self.examined(self.TRAIN.replace("0.1 *", "20 *")))
        found = self.examined(self.TRAIN, metric="loss")
        self.assertIn("loss not below 0", found)
        self.assertIn("the goal is to maximize loss", found)
        self.assertNotIn("the goal is", self.examined(self.TRAIN, metric="loss", goal=("--minimize",)))

    def test_names_windows_line_endings(self):
        self.write("train.sh", "#!/bin/sh\r\necho hello\r\n")
        os.chmod(self.path("train.sh"), 0o755)
        for command in [["./train.sh"], ["sh", "train.sh"]]:
            result = self.bapi("doctor", "--budget", "1m", "--epochs", "9", "--metric", "accuracy", "--", *command,
                               "--lr~log(1e-4,1)", code=1)  # fmt: skip
            self.assertIn("has Windows line endings", result.stdout)
            self.assertIn("sed -i", result.stdout)

    def test_shows_the_output_of_programs_that_fail(self):
        for command in ["exit 3", "exit 0"]:
            result = self.bapi("doctor", "--budget", "1m", "--epochs", "3", "--metric", "accuracy",
                               "--", "sh", "-c", f"echo no such file; {command}", "x", "--lr~log(1e-4,1)", code=1)  # fmt: skip
            self.assertEqual(result.stdout.count("no such file\n"), 1, result.stdout)
            self.assertIn("BAPI_REPORT", result.stdout)

    def test_does_not_wait_for_ever(self):
        result = self.bapi("doctor", "--budget", "1m", "--epochs", "3", "--metric", "accuracy", "--timeout", "1s",
                           "--", "sleep", "30", "--lr~log(1e-4,1)", code=1)  # fmt: skip
        self.assertIn("FAILED", result.stdout)


if __name__ == "__main__":
    main()

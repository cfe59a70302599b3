"""A trial fails only through its own fault: endings between save and report, programs that cannot run, retries."""

import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

from harness import PATIENCE, EndToEnd, main

# Saves, then reports, and continues after its checkpoint whatever BAPI_FROM_EPOCH says.
SAVER = """\
import os, sys, time
x = float(sys.argv[1])
path = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
epoch = int(open(path).read()) if os.path.exists(path) else 0
while epoch < int(os.environ["BAPI_MAX_EPOCH"]):
    time.sleep(0.004)
    epoch += 1
    with open(path + ".new", "w") as file:
        file.write(str(epoch))
    os.replace(path + ".new", path)
    time.sleep(0.012)
    print('bapi: {"epoch": %d, "loss": %r}' % (epoch, (x - 3) ** 2 + 1 / epoch), flush=True)
"""

# The same, killed once in every trial after it has saved epoch 2 and before it has reported it.
KILLED_SAVER = SAVER.replace("    time.sleep(0.012)\n", """\
    if epoch == 2 and not os.path.exists(path + ".killed"):
        open(path + ".killed", "w").close()
        os.kill(os.getpid(), 9)
""")

SHELL_SAVER = """\
#!/bin/bash
state="$BAPI_CHECKPOINT_DIR/epoch"
epoch=$(cat "$state" 2>/dev/null || echo 0)
while [ "$epoch" -lt "$BAPI_MAX_EPOCH" ]; do
  epoch=$((epoch + 1))
  echo "$epoch" > "$state.new" && mv "$state.new" "$state"
  sleep 0.01
  echo "{\\"epoch\\": $epoch, \\"loss\\": 0.$epoch}" >> "$BAPI_REPORT"
done
"""

STUDY = """\
name: s
command: {command}
metric: {{name: loss, goal: minimize}}
budget: {budget}
epochs: {{min: 1, max: 27}}
seed: {seed}
policy: {policy}
parameters: {{x: {{min: 0.0, max: 6.0}}}}
{more}
"""

# Reports one epoch after the other, and does at an epoch what MISHAP says.
TRAINER = """\
import os, signal, sys
path = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
epoch = int(open(path).read()) if os.path.exists(path) else 0
while epoch < int(os.environ["BAPI_MAX_EPOCH"]):
    epoch += 1
    if epoch == 3:
        {mishap}
    with open(path + ".new", "w") as file:
        file.write(str(epoch))
    os.replace(path + ".new", path)
    print('bapi: {{"epoch": %d, "loss": 0.%d}}' % (epoch, epoch), flush=True)
"""


class Forgiving(EndToEnd):
    def file(self, command=None, budget='"40 epochs"', policy="random", seed=1, more=""):
        command = command or f'["{sys.executable}", train.py, "${{x}}"]'
        self.write("study.yaml", STUDY.format(command=command, budget=budget, policy=policy, seed=seed, more=more))
        return "study.yaml"

    def program(self, mishap="pass"):
        self.write("train.py", TRAINER.format(mishap=mishap))

    def events(self, study="s"):
        return json.loads(self.bapi("export", study, "-f", "json").stdout)["decisions"]

    def curves(self, study="s"):
        exported = json.loads(self.bapi("export", study, "-f", "json").stdout)
        return [[point["epoch"] for point in trial["curve"]] for trial in exported["trials"]]

    def check_ledger(self, study="s"):
        """Every epoch is charged once; what is missing in a curve is charged as unreported where epochs are counted."""
        status = self.json("status", study)
        ledger = self.json("ledger", study)
        spent = 0.0
        for row in ledger:
            spent += row["cost"]
        self.assertEqual(spent, status["budget"]["spent"])
        charged = [(row["trial"], row["epoch"]) for row in ledger if row["kind"] in ("epoch", "ahead", "unreported")]
        self.assertEqual(len(charged), len(set(charged)), "an epoch was charged twice")
        return status, ledger

    def reports_in_logs(self):
        logs = pathlib.Path(self.path("s.bapi")).glob("trials/*/log")
        return sum(log.read_text().count("bapi: {") for log in logs)

    def gaps(self, study="s"):
        return {
            (trial, epoch)
            for trial, curve in enumerate(self.curves(study))
            for epoch in set(range(1, (curve or [0])[-1])) - set(curve)
        }


class SaveThenReport(Forgiving):
    def test_six_studies_have_no_failed_trial(self):
        gaps = 0
        for policy in ("hyperband", "bapi", "asha"):
            for seed, program in ((1, SAVER), (2, KILLED_SAVER)):
                self.write("train.py", program)
                self.bapi("run", self.file(budget="3s", policy=policy, seed=seed, more="grace: 0s"), "--quiet")
                status, _ = self.check_ledger()
                self.assertEqual(status["trials"]["failed"], 0, (policy, seed))
                gaps += len(self.gaps())
                shutil.rmtree(self.path("s.bapi"))
        self.assertGreater(gaps, 0)

    def test_a_shell_script_may_be_ended_at_any_instant(self):
        self.write("train.sh", SHELL_SAVER)
        os.chmod(self.path("train.sh"), 0o755)
        self.bapi("run", self.file("[./train.sh]", budget="2s", policy="hyperband", more="grace: 0s"), "--quiet")
        status, _ = self.check_ledger()
        self.assertEqual(status["trials"]["failed"], 0)

    def test_counted_epochs_are_charged_exactly_over_many_interruptions(self):
        self.write("train.py", KILLED_SAVER)
        self.file(budget='"60 epochs"', policy="hyperband", more="grace: 0s")
        for attempt in range(80):
            before = self.reports_in_logs()
            process = self.start("run", "study.yaml", "--quiet")
            self.wait_for(lambda: process.poll() is not None or self.reports_in_logs() > before, "a report")
            time.sleep(0.002 * (attempt % 9))
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE)
            if process.returncode == 0:
                break
        self.assertEqual(process.returncode, 0)
        status, ledger = self.check_ledger()
        self.assertEqual(status["trials"]["failed"], 0)
        self.assertEqual(status["budget"]["spent"], 60)
        unreported = {(row["trial"], row["epoch"]) for row in ledger if row["kind"] == "unreported"}
        self.assertEqual(unreported & self.gaps(), self.gaps(), "a gap was not charged")
        self.assertGreater(len(self.gaps()), 0)
        for row in ledger:
            self.assertEqual(row["cost"], 1)

    def test_every_view_copes_with_gaps(self):
        self.write("train.py", KILLED_SAVER)
        self.bapi("run", self.file(policy="hyperband"), "--quiet")
        self.assertGreater(len(self.gaps()), 0)
        for words in (["status"], ["best"], ["trials"], ["show", "0"], ["plot"], ["forecast"], ["plan"], ["explain"],
                      ["calibration"], ["export"], ["simulate", "s.bapi", "-p", "hyperband", "-b", "3"]):  # fmt: skip
            study = [] if words[0] == "simulate" else ["s"]
            self.bapi(words[0], *study, *words[1:])

    def test_a_program_that_leaves_out_many_epochs_is_told(self):
        self.write("train.py", """
import os, time
epoch = int(os.environ["BAPI_FROM_EPOCH"])
epoch = 2 * epoch + 7 if epoch else 0
for epoch in range(epoch + 1, 28):
    time.sleep(0.03)
    print('bapi: {"epoch": %d, "loss": 0.5}' % epoch, flush=True)
""")
        self.file(policy="hyperband")
        self.bapi("run", "study.yaml", "--quiet")
        failed = [trial for trial in self.json("trials", "s") if trial["state"] == "failed"]
        self.assertTrue(failed)
        text = self.bapi("show", "s", str(failed[0]["trial"])).stdout
        self.assertRegex(text, r"was to continue after epoch \d+, but reported epoch \d+ first")
        self.assertIn("Up to 3 epochs", text)


class BeforeTheFirstReport(Forgiving):
    def assert_untouched(self, trials=1):
        status = self.json("status", "s")
        self.assertEqual(status["trials"]["failed"], 0)
        self.assertEqual(status["trials"]["interrupted"], trials)
        self.assertIsNone(status["best"])

    def test_an_import_error_stops_the_study_and_a_corrected_program_continues(self):
        self.write("train.py", "import no_such_module\n")
        result = self.bapi("run", self.file(), code=1)
        self.assertEqual(result.stderr.count("ModuleNotFoundError: No module named 'no_such_module'"), 1, result.stderr)
        self.assertIn("no trial is marked as failed", result.stderr)
        self.assert_untouched()
        status = self.bapi("status", "s").stdout
        self.assertRegex(status, r"failed before any trial had reported an epoch: exit code 1 before its first epoch\n")
        self.assertRegex(status, r"\n +fix the program, then: bapi resume s\.bapi")
        config = self.json("trials", "s")[0]["config"]
        self.bapi("run", "study.yaml", code=1)  # not corrected
        self.assert_untouched()
        self.program()
        self.bapi("run", "study.yaml", "--quiet")
        trials = self.json("trials", "s")
        self.assertEqual(trials[0]["config"], config)
        self.assertNotIn("failed", [trial["state"] for trial in trials])

    def test_a_program_that_cannot_be_run_stops_the_study_and_a_corrected_command_continues(self):
        self.program()
        result = self.bapi("run", self.file("[no-such-program, train.py]"), code=1)
        self.assertIn("cannot run 'no-such-program'", result.stderr)
        self.assertIn("Fix the command", result.stderr)
        self.assert_untouched()
        result = self.bapi("run", self.file())
        self.assertIn("changed command", result.stderr)
        changed = [row for row in self.events() if row["event"] == "settings"]
        self.assertEqual(len(changed), 1)
        self.assertIn("no-such-program", changed[0]["why"])
        self.assertIn(sys.executable, changed[0]["why"])
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)

    def test_a_missing_directory_stops_the_study(self):
        self.program()
        result = self.bapi("run", self.file(more="cwd: nowhere"), code=1)
        self.assertIn("there is no such directory", result.stderr)
        self.assert_untouched()
        os.mkdir(self.path("nowhere"))
        shutil.copy(self.path("train.py"), self.path("nowhere"))
        self.bapi("run", "study.yaml", "--quiet")

    def test_everything_may_be_corrected(self):
        self.program()  # it may have trained and saved everything before its reports are found to be wrong
        text = STUDY.format(command=f'["{sys.executable}", train.py, "${{x}}"]', budget='"20 epochs"', policy="random",
                            seed=1, more="")  # fmt: skip
        self.write("study.yaml", text.replace("name: loss", "name: lost"))
        self.assertIn('has no "lost"', self.bapi("run", "study.yaml", code=1).stderr)
        self.assert_untouched()
        self.write("study.yaml", text.replace("name: loss", "name: losses").replace("max: 27", "max: 9"))
        result = self.bapi("run", "study.yaml", code=1)
        self.assertIn("starts over", result.stderr)
        self.assert_untouched()
        self.write("study.yaml", text.replace("max: 27", "max: 9"))
        self.assertIn("changed metric.name: loss, was losses", self.bapi("run", "study.yaml").stderr)
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        self.write("study.yaml", text)
        self.assertIn("created with different settings", self.bapi("run", "study.yaml", code=2).stderr)

    def test_what_was_saved_without_a_readable_report_is_not_continued(self):
        self.write("train.py", """
import os, sys
state = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
first = int(open(state).read()) + 1 if os.path.exists(state) else 1
last = int(os.environ["BAPI_MAX_EPOCH"])
def save(epoch):
    with open(state, "w") as file:
        file.write(str(epoch))
if first == 1 and os.path.exists("silent"):
    save(last - 1)
    sys.exit(0)
if os.path.exists("wrong"):
    save(last - 1)
for epoch in range(first, last + 1):
    save(max(epoch, last - 1 if os.path.exists("wrong") else 0))
    print('bapi: {"epoch": %d, "%s": 0.5}' % (epoch, "lost" if os.path.exists("wrong") else "loss"), flush=True)
""")
        for fault, said in [("wrong", 'has no "loss"'), ("silent", "reported no epoch")]:
            self.write(fault, "")
            self.assertIn(said, self.bapi("run", self.file(), code=1).stderr)
            self.assert_untouched()
            os.remove(self.path(fault))
        self.bapi("run", self.file(), "--quiet")
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        self.assertTrue(all(curve[0] == 1 for curve in self.curves() if curve))

    def test_whoever_keeps_going_has_failures_recorded(self):
        self.write("train.py", "raise SystemExit(3)\n")
        result = self.bapi("run", self.file(more="max_failures: 3"), "--keep-going", code=1)
        self.assertIn("3 trials in a row", result.stderr)
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 3)
        status = self.bapi("status", "s").stdout
        self.assertIn("3 trials in a row failed (max_failures: 3)", status)
        self.assertIn("fix the program, then: bapi resume s.bapi", status)

    def test_a_program_that_always_fails_in_a_later_epoch_stops_the_study(self):
        self.program("sys.exit(3)")  # in epoch 3, after two reports
        result = self.bapi("run", self.file(budget='"400 epochs"', more="max_failures: 4"), code=1)
        self.assertIn("4 trials in a row have failed", result.stderr)
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 4)

    def test_a_program_that_counts_epochs_from_0_is_told_once(self):
        self.program()
        with open(self.path("train.py")) as file:
            text = file.read()
        self.write("train.py", text.replace("% (epoch, epoch)", "% (epoch - 1, epoch)"))
        result = self.bapi("run", self.file(budget='"60 epochs"'), code=1)  # the last epoch of the budget never comes
        told = re.findall(r"^bapi: trial \d+: epoch 0 was reported with loss 0.1", result.stderr, re.MULTILINE)
        self.assertEqual(len(told), 1, result.stderr)

    def test_a_program_that_reports_epoch_0_alone_is_told_so(self):
        self.write("train.py", "print('bapi: {\"epoch\": 0, \"loss\": 0.5}', flush=True)\n")
        result = self.bapi("run", self.file(), code=1)
        self.assertIn("before any trial had reported an epoch: epoch 0 was reported with loss 0.5", result.stderr)

    def test_a_first_trial_that_diverges_is_a_result(self):
        self.write("train.py", """
import os
bad = os.environ["BAPI_TRIAL"] == "0"
for epoch in range(int(os.environ["BAPI_FROM_EPOCH"]) + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    print('bapi: {"epoch": %d, "loss": %s}' % (epoch, "NaN" if bad else "0.5"), flush=True)
""")
        self.bapi("run", self.file(), "--quiet")
        self.assertEqual([trial["state"] for trial in self.json("trials", "s")].count("failed"), 1)


class WorkingDirectory(Forgiving):
    def test_is_the_study_files_and_stays_so(self):
        os.mkdir(self.path("project"))
        self.program()
        self.file(budget='"10 epochs"')
        for name in ("train.py", "study.yaml"):
            shutil.move(self.path(name), self.path("project", name))
        self.bapi("run", "project/study.yaml", "--quiet")  # from elsewhere
        os.mkdir(self.path("elsewhere"))
        shutil.move(self.path("s.bapi"), self.path("elsewhere", "s.bapi"))
        self.bapi("resume", "elsewhere/s.bapi", "--budget", "20 epochs", "--quiet")  # the study was moved
        shutil.move(self.path("elsewhere", "s.bapi"), self.path("project", "s.bapi"))
        failures = [row for row in self.json("export", "project/s.bapi")["decisions"] if row["event"] == "failed"]
        self.assertEqual(failures, [])

    def test_moves_with_the_study(self):
        os.mkdir(self.path("project"))
        self.program()
        self.file(budget='"10 epochs"')
        for name in ("train.py", "study.yaml"):
            shutil.move(self.path(name), self.path("project", name))
        self.bapi("run", "project/study.yaml", "-d", "project", "--quiet")
        shutil.move(self.path("project"), self.path("moved"))
        self.bapi("resume", "moved/s.bapi", "--budget", "20 epochs", "--quiet")
        self.assertEqual(self.json("status", "moved/s.bapi")["trials"]["failed"], 0)

    def test_a_directory_that_is_gone_fails_no_trial_of_a_good_study(self):
        self.program()
        os.mkdir(self.path("code"))
        shutil.move(self.path("train.py"), self.path("code"))
        self.bapi("run", self.file(budget='"10 epochs"', more="cwd: code"), "--quiet")
        shutil.move(self.path("code"), self.path("hidden"))
        result = self.bapi("resume", "s", "--budget", "20 epochs", code=1)
        self.assertIn("there is no such directory", result.stderr)
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        shutil.move(self.path("hidden"), self.path("code"))
        self.bapi("resume", "s", "--quiet")
        self.assertEqual(self.json("status", "s")["budget"]["spent"], 20)


class Retries(Forgiving):
    ONCE = (
        "marker = os.path.join(os.environ['BAPI_DIR'], 'died')\n"
        "        if not os.path.exists(marker):\n"
        "            open(marker, 'w').close()\n"
        "            {death}"
    )

    def test_a_trial_that_dies_once_is_continued_from_its_checkpoint(self):
        for death in ("os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(9)"):
            self.program(self.ONCE.format(death=death))
            self.bapi("run", self.file(), "--quiet")
            status, _ = self.check_ledger()
            self.assertEqual(status["trials"]["failed"], 0)
            retries = [row for row in self.events() if row["event"] == "retry"]
            self.assertTrue(retries)
            self.assertRegex(retries[0]["why"], "after epoch 2")
            self.assertEqual(self.gaps(), set())
            shutil.rmtree(self.path("s.bapi"))

    def test_a_trial_that_dies_again_has_failed_and_can_be_retried_by_hand(self):
        self.program("if os.environ['BAPI_TRIAL'] == '1': sys.exit(9)")
        self.bapi("run", self.file(budget='"60 epochs"'), "--quiet")
        states = [trial["state"] for trial in self.json("trials", "s")]
        self.assertEqual(states[1], "failed")
        self.assertEqual(len([row for row in self.events() if row["event"] == "retry" and row["trial"] == 1]), 1)
        self.assertIn("expected one that has failed",
                      self.bapi("retry", "s", "0", code=2).stderr)  # fmt: skip
        self.assertIn("expected one study", self.bapi("retry", "s", "t", "1", code=2).stderr)
        self.assertIn("continues after epoch 2", self.bapi("retry", "s", "1").stdout)
        self.assertEqual(self.json("trials", "s")[1]["state"], "interrupted")
        self.program()
        self.bapi("resume", "s", "--budget", "120 epochs", "--quiet")
        trial = self.json("trials", "s")[1]
        self.assertEqual((trial["state"], trial["epochs"]), ("completed", 27))
        self.check_ledger()

    def test_a_program_that_ends_at_its_segment_may_have_saved_its_last_epoch(self):
        self.write("train.py", """
import os, signal
path = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
epoch = int(open(path).read()) if os.path.exists(path) else 0
while epoch < int(os.environ["BAPI_UNTIL_EPOCH"]):
    epoch += 1
    open(path, "w").write(str(epoch))
    if epoch == 2 and os.environ["BAPI_TRIAL"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)
    print('bapi: {"epoch": %d, "loss": 0.%d}' % (epoch, epoch), flush=True)
""")
        self.file(policy="one-epoch")
        with open(self.path("study.yaml")) as file:
            text = file.read().replace("min: 1, max: 27", "min: 2, max: 9")
        self.write("study.yaml", text)
        self.bapi("run", "study.yaml", "--quiet")
        self.assertEqual(self.curves()[0][:2], [1, 3])
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        self.check_ledger()

    def test_several_trials_are_retried_by_one_command(self):
        self.program("if os.environ['BAPI_TRIAL'] in '13': sys.exit(9)")
        self.bapi("run", self.file(budget='"120 epochs"'), "--quiet")
        self.bapi("retry", "s", "1", "3")
        states = [trial["state"] for trial in self.json("trials", "s")]
        self.assertEqual((states[1], states[3]), ("interrupted", "interrupted"))

    def test_retries_can_be_turned_off(self):
        self.program(self.ONCE.format(death="sys.exit(9)"))
        self.bapi("run", self.file(more="retries: 0"), "--quiet", code=1)  # every trial fails after its second epoch
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 10)
        self.assertEqual([row for row in self.events() if row["event"] == "retry"], [])

    def test_command_and_environment_may_always_change_with_a_note(self):
        self.program()
        self.bapi("run", self.file(budget='"10 epochs"'), "--quiet")
        shutil.move(self.path("train.py"), self.path("better.py"))
        self.file(f'["{sys.executable}", better.py, "${{x}}"]', budget='"20 epochs"', more="env: {LEVEL: 2}")
        self.bapi("run", "study.yaml", "--quiet")
        note = [row["why"] for row in self.events() if row["event"] == "settings"][0]
        self.assertIn("train.py", note)
        self.assertIn("better.py", note)
        self.assertIn('env.LEVEL: none -> "2"', note)


if __name__ == "__main__":
    main()

"""The best model: kept at its epoch whatever the program does later, found, copied, cleaned around."""

import json
import os
import pathlib
import signal
import sys
import time

from harness import EndToEnd, main

# The loss falls to epoch 7 and rises after it. The checkpoint says of which epoch it is.
PROGRAM = """
import json, os, pathlib, signal, sys, time
x, order, pause = float(sys.argv[1]), sys.argv[2], float(sys.argv[3])
directory = pathlib.Path(os.environ["BAPI_CHECKPOINT_DIR"])
model = directory / "model.json"
state = {"epoch": 0}
if int(os.environ["BAPI_FROM_EPOCH"]) > 0:
    state = json.loads(model.read_text())

def spoil(*_):
    model.write_text('{"epo')
    sys.exit(0)

if order == "spoils":
    signal.signal(signal.SIGTERM, spoil)

def save():
    beside = directory / "model.new"
    beside.write_text(json.dumps(state))
    beside.rename(model)

def report():
    loss = 0.01 * abs(state["epoch"] - 7) + (x - 0.3) ** 2
    with open(os.environ["BAPI_REPORT"], "a") as file:
        file.write(json.dumps({"epoch": state["epoch"], "loss": loss}) + "\\n")

while state["epoch"] < int(os.environ["BAPI_MAX_EPOCH"]):
    time.sleep(pause)
    state["epoch"] += 1
    if order == "report-first":
        report()
    save()
    if order != "report-first":
        report()
    elif state["epoch"] == 7:  # its model is copied before it is written over, however busy the machine is
        for _ in range(3000):
            if (directory.parent / "best" / "epoch-7").exists():
                break
            time.sleep(0.01)
"""

STUDY = """
name: {name}
command: ["{python}", train.py, "${{x}}", {order}, "{pause}"]
metric: {{name: loss, goal: minimize}}
budget: {budget}
epochs: {epochs}
workers: {workers}
grace: 1s
policy: {policy}
{more}
parameters:
  x: {{min: 0.0, max: 1.0}}
"""


class BestModel(EndToEnd):
    def turning_study(self, budget='"36 epochs"', order="save-first", pause=0.03, policy="random", workers=1, epochs=12,
                      more=""):  # fmt: skip
        self.write("train.py", PROGRAM)
        self.write("s.yaml", STUDY.format(name="s", python=sys.executable, order=order, pause=pause, budget=budget,
                                          policy=policy, workers=workers, epochs=epochs, more=more))  # fmt: skip

    def model_of(self, directory):
        return json.loads(pathlib.Path(directory, "model.json").read_text())

    def check_best(self, epoch=7):
        best = self.json("best", "s")
        self.assertEqual(best["epoch"], epoch)
        self.assertEqual(best["checkpoint_epoch"], epoch, best)
        self.assertIsNone(best["checkpoint_note"])
        self.assertEqual(self.model_of(best["checkpoint"])["epoch"], epoch)
        return best

    def test_the_checkpoint_of_the_best_epoch_is_returned(self):
        self.turning_study()
        self.assertIn("(epoch 7)", self.bapi("run", "s.yaml").stdout)
        best = self.check_best()
        newest = pathlib.Path(self.path("s.bapi", "trials", f"{best['trial']:04}", "checkpoint"))
        self.assertEqual(self.model_of(newest)["epoch"], 12)

    def test_two_workers_under_a_budget_of_seconds(self):
        self.turning_study(budget="1000s", workers=2)
        with open(self.path("s.yaml")) as file:
            self.write("s.yaml", file.read().replace("{min: 0.0, max: 1.0}", "{values: [0.1, 0.25, 0.3, 0.9]}"))
        self.bapi("run", "s.yaml")  # to the end of the space, so that no trial is cut off
        self.check_best()
        self.check_books("s")
        self.assertIn("snapshot", {row["kind"] for row in self.json("ledger", "s")})

    def test_copy_collects_model_configuration_and_card(self):
        self.turning_study()
        self.bapi("run", "s.yaml")
        best = self.json("best", "s", "--copy", "out/model-7")
        out = pathlib.Path(self.path("out", "model-7"))
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["card.json", "card.md", "config.json", "model"])
        self.assertEqual(self.model_of(out / "model")["epoch"], 7)
        self.assertEqual(json.loads((out / "config.json").read_text()), best["config"])
        card = json.loads((out / "card.json").read_text())
        self.assertEqual((card["study"], card["metric"], card["epoch"], card["checkpoint_epoch"]), ("s", "loss", 7, 7))
        self.assertEqual(card["value"], best["value"])
        self.assertEqual(card["cost"]["study"], 36)
        for key in ("seed", "trial_seed", "parameters", "command"):
            self.assertIn(key, card)
        self.assertIn("epoch 7", (out / "card.md").read_text())
        self.assertRegex((out / "card.md").read_text(), r"\| cost \| \d+ epochs; the whole study 36 epochs \|")
        self.assertNotIn("note", self.bapi("best", "s").stdout)
        self.assertIn("not empty", self.bapi("best", "s", "--copy", "out/model-7", code=2).stderr)
        os.mkdir(self.path("empty"))
        self.bapi("best", "s", "--copy", "empty")
        self.assertTrue(os.path.exists(self.path("empty", "model", "model.json")))

    def test_a_killed_controller_leaves_a_model_that_is_what_it_says(self):
        self.turning_study(pause=0.05)
        for pause in (0.6, 0.9, 1.1):
            process = self.start("run", "s.yaml")
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            process.wait()
            best = self.json("best", "s")
            if best and best["checkpoint_epoch"] is not None:
                self.assertEqual(self.model_of(best["checkpoint"])["epoch"], best["checkpoint_epoch"])
        self.bapi("run", "s.yaml")
        best = self.json("best", "s")
        self.assertEqual(self.model_of(best["checkpoint"])["epoch"], best["checkpoint_epoch"])

    def test_a_program_that_reports_first_is_waited_for(self):
        self.turning_study(order="report-first", pause=0.35, budget='"10 epochs"', epochs=10)
        self.bapi("run", "s.yaml")
        self.check_best()
        self.assertIn("Save, then report", self.bapi("show", "s", "0").stdout)

    def test_a_checkpoint_that_was_half_written_costs_no_trial(self):
        self.turning_study(order="spoils", policy="hyperband", budget='"60 epochs"', epochs=9)
        self.bapi("run", "s.yaml")
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        logs = [path.read_text() for path in pathlib.Path(self.path("s.bapi", "trials")).glob("*/log")]
        retried = [log for log in logs if "trying once more from the snapshot of epoch" in log]
        self.assertTrue(retried)
        self.assertIn("probably incomplete", retried[0])
        self.check_books("s")

    def test_without_a_checkpoint_best_says_so(self):
        self.write("train.py", "import os\nfor e in range(1, 4):\n    print('bapi: {\"epoch\": %d, \"loss\": 1}' % e, flush=True)\n")
        self.write("s.yaml", STUDY.format(name="s", python=sys.executable, order="-", pause=0, budget='"3 epochs"',
                                          policy="random", workers=1, epochs=3, more=""))  # fmt: skip
        self.bapi("run", "s.yaml")
        best = self.json("best", "s")
        self.assertIsNone(best["checkpoint"])
        self.assertIn("no checkpoint", best["checkpoint_note"])
        self.assertIn("no model to copy", self.bapi("best", "s", "--copy", "out", code=2).stderr)

    def files_of_trials(self):
        trials = pathlib.Path(self.path("s.bapi", "trials"))
        return {name: sorted(int(path.parent.name) for path in trials.glob(f"*/{name}") if any(path.iterdir()))
                for name in ("checkpoint", "best")}  # fmt: skip

    def test_clean_keeps_the_best_trials(self):
        self.turning_study()
        self.bapi("run", "s.yaml")
        before = self.json("status", "s")["disk"]
        self.assertGreater(before["checkpoints"], 0)
        self.assertGreater(before["snapshots"], 0)
        would = self.json("clean", "s", "--keep", "1", "--dry-run")
        self.assertEqual(self.json("status", "s")["disk"], before)
        self.assertEqual({row["kind"] for row in would}, {"checkpoint", "snapshot"})
        self.assertIn("freed", self.bapi("clean", "s", "--keep", "1").stdout)
        best = self.check_best()
        self.assertEqual(self.files_of_trials(), {"checkpoint": [best["trial"]], "best": [best["trial"]]})
        self.bapi("clean", "s", "--keep", "1", "--no-final")
        self.assertEqual(self.files_of_trials(), {"checkpoint": [], "best": [best["trial"]]})
        shown = self.bapi("show", "s", str(best["trial"])).stdout
        self.assertNotRegex(shown, r"\ncheckpoint ")
        self.assertRegex(shown, rf"\nbest model s\.bapi/.*/checkpoint/ \(epoch {best['checkpoint_epoch']}\)")
        self.check_best()
        self.assertIn("nothing to remove", self.bapi("clean", "s", "--keep", "1").stdout)
        self.assertIn("at least 1", self.bapi("clean", "s", "--keep", "0", code=2).stderr)

    def test_a_study_file_bounds_the_disk_space(self):
        self.turning_study(budget='"48 epochs"', more="checkpoints: {keep: best 2, final: no}")
        self.bapi("run", "s.yaml")
        best = self.check_best()
        files = self.files_of_trials()
        self.assertEqual(files["checkpoint"], [])
        self.assertEqual(len(files["best"]), 2)
        self.assertIn(best["trial"], files["best"])

    def test_files_are_not_cleaned_while_the_best_model_is_copied(self):
        """The best epoch is the last one, and its checkpoint takes a while to copy."""
        self.write("large.py", """
import json, os, pathlib
model = pathlib.Path(os.environ["BAPI_CHECKPOINT_DIR"]) / "model"
weights = bytes(64 << 20)
done = int(os.environ["BAPI_FROM_EPOCH"])
for epoch in range(done + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    model.with_suffix(".new").write_bytes(weights)
    model.with_suffix(".new").rename(model)
    print("bapi:", json.dumps({"epoch": epoch, "loss": 1 / epoch}), flush=True)
""")
        self.write("s.yaml", f"""
name: s
command: ["{sys.executable}", large.py]
metric: {{name: loss, goal: minimize}}
budget: "6 epochs"
epochs: 3
policy: random
checkpoints: {{keep: best 1, final: no}}
parameters:
  x: {{min: 0.0, max: 1.0}}
""")
        self.bapi("run", "s.yaml")
        best = self.json("best", "s")
        self.assertEqual((best["epoch"], best["checkpoint_epoch"]), (3, 3), best)
        self.assertEqual(self.files_of_trials(), {"checkpoint": [], "best": [best["trial"]]})

    def test_a_cleaned_trial_that_is_continued_is_trained_again(self):
        self.turning_study(policy="hyperband", budget='"30 epochs"', epochs=9,
                           more="checkpoints: {keep: best 1, final: no}")  # fmt: skip
        self.bapi("run", "s.yaml")
        status = self.json("status", "s")
        self.bapi("resume", "s", "--budget", "60 epochs")
        self.assertEqual(self.json("status", "s")["trials"]["failed"], status["trials"]["failed"])
        self.check_books("s")


if __name__ == "__main__":
    main()

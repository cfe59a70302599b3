"""Noisy trainings: values that are smoothed or of the last epoch, and finalists that are trained again."""

import json
import os
import pathlib
import shutil
import signal
import statistics
import sys

from harness import EndToEnd, main

# The result depends on the seed of the trial; every epoch saves its number, and reports two metrics.
PROGRAM = """
import json, os, pathlib, random, sys, time

lr, delay = float(sys.argv[1]), float(sys.argv[2])
checkpoint = pathlib.Path(os.environ["BAPI_CHECKPOINT_DIR"]) / "epoch"
done = int(checkpoint.read_text()) if checkpoint.exists() else 0
luck = random.Random(int(os.environ["BAPI_SEED"])).gauss(0, 0.1)
for epoch in range(done + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    time.sleep(delay)
    jitter = random.Random(epoch * 7919 + int(os.environ["BAPI_SEED"])).gauss(0, 0.05)
    new = checkpoint.with_suffix(".new")
    new.write_text(str(epoch))
    new.rename(checkpoint)
    score = 1 - (lr - 0.4) ** 2 - 0.8**epoch + luck + jitter
    print("bapi:", json.dumps({"epoch": epoch, "score": score, "val/loss": -score}), flush=True)
"""

STUDY = """
name: noisy
command: ["{python}", train.py, "${{lr}}", "{delay}"]
metric: {{name: score, goal: maximize{metric}}}
budget: {budget}
epochs: 6
workers: {workers}
seed: 3
grace: 1s
policy: {policy}
repeat: {repeat}
parameters:
  lr: {{min: 0.0, max: 1.0}}
"""


class Noise(EndToEnd):
    def noisy(self, metric="", budget="120 epochs", repeat=1, workers=1, policy="random", delay=0.0):
        self.write("train.py", PROGRAM)
        text = STUDY.format(
            python=sys.executable,
            metric=metric,
            budget=budget,
            repeat=repeat,
            workers=workers,
            policy=policy,
            delay=delay,
        )
        return self.write("study.yaml", text)

    def repeats(self):
        return [trial for trial in self.json("trials", "noisy") if trial["repeat_of"] is not None]

    def check_best_by_mean(self):
        """The best is that of the largest mean among the configurations that were trained more than once."""
        trials = self.json("trials", "noisy")
        values = {}
        for trial in trials:
            first = trial["trial"] if trial["repeat_of"] is None else trial["repeat_of"]
            values.setdefault(first, []).append((trial["best"], trial["trial"]))
        means = {first: statistics.mean(v for v, _ in all) for first, all in values.items() if len(all) > 1}
        winner = max(means, key=means.get)
        best = self.json("best", "noisy")
        self.assertAlmostEqual(best["value"], means[winner])
        self.assertEqual(best["trial"], max(values[winner])[1])
        self.assertEqual(best["trainings"], len(values[winner]))
        spread = statistics.stdev(v for v, _ in values[winner]) / len(values[winner]) ** 0.5
        self.assertAlmostEqual(best["standard_error"], spread)
        return best

    def test_the_finalists_are_trained_again_within_the_budget(self):
        for policy, workers in (("random", 1), ("hyperband", 2), ("bapi", 1)):
            with self.subTest(policy=policy):
                self.bapi("run", self.noisy(repeat=3, policy=policy, workers=workers), "--quiet")
                status = self.check_books("noisy")
                self.assertLessEqual(status["budget"]["spent"], 120)
                best = self.check_best_by_mean()
                self.assertEqual(best["trainings"], 3)
                for repeat in self.repeats():
                    first = self.json("show", "noisy", str(repeat["repeat_of"]))
                    self.assertEqual(repeat["config"], first["config"])
                    self.assertGreaterEqual(repeat["epochs"], first["epochs"])
                shutil.rmtree(self.path("noisy.bapi"))

    def test_explain_status_and_show_tell_of_repeats(self):
        self.bapi("run", self.noisy(repeat=3), "--quiet")
        best = self.json("best", "noisy")
        first = next(t for t in self.json("trials", "noisy") if t["trainings"] == 3)
        repeat = next(t for t in self.repeats() if t["repeat_of"] == first["trial"])
        said = self.bapi("explain", "noisy", str(repeat["trial"])).stdout
        self.assertIn(f"repeat 2 of 3 of trial {first['trial']}", said.lower())
        status = self.bapi("status", "noisy").stdout
        self.assertIn("±", status)
        self.assertIn("(3 trainings)", status)
        shown = self.bapi("show", "noisy", str(first["trial"])).stdout
        self.assertIn("mean of 3", shown)
        self.assertIn(str(repeat["trial"]), shown)
        self.bapi("best", "noisy", "--copy", "model")
        self.assertEqual(int(pathlib.Path(self.path("model/model/epoch")).read_text()), best["checkpoint_epoch"])
        card = json.loads(pathlib.Path(self.path("model/card.json")).read_text())
        self.assertEqual((card["trial"], card["trainings"]), (best["trial"], 3))

    def test_a_repeat_that_was_interrupted_continues_and_a_larger_budget_continues_the_search(self):
        process = self.start("run", self.noisy(repeat=2, budget="36 epochs", delay=0.05), "--quiet")

        def repeats_begin():
            if not os.path.exists(self.path("noisy.bapi", "study.db")):
                return False
            return any(t.get("repeat_of") is not None for t in self.json("trials", "noisy"))

        self.wait_for(repeats_begin, "the first repeat")
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        self.bapi("run", "study.yaml", "--quiet")
        status = self.check_books("noisy")
        self.assertLessEqual(status["budget"]["spent"], 36)
        self.check_best_by_mean()
        trials = len(self.json("trials", "noisy"))
        self.bapi("run", "study.yaml", "--quiet", "--budget", "72 epochs")
        self.assertLessEqual(self.check_books("noisy")["budget"]["spent"], 72)
        self.assertGreater(len(self.json("trials", "noisy")), trials)
        self.check_best_by_mean()

    def test_smoothed_values_choose_the_epoch_whose_model_is_kept(self):
        self.bapi("run", self.noisy(metric=", smooth: 3", budget="60 epochs", delay=0.03), "--quiet")
        best = self.json("best", "noisy")
        curve = self.json("show", "noisy", str(best["trial"]))["curve"]
        values = [row["value"] for row in curve]
        means = [statistics.mean(values[max(0, i - 2) : i + 1]) for i in range(len(values))]
        for row, mean in zip(curve, means):
            self.assertAlmostEqual(row["smoothed"], mean)
        self.assertAlmostEqual(best["value"], max(means))
        self.assertEqual(best["epoch"], means.index(max(means)) + 1)
        self.assertEqual(best["checkpoint_epoch"], best["epoch"])
        self.assertEqual(int(pathlib.Path(best["checkpoint"], "epoch").read_text()), best["epoch"])

    def test_trials_that_count_by_their_last_epoch(self):
        self.bapi("run", self.noisy(metric=", of: last", budget="60 epochs", delay=0.03), "--quiet")
        best = self.json("best", "noisy")
        last = {t["trial"]: self.json("show", "noisy", str(t["trial"]))["curve"][-1] for t in self.json("trials", "noisy")}
        self.assertAlmostEqual(best["value"], max(row["value"] for row in last.values()))
        self.assertEqual(best["epoch"], last[best["trial"]]["epoch"])
        self.assertEqual(best["checkpoint_epoch"], best["epoch"])
        self.assertIn("last score", self.bapi("trials", "noisy").stdout)
        steps = self.json("show", "noisy", str(best["trial"]))
        self.assertEqual(steps["best_epoch"], len(steps["curve"]))

    def test_what_counts_cannot_be_changed_once_something_was_reported(self):
        self.bapi("run", self.noisy(budget="24 epochs"), "--quiet")
        said = self.bapi("run", self.noisy(metric=", smooth: 2", budget="24 epochs"), "--quiet", code=2).stderr
        self.assertIn("metric.smooth", said)

    def test_other_metrics_are_drawn(self):
        self.bapi("run", self.noisy(budget="24 epochs"), "--quiet")
        paths = [row["path"] for row in self.json("plot", "noisy", "--out", "plots")]
        drawn = next(path for path in paths if path.endswith("metrics.val_loss.svg"))
        self.assertIn("val/loss", pathlib.Path(self.dir, drawn).read_text())


if __name__ == "__main__":
    main()

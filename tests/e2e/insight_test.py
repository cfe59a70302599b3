#!/usr/bin/env python3
"""What the planner thinks of a study: of a finished one, one that runs or is paused, one without a report."""

import csv
import json
import os
import re
import signal
import unittest
import xml.etree.ElementTree as ElementTree

from harness import PATIENCE, EndToEnd

COMMANDS = [["explain"], ["plan"], ["what-if", "--budget", "+30 epochs"], ["forecast"], ["calibration"]]
NEED_REPORTS = {"plan", "what-if", "forecast"}


class Insight(EndToEnd):
    def check_picture(self, *parts):
        with open(self.path(*parts)) as file:
            text = file.read()
        ElementTree.fromstring(text)
        self.assertIsNone(re.search(r"\b(nan|inf)\b", text, re.IGNORECASE), parts)
        return text

    def check_numbers(self, document):
        """Every number of a document that has all digits is finite: json.loads takes NaN for a number."""
        json.loads(json.dumps(document, allow_nan=False))

    def check_all(self, study="mlp"):
        """What every command promises of a study with reports, in every format."""
        for words in COMMANDS:
            self.assertTrue(self.bapi(words[0], study, *words[1:]).stdout)
            rows = list(csv.reader(self.bapi(words[0], study, *words[1:], "-f", "csv").stdout.splitlines()))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, words)

        decisions = self.json("explain", study)
        self.assertEqual(list(decisions[0]), ["seq", "at", "trial", "decision", "rule", "because", "reason", "assignment"])
        self.assertEqual(decisions[0]["decision"].split(",")[0], "start trial 0")
        of_trial = self.json("explain", study, "0")
        self.assertTrue(of_trial)
        self.assertTrue({row["seq"] for row in of_trial} <= {row["seq"] for row in decisions})

        plan = self.json("plan", study)
        self.assertLessEqual({"budget", "left", "runs", "decision", "final_best"}, set(plan))
        self.assertEqual(list(plan["final_best"]), ["mean", "low", "high"])
        for run in plan["runs"]:
            promised = {"next", "trial", "from", "until", "cost", "predicted", "improvement", "config"}
            self.assertLessEqual(promised, set(run))
            self.assertGreater(run["until"], run["from"])
        self.assertLessEqual(sum(run["cost"] for run in plan["runs"]), plan["budget"] + 1e-9)
        self.assertLessEqual(sum(run["next"] for run in plan["runs"]), 1)

        outlook = self.json("what-if", study, "--budget", "+30 epochs")
        self.assertEqual(list(outlook[0]), ["runs", "budget", "best", "low", "high"])
        self.check_picture(f"{study}.bapi", "plots", "what-if.svg")

        forecasts = self.json("forecast", study)
        self.assertEqual(
            list(forecasts[0]),
            ["trial", "epochs", "now", "final", "low", "high", "stop", "cost_to_finish", "chance_of_best"],
        )
        for row in forecasts:
            self.assertLessEqual(row["low"], row["final"])
            self.assertLessEqual(row["final"], row["high"])
            self.assertTrue(0 <= row["chance_of_best"] <= 1)
        self.check_picture(f"{study}.bapi", "plots", "forecast.svg")
        course = self.json("forecast", study, "0", "-o", "pictures")
        self.assertEqual([row["epoch"] for row in course], list(range(1, 10)))
        self.assertEqual(list(course[0]), ["epoch", "measured", "expected", "low", "high"])
        self.check_picture("pictures", "forecast-0.svg")

        calibration = self.json("calibration", study)
        self.assertEqual([row["predicted"] for row in calibration], ["value", "cost"])
        for document in (decisions, plan, outlook, forecasts, course, calibration):
            self.check_numbers(document)
        return plan, outlook

    def test_a_finished_study(self):
        self.bapi("run", self.study(policy="bapi", budget='"60 epochs"'), "--quiet")
        plan, outlook = self.check_all()
        self.assertEqual((plan["budget"], plan["runs"], plan["decision"]), (0, [], None))
        self.assertIn("no affordable trial is expected to improve", self.bapi("plan", "mlp").stdout)
        calibration = self.json("calibration", "mlp")
        self.assertGreater(calibration[0]["count"], 0)
        self.assertLessEqual(calibration[0]["within_50"], calibration[0]["within_95"])

        best = self.json("status", "mlp")["best"]["value"]
        self.assertEqual(outlook[0], {"runs": 0, "budget": 60, "best": best, "low": best, "high": best})
        self.assertEqual(outlook[-1]["budget"], 90)
        # More budget is never worse, and the answer goes as far as the question.
        far = self.json("what-if", "mlp", "--budget", "50000 epochs")
        self.assertEqual(far[-1]["budget"], 50000)
        values = [row["best"] for row in far]
        self.assertEqual(values, sorted(values))
        self.assertGreater(len(values), 3)

    def test_a_study_that_runs_and_one_that_is_paused(self):
        policy = "{name: bapi, horizon: 2}"
        process = self.start("run", self.study(policy=policy, budget='"200 epochs"', delay=0.1, workers=2))
        self.wait_for_reports(12)
        for words in COMMANDS:  # while it goes on
            self.json(words[0], "mlp", *words[1:])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        plan, outlook = self.check_all()
        self.assertEqual(len(plan["runs"]), 2)
        self.assertEqual(len(self.json("plan", "mlp", "--horizon", "3")["runs"]), 3)
        self.assertIn(plan["decision"]["action"], ["start", "resume"])
        self.assertGreater(plan["decision"]["until"], 0)
        # A trial that was ended is resumed, one that is still running is trained on.
        words = {"resume": "(resume|train)"}.get(plan["decision"]["action"], plan["decision"]["action"])
        self.assertRegex(self.bapi("plan", "mlp").stderr, f"next, bapi would {words}")
        spent = self.json("status", "mlp")["budget"]["spent"]
        self.assertEqual(outlook[0]["budget"], spent)
        self.assertEqual(outlook[-1]["budget"], 230)

    def test_a_study_of_another_policy_is_looked_at_all_the_same(self):
        self.bapi("run", self.study(policy="hyperband"), "--quiet")
        self.check_all()
        self.assertIn("no predicted epoch has been reached yet", self.bapi("calibration", "mlp").stderr)

    def check_without_reports(self, study):
        self.assertEqual([row["count"] for row in self.json("calibration", study)], [0, 0])
        decisions = self.json("explain", study)
        self.assertEqual(decisions[0]["trial"], 0)
        self.assertIn("start trial 0", self.bapi("explain", study).stdout)
        for words in COMMANDS:
            if words[0] in NEED_REPORTS:
                refused = self.bapi(words[0], study, *words[1:], code=2)
                self.assertIn("no trial has reported", refused.stderr)
                self.assertEqual(refused.stdout, "")
        refused = self.bapi("simulate", f"{study}.bapi", code=2)
        self.assertIn("no trial of this study has finished an epoch", refused.stderr)

    def test_a_study_without_a_report(self):
        process = self.start("run", self.study(policy="bapi", delay=60.0))
        self.wait_for(lambda: os.path.exists(self.path("mlp.bapi", "study.db")), "the study")
        self.wait_for(lambda: self.json("trials", "mlp"), "a trial")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.check_without_reports("mlp")

    def test_a_study_whose_trials_all_fail(self):
        self.write("study.yaml", """
name: bad
command: [sh, -c, "exit 3"]
metric: {name: accuracy, goal: maximize}
budget: 40 epochs
epochs: {min: 1, max: 3}
max_failures: 3
policy: bapi
parameters: {x: {min: 0.0, max: 1.0}}
""")
        self.bapi("run", "study.yaml", "--quiet", "--keep-going", code=1)
        self.check_without_reports("bad")

    def test_wrong_use_is_answered_in_a_sentence(self):
        self.bapi("run", self.study(budget='"12 epochs"'), "--quiet")
        for words, answer in [
            (["explain", "mlp", "99"], "there is no trial 99"),
            (["forecast", "mlp", "99"], "there is no trial 99"),
            (["explain", "mlp", "99999999999999999999"], "the number of a trial"),
            (["forecast", "mlp", "99999999999999999999"], "the number of a trial"),
            (["explain", "mlp", "1", "2"], "one study and at most one trial"),
            (["plan", "nowhere"], "nowhere"),
            (["plan", "mlp", "-f", "xml"], "table, json, csv"),
            (["plan", "mlp", "--horizon", "0"], "an integer from 1 to 16"),
            (["plan", "mlp", "--horizon", "17"], "an integer from 1 to 16"),
            (["what-if", "mlp"], "needs --budget"),
            (["what-if", "mlp", "--budget", "1h"], "the study's budget is in epochs"),
            (["what-if", "mlp", "--budget", "5 epochs"], "is spent already"),
            (["what-if", "mlp", "--budget", "many"], "many"),
        ]:
            with self.subTest(words=words):
                result = self.bapi(*words, code=2)
                self.assertIn(answer, result.stderr)
                self.assertEqual(result.stdout, "")


HEADER = """# metric: {name: error, goal: minimize}
# cost_unit: s
# parameters:
#   lr: {min: 0.01, max: 1, log: true}
#   opt: {values: [sgd, adam]}
lr,opt,epoch,error,cost
"""


class Simulate(EndToEnd):
    KEYS = [
        "policy", "table", "seed", "budget", "spent", "best", "regret", "normalised_regret", "decisions", "trials",
        "failed", "overhead_seconds", "trajectory",
    ]  # fmt: skip

    def curves(self, name="curves.csv", value=lambda row, t: (10 - row) / (9 + t)):
        lines = [f"{0.05 * (row + 1)},{['sgd', 'adam'][row % 2]},{t},{value(row, t)},{1 + row}"
                 for row in range(10) for t in range(1, 6)]  # fmt: skip
        return self.write(name, HEADER + "\n".join(lines) + "\n")

    def simulate(self, *words):
        result = self.json("simulate", *words)
        self.assertEqual(list(result), self.KEYS)
        self.assertLessEqual(result["spent"], result["budget"] * (1 + 1e-9))
        self.assertEqual(result["trajectory"][-1][1], result["best"])
        spent = [point[0] for point in result["trajectory"]]
        self.assertEqual(spent, sorted(spent))
        self.assertGreaterEqual(result["regret"], 0)
        return result

    def test_a_csv_table(self):
        table = self.curves()
        for policy in ["bapi", "hyperband", "random"]:
            result = self.simulate(table, "--policy", policy, "--budget", "3full", "--seed", "1", "--workers", "2")
            self.assertEqual((result["policy"], result["seed"]), (policy, 1))
            self.assertAlmostEqual(result["budget"], 3 * 5 * 5.5)
        again = self.simulate(table, "--policy", "random", "--budget", "3full", "--seed", "1", "--workers", "2")
        for key in set(self.KEYS) - {"overhead_seconds"}:
            self.assertEqual(again[key], result[key])
        text = self.bapi("simulate", table, "--budget", "60").stdout
        self.assertIn("normalised regret", text)
        self.assertRegex(text, "trajectory +[▁▂▃▄▅▆▇█ ]+\n")
        row = next(csv.DictReader(self.bapi("simulate", table, "--budget", "60", "-f", "csv").stdout.splitlines()))
        self.assertEqual(list(row), self.KEYS)

    def test_a_finished_study(self):
        self.bapi("run", self.study(policy="hyperband", budget='"60 epochs"'), "--quiet")
        complete = [trial for trial in self.json("trials", "mlp") if trial["epochs"] == 9]
        self.assertTrue(0 < len(complete) < len(self.json("trials", "mlp")))
        # A full run is one of nine epochs, however many were stopped before.
        self.assertEqual(self.simulate("mlp.bapi", "--policy", "random", "--budget", "2full")["budget"], 18)
        self.assertEqual(self.simulate("mlp.bapi", "--budget", "100full")["regret"], 0)

    def test_made_up_curves(self):
        for shape in ["power-law", "sigmoid", "diverging", "crossing"]:
            self.simulate(f"synthetic:{shape},rows=20,dims=2,epochs=6,seed=3", "--policy", "asha", "--budget", "4full")
        seed = str(2**64 - 1)
        result = self.simulate("synthetic:sigmoid,rows=20,epochs=6", "--policy", "random", "--seed", seed)
        self.assertEqual(result["seed"], 2**64 - 1)

    def test_a_run_without_a_result_has_no_value(self):
        result = self.json("simulate", self.curves(), "--policy", "random", "--budget", "0.5")
        self.assertEqual((result["best"], result["normalised_regret"], result["trajectory"]), (None, 1.5, []))

    def test_wrong_use_is_answered_in_a_sentence(self):
        table = self.curves()
        only_nan = self.curves("nan.csv", lambda row, t: "nan")
        self.write("outside.csv", HEADER + "5,sgd,1,0.2,1\n")
        self.write("free.csv", HEADER + "0.5,sgd,1,0.2,0\n")
        self.write("surrogate.json", json.dumps({"arrays": [], "tasks": {"first": 0, "second": 1}}))
        self.write("surrogate.weights", "")
        for words, answer in [
            ([only_nan], "no finite value of error"),
            (["outside.csv"], "outside.csv:7: lr = 5, expected a number from 0.01 to 1"),
            (["free.csv"], "budget"),
            (["nowhere.csv"], "nowhere.csv"),
            ([table, "--seed", "-1"], "expected a whole number from 0"),
            ([table, "--seed", "18446744073709551616"], "expected a whole number from 0"),
            ([table, "--budget", "0"], "must be positive"),
            ([table, "--policy", "rnadom"], "random"),
            ([table, "--policy", "ei", "-o", "initial_runs=2.7"], "auto or an integer from 1 to 1000"),
            ([table, "-o", "horizn=2"], "horizon"),
            (["synthetic:crossing,rows=2.5"], "synthetic:rows: found \"2.5\", expected a whole number"),
            (["synthetic:crossing,rows=1000000000000"], "synthetic:rows"),
            (["synthetic:crossing,rows=1000000"], "rows = 1000000, must be from 2 to 100000"),
            (["synthetic:zigzag"], "power-law"),
            (["surrogate.json"], "Say surrogate.json:TASK; there are first, second"),
            (["surrogate.json:frist"], "did you mean first?"),
        ]:
            with self.subTest(words=words):
                result = self.bapi("simulate", *words, code=2)
                self.assertIn(answer, result.stderr)
                self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Runs that are kept in the repository: what is kept, and which are restored.

Usage: kept_runs_test.py BAPI
"""

import json
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

import kept_runs  # noqa: E402
from kept_runs import keep, read_log, restore, still_valid  # noqa: E402

BAPI = ""
POLICIES = "random,hyperband,far=bapi-4:horizon=8"


def run(policy, table, seed, final):
    return {"policy": policy, "table": table, "seed": seed, "budget": kept_runs.PROBE_BUDGET, "workers": 1, "final": final,
            "decisions": 3, "spent": 1.5, "trajectory": [[0.123456, 0.1234567890123]], "overhead_seconds": 0.123456,
            "decision_times": [[1.0, 1, 0.1]]}


def about(**contents):
    return [{"bapi comparison": 1}, *({"table": name, "contents": text} for name, text in contents.items()),
            {"policy": "a", "is": "a"}, {"policy": "b", "is": "b"}]


class Validity(unittest.TestCase):
    RUNS = [run("a", "t", 0, 0.5), run("a", "t", 1, 0.4), run("b", "t", 0, 0.3), run("a", "u", 0, 0.7), run("b", "u", 0, 0.6)]

    def test_all_runs_stay_where_nothing_changed(self):
        left = still_valid(about(t="1", u="2"), self.RUNS, (about(t="1", u="2"), self.RUNS))
        self.assertEqual(left, (about(t="1", u="2"), self.RUNS, []))

    def test_a_policy_that_ends_elsewhere_loses_all_its_runs(self):
        today = [*self.RUNS[:2], run("b", "t", 0, 0.31), *self.RUNS[3:]]
        head, runs, reasons = still_valid(about(t="1", u="2"), self.RUNS, (about(t="1", u="2"), today))
        self.assertEqual({r["policy"] for r in runs}, {"a"})
        self.assertEqual(len(runs), 3)
        self.assertNotIn({"policy": "b", "is": "b"}, head)
        self.assertEqual(reasons, ["b decides otherwise now"])

    def test_a_policy_that_was_kept_without_the_probed_seed_loses_its_runs(self):
        kept = [r for r in self.RUNS if r["policy"] == "a" or r["seed"] > 0] + [run("b", "t", 1, 0.3)]
        _, runs, reasons = still_valid(about(t="1", u="2"), kept, (about(t="1", u="2"), self.RUNS))
        self.assertEqual({r["policy"] for r in runs}, {"a"})
        self.assertEqual(reasons, ["b decides otherwise now"])

    def test_a_table_with_other_curves_loses_its_runs_and_no_policy_does(self):
        today = [run(r["policy"], r["table"], r["seed"], 0.9) if r["table"] == "u" else r for r in self.RUNS]
        head, runs, reasons = still_valid(about(t="1", u="2"), self.RUNS, (about(t="1", u="other"), today))
        self.assertEqual({r["table"] for r in runs}, {"t"})
        self.assertNotIn({"table": "u", "contents": "2"}, head)
        self.assertEqual(reasons, ["u has other curves now"])


class Comparison(unittest.TestCase):
    """Of three policies on one recorded table."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.table = HERE / "tables/mlp-covtype.csv"
        self.kept = self.scratch / "runs.log.xz"
        self.compare("first")
        keep(self.scratch / "first", self.kept)

    def compare(self, directory, seeds=2):
        answer = subprocess.run([BAPI, "compare", "--tables", self.table, "--policies", POLICIES, "--seeds", str(seeds),
                                 "--budgets", "5full,10full", "--out", self.scratch / directory, "--format", "json"],
                                capture_output=True, text=True)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return [[(rank["policy"], rank["rank"], rank["normalised_regret"]) for rank in summary["ranks"]]
                for summary in json.loads(answer.stdout)], answer.stderr

    def test_a_restored_comparison_continues_with_the_same_results(self):
        restore(self.scratch / "second", BAPI, self.table, self.kept)
        size = len(read_log((self.scratch / "second/runs.log").read_text())[1])
        self.assertEqual(size, 3 * 2 * 2)
        found, _ = self.compare("second")
        self.assertEqual(found, self.compare("first")[0])
        self.assertEqual(len(read_log((self.scratch / "second/runs.log").read_text())[1]), size)   # none was run
        self.compare("second", seeds=3)
        self.assertEqual(len(read_log((self.scratch / "second/runs.log").read_text())[1]), 3 * 2 * 3)

    def test_what_is_kept_of_kept_runs_is_the_same_again(self):
        before = self.kept.read_bytes()
        restore(self.scratch / "second", BAPI, self.table, self.kept)
        keep(self.scratch / "second", self.kept)
        self.assertEqual(self.kept.read_bytes(), before)

    def test_runs_of_another_policy_under_the_same_name_are_left_out(self):
        head, runs = read_log(kept_runs.kept_text(self.kept))
        for one in runs:
            if one["policy"] == "hyperband":
                one["final"] += 0.001
        self.kept.write_bytes(lzma.compress(kept_runs.write_log(head, runs).encode()))
        restore(self.scratch / "second", BAPI, self.table, self.kept)
        restored = read_log((self.scratch / "second/runs.log").read_text())[1]
        self.assertEqual({one["policy"] for one in restored}, {"random", "far"})
        self.assertEqual(self.compare("second")[0], self.compare("first")[0])

    def test_a_comparison_that_has_runs_stays_as_it_is(self):
        before = (self.scratch / "first/runs.log").read_bytes()
        self.kept.unlink()   # it is not even read
        restore(self.scratch / "first", BAPI, self.table, self.kept)
        self.assertEqual((self.scratch / "first/runs.log").read_bytes(), before)


def table(page, name):
    """Between its marks."""
    return re.search(rf"<!-- results: {name} -->\n(.*?)<!-- end of results -->", page.read_text(), re.DOTALL)[1]


class Page(unittest.TestCase):
    def test_tables_and_panels_are_what_the_report_says_of_the_kept_runs(self):
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            (scratch / "runs.log").write_text(kept_runs.kept_text())
            shutil.copy(HERE / "README.md", scratch)
            answer = subprocess.run([sys.executable, HERE / "report", scratch, "--page", scratch / "README.md"],
                                    capture_output=True, text=True)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            for name in ("eight", "settings"):
                self.assertEqual(table(scratch / "README.md", name), table(HERE / "README.md", name))
            panels = list(scratch.glob("panels-*.svg"))
            self.assertGreaterEqual(len(panels), 2)
            for drawn in panels:
                self.assertEqual(drawn.read_text(), (HERE / drawn.name).read_text(), drawn.name)


if __name__ == "__main__":
    BAPI = sys.argv[1]
    unittest.main(argv=sys.argv[:1])

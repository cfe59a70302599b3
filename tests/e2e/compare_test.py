#!/usr/bin/env python3
"""`bapi compare` as users run it: killed and continued, on any number of threads, on every kind of table."""

import csv
import json
import os
import pathlib
import random
import subprocess
import time
import unittest

from harness import BAPI, PATIENCE, EndToEnd

TABLES = ["synthetic:crossing,rows=60,epochs=20", "synthetic:power-law,rows=60,epochs=20"]
POLICIES = "random,hyperband,bohb,asha,top-k,short=top-k:epochs=0.2"


class Compare(EndToEnd):
    def compare(self, out, *more, tables=TABLES, policies=POLICIES, seeds="4", code=0):
        words = ["compare", "--tables", *tables, "--policies", policies, "--seeds", seeds, "--out", out]
        return self.bapi(*words, "--budgets", "2full,6full", *more, code=code)

    def listing(self, out, name):
        with open(pathlib.Path(self.dir) / out / name, newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row.pop("overhead_seconds", None)  # measured, the only thing that may differ
        return rows

    def assert_same_results(self, one, other):
        for name in ("runs.csv", "ranks.csv", "curves.csv"):
            self.assertEqual(self.listing(one, name), self.listing(other, name), name)

    def test_results_do_not_depend_on_the_number_of_threads(self):
        self.compare("one", "--jobs", "1")
        self.compare("two", "--jobs", "2")
        self.assert_same_results("one", "two")
        self.assertEqual(len(self.listing("one", "runs.csv")), 2 * 6 * 4 * 2)

    def test_killed_at_any_instant_it_goes_on_to_the_same_end(self):
        self.compare("undisturbed", seeds="12")
        instants = random.Random(20)
        command = [os.path.abspath(BAPI), "compare", "--tables", *TABLES, "--policies", POLICIES, "--seeds", "12"]
        command += ["--budgets", "2full,6full", "--out", "killed", "--quiet"]
        kills = 0
        while True:
            process = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.started.append(process)
            try:
                # The later, the longer it may live, so that it comes to an end on a slow machine too.
                process.wait(timeout=instants.uniform(0.0, 0.02) + 0.01 * kills)
                self.assertEqual(process.returncode, 0)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        self.assertGreater(kills, 0)
        self.assert_same_results("undisturbed", "killed")

    def test_interrupt_keeps_what_is_finished(self):
        command = [os.path.abspath(BAPI), "compare", "--tables", *TABLES, "--policies", POLICIES, "--seeds", "2000"]
        command += ["--budgets", "6full", "--out", "long", "--quiet"]
        process = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        log = pathlib.Path(self.dir) / "long" / "runs.log"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (log.exists() and log.stat().st_size > 20000):
            time.sleep(0.01)
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertIn("are kept", errors)

    def test_more_may_be_added_and_nothing_else_changed(self):
        self.compare("grown", policies="random,asha", seeds="2")
        self.compare("grown")
        self.compare("whole")
        self.assert_same_results("grown", "whole")
        refused = self.compare("grown", policies="random=asha", code=2)
        self.assertIn("there random is random, in this comparison it is asha", refused.stderr)
        refused = self.compare("grown", "--charge-overhead", code=2)
        self.assertIn("overhead none", refused.stderr)

    def test_takes_studies_files_directories_and_indexes(self):
        data = pathlib.Path(self.dir) / "data"
        (data / "deep").mkdir(parents=True)
        for name in ("first", "second"):
            lines = ["# metric: {name: accuracy, goal: maximize}", "# parameters:", "#   lr: {min: 0.01, max: 1}"]
            lines += ["lr,epoch,accuracy,cost"]
            for row in range(8):
                lines += [f"{0.1 + 0.1 * row},{t},{(row + t) / 20},{1 + row}" for t in range(1, 5)]
            (data / "deep" / f"{name}.csv").write_text("\n".join(lines) + "\n")
        (data / "notes.csv").write_text("a,b\n1,2\n")

        def names(out):
            return {row["table"] for row in self.listing(out, "runs.csv")}

        self.compare("by_directory", tables=["data"], policies="random,asha")
        both = names("by_directory")
        self.assertEqual(len(both), 2)

        (data / "other").mkdir()
        (data / "other" / "first.csv").write_text((data / "deep" / "first.csv").read_text())
        namesakes = ["data/deep/first.csv", "data/other/first.csv"]
        self.compare("namesakes", tables=namesakes, policies="random,asha")
        self.assertEqual(names("namesakes"), set(namesakes))

        (data / "INDEX.csv").write_text("table,configs\ndeep/first.csv,8\n")
        self.compare("by_index", tables=["data/INDEX.csv"], policies="random,asha")
        self.compare("by_indexed_directory", tables=["data"], policies="random,asha")
        self.assertEqual(len(names("by_index")), 1)
        self.assertEqual(names("by_index"), names("by_indexed_directory"))

        self.bapi("run", self.study("mlp"), "--quiet")
        self.compare("by_study", tables=["mlp.bapi", "data/deep/first.csv"], policies="random,asha")
        self.assertIn("mlp", names("by_study"))

        (data / "empty").mkdir()
        self.assertIn("there is no table in it", self.compare("none", tables=["data/empty"], code=2).stderr)

    def test_summary_is_printed_in_each_format(self):
        self.assertIn("budget 2full, 1 worker: 2 tables, 4 seeds", self.compare("c").stdout)
        document = json.loads(self.compare("c", "-f", "json").stdout)
        self.assertEqual([entry["budget"] for entry in document], ["2full", "6full"])
        rows = list(csv.DictReader(self.compare("c", "-f", "csv").stdout.splitlines()))
        self.assertEqual(len(rows), 12)
        self.assertEqual(self.compare("c", "--quiet").stderr, "")

    def table(self, name, header="", cost=1, value=0.5):
        head = f"# metric: {{name: accuracy, goal: maximize}}\n{header}# parameters: {{lr: {{min: 0.01, max: 1}}}}\n"
        return self.write(name, head + f"lr,epoch,accuracy,cost\n0.1,1,{value},{cost}\n0.2,1,{value},{cost}\n")

    def test_wrong_use_is_answered_in_a_sentence(self):
        for words, answer in [
            ([], "needs --tables PATH... and --policies NAME,... and --out DIR"),
            (["--tables", self.table("free.csv", cost=0), "--policies", "random", "--out", "c"], "cost nothing"),
            (["--tables", self.table("nan.csv", value="nan"), "--policies", "random", "--out", "c"], "no finite value"),
            (["--tables", TABLES[0], "--policies", "random", "--out", "c", "--jobs", "0"], "--jobs 0"),
            (["--tables", TABLES[0], "--policies", "random", "--out", "c", "--workers", "1.5"], "whole number"),
        ]:
            with self.subTest(words=words):
                self.assertIn(answer, self.bapi("compare", *words, code=2).stderr)

    def test_any_number_of_jobs_is_enough(self):
        self.compare("many", "--jobs", "40000")
        self.compare("one", "--jobs", "1")
        self.assert_same_results("many", "one")

    def test_says_on_which_tables_decisions_are_not_charged(self):
        tables = [self.table("plain.csv"), self.table("timed.csv", header="# cost_unit: s\n")]
        note = "decisions are not charged on 1 of 2 tables, whose cost is not in seconds: plain"
        self.assertIn(note, self.compare("charged", "--charge-overhead", tables=tables).stderr)
        self.assertNotIn("not charged", self.compare("free", tables=tables).stderr)
        report = (pathlib.Path(self.dir) / "charged" / "report.html").read_text()
        self.assertIn("free of charge on plain, whose cost is not in seconds", report)

    def test_a_run_without_a_result_counts_the_same_everywhere(self):
        self.bapi("compare", "--tables", self.table("t.csv", cost=5), "--policies", "random,asha", "--seeds", "2",
                  "--budgets", "1", "--out", "c")  # fmt: skip
        for _ in range(2):  # the second time from the log
            runs = self.listing("c", "runs.csv")
            self.assertEqual({(row["final"], row["normalised_regret"]) for row in runs}, {("", "1.5")})
            self.assertEqual({row["normalised_regret"] for row in self.listing("c", "ranks.csv")}, {"1.5"})
            self.assertEqual({row["normalised_regret"] for row in self.listing("c", "curves.csv")}, {"1.5"})
            self.bapi("compare", "--tables", "t.csv", "--policies", "random,asha", "--seeds", "2", "--budgets", "1",
                      "--out", "c")  # fmt: skip

    def test_a_damaged_line_and_a_second_comparison_are_named(self):
        self.compare("c", seeds="1")
        log = pathlib.Path(self.dir) / "c" / "runs.log"
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(lines[:10] + ["x" + lines[10]] + lines[11:]))
        refused = self.compare("c", seeds="1", code=2).stderr
        self.assertIn("runs.log:11: not a line of a comparison's log; delete it (sed -i 11d", refused)
        log.write_text("".join(lines[:10] + lines[11:]))
        self.compare("c", seeds="1")

        process = self.start("compare", "--tables", *TABLES, "--policies", POLICIES, "--seeds", "2000", "--out", "long")
        self.wait_for(lambda: (pathlib.Path(self.dir) / "long" / "runs.log").exists(), "the other comparison")
        refused = self.compare("long", code=3).stderr
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertIn(f"process {process.pid} on ", refused)
        self.assertIn("is writing to it already", refused)
        self.assertNotIn("study", refused)

    def test_workers_are_part_of_a_run(self):
        self.compare("workers", "--workers", "1,4", policies="random,asha")
        self.assertEqual({row["workers"] for row in self.listing("workers", "runs.csv")}, {"1", "4"})
        self.assertEqual(len(self.listing("workers", "ranks.csv")), 2 * 2 * 2)


if __name__ == "__main__":
    unittest.main()

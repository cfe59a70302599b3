#!/usr/bin/env python3
"""`bapi submit slurm` on a real Slurm of one node, which the test starts.

    tests/cluster/slurm_test.py --bapi build/release/bapi [--program PROGRAM] [test ...]

The jobs run stand_in_worker.py, or another PROGRAM that keeps the same book, in the place of `bapi worker`. Without
Slurm's programs the tests are skipped; with BAPI_REQUIRE_CLUSTER_TESTS in the environment they fail.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import unittest

from slurm import Slurm, missing_programs, wait_until

HERE = pathlib.Path(__file__).resolve().parent
STUDY = "postgresql://ann@db.example/tuning#mlp"
OPTIONS = argparse.Namespace(bapi=None, program=str(HERE / "stand_in_worker.py"))


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = missing_programs()
        if missing:
            reason = f"{', '.join(missing)}: not installed; tools/install-deps cluster does that"
            if os.environ.get("BAPI_REQUIRE_CLUSTER_TESTS"):
                raise AssertionError(reason)
            raise unittest.SkipTest(reason)
        cls.slurm = Slurm()
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()

    def setUp(self):
        self.book = self.slurm.dir / f"{self._testMethodName}.book"
        self.addCleanup(self.clear_queue)

    def clear_queue(self):
        jobs = {job.split("_")[0] for job in self.slurm.jobs()}
        for job in jobs:
            self.slurm.try_run("scancel", job)
        wait_until(lambda: not self.slurm.jobs(), "an empty queue")

    def submit(self, *words, study=STUDY, options=(), expect=0):
        """The number of the job, or what the program says if it is expected to fail."""
        output = f"--output={self.slurm.dir}/{self._testMethodName}-%a.out"
        done = subprocess.run(
            [OPTIONS.bapi, "submit", "slurm", study, "--program", OPTIONS.program, *words, "--", output, *options],
            env={**self.slurm.environment, "BAPI_STAND_IN_BOOK": str(self.book)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout.split()[-1] if expect == 0 else done.stderr

    def events(self, what=None):
        """(element, restarts) of everything in the book, or of one kind of event, in order."""
        if not self.book.exists():
            return []
        return [
            (record["element"], record["restarts"])
            for record in map(json.loads, self.book.read_text().splitlines())
            if what in (None, record["what"])
        ]

    def wait_for(self, what, *events):
        wait_until(lambda: set(events) <= set(self.events(what)), lambda: f"{what} of {events} in {self.events()}")

    def test_as_many_at_a_time_as_there_are_workers_and_all_in_the_end(self):
        self.submit("--workers", "2", "--chain", "2", study=STUDY + "-brief")
        most = 0

        def over():
            nonlocal most
            most = max(most, list(self.slurm.jobs().values()).count("RUNNING"))
            return not self.slurm.jobs()

        wait_until(over, "the end of all jobs")
        self.assertEqual(sorted(self.events("end")), [(1, 0), (2, 0), (3, 0), (4, 0)])
        self.assertLessEqual(most, 2)

    def test_every_word_arrives_as_it_was_given(self):
        comment = "it's \"so\" #1 \\ $HOME `id` ;|&<>(){}[]!?*~"
        folder = f"{self.slurm.dir}/a b'c\"$(id)"
        job = self.submit("--slots", "3", "--dir", folder, study=STUDY + "-brief", options=["--comment", comment])
        self.wait_for("start", (1, 0))
        record = json.loads(self.book.read_text().splitlines()[0])
        self.assertEqual(record["arguments"], ["worker", STUDY + "-brief", "--slots", "3", "--dir", folder])
        shown = self.slurm.run("scontrol", "show", "job", job)
        self.assertIn(f"Comment={comment}", shown)
        self.assertIn("JobName=bapi-mlp-brief", shown)

    def test_a_worker_that_is_told_to_leave_is_followed_by_the_next(self):
        job = self.submit("--workers", "2", "--chain", "2")
        self.wait_for("start", (1, 0), (2, 0))
        self.assertEqual(sorted(self.events("start")), [(1, 0), (2, 0)])
        self.slurm.try_run("scancel", "--batch", "--signal=USR1", f"{job}_1")
        self.wait_for("SIGUSR1", (1, 0))
        self.wait_for("start", (3, 0))
        self.assertNotIn((4, 0), self.events("start"))

    def test_a_worker_is_told_before_its_time_is_over(self):
        self.submit("--chain", "2", options=["--time=3"])
        self.wait_for("SIGUSR1", (1, 0))
        self.assertNotIn((1, 0), self.events("SIGTERM"))
        self.wait_for("start", (2, 0))

    def test_a_worker_that_is_preempted_is_told_and_starts_again(self):
        self.submit("--workers", "2", options=["--partition=low"])
        self.wait_for("start", (1, 0), (2, 0))
        high = self.slurm.run(
            *["sbatch", "--parsable", "--partition=high", "--cpus-per-task=2", "--output=/dev/null", "--wrap=sleep 999"]
        ).strip()
        self.wait_for("SIGTERM", (1, 0), (2, 0))
        self.slurm.run("scancel", high)
        self.wait_for_restarts((1, 1), (2, 1))
        output = (self.slurm.dir / f"{self._testMethodName}-1.out").read_text()
        self.assertEqual(output.count("element 1\n"), 2, "the output of the first life is kept")

    def test_what_a_node_had_starts_again_when_the_node_is_back(self):
        job = self.submit("--workers", "1")
        self.wait_for("start", (1, 0))
        node = f"nodename={self.slurm.host}"
        self.slurm.run("scontrol", "update", node, "state=down", "reason=test")
        wait_until(lambda: self.slurm.jobs().get(f"{job}_1") == "PENDING", "the job queued again")
        self.slurm.run("scontrol", "update", node, "state=resume")
        self.wait_for_restarts((1, 1))

    def wait_for_restarts(self, *events):
        """Slurm holds back what it has queued again, for two minutes, unless it is told to start it."""
        told = set()

        def restarted():
            for element in {job for job, why in self.slurm.pending().items() if why == "BeginTime"} - told:
                self.slurm.try_run("scontrol", "update", f"jobid={element}", "starttime=now")
                told.add(element)
            return set(events) <= set(self.events("start"))

        wait_until(restarted, lambda: f"start of {events} in {self.events()}; {self.slurm.pending()}")

    def test_a_job_that_slurm_refuses_is_an_error_with_advice(self):
        self.assertIn("lower --chain", self.submit("--workers", "100", "--chain", "100", expect=2))
        self.assertEqual(self.slurm.jobs(), {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bapi", required=True)
    parser.add_argument("--program", default=OPTIONS.program)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bapi = os.path.abspath(OPTIONS.bapi)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

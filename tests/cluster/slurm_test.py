#!/usr/bin/env python3
"""`bapi submit slurm` on a real Slurm of one node, which the test starts.

    tests/cluster/slurm_test.py --bapi build/release/bapi [--program PROGRAM] [test ...]

In most tests the jobs run stand_in_worker.py, or another PROGRAM that keeps the same book, in the place of `bapi worker`;
the last ones train a study in a private database with real workers. Without the programs of Slurm or PostgreSQL the tests
are skipped; with BAPI_REQUIRE_CLUSTER_TESTS in the environment they fail.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from slurm import Slurm, missing_programs, wait_until

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
import private_database  # noqa: E402

STUDY = "postgresql://ann@db.example/tuning#mlp"
OPTIONS = argparse.Namespace(bapi=None, program=str(HERE / "stand_in_worker.py"))


TRAINED = """
name: mlp
command: ["{python}", "{here}/trainer.py", "--lr", "${{lr}}", "--delay", "0.3"]
metric: {{name: accuracy, goal: maximize}}
budget: "60 epochs"
epochs: {{min: 1, max: 9}}
policy: hyperband
grace: 1s
parameters:
  lr: {{min: 1.0e-4, max: 1, log: true}}
"""


class OnSlurm(unittest.TestCase):
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
        self.addCleanup(self.clear_queue)

    def clear_queue(self):
        jobs = {job.split("_")[0] for job in self.slurm.jobs()}
        for job in jobs:
            self.slurm.try_run("scancel", job)
        wait_until(lambda: not self.slurm.jobs(), "an empty queue")


class SlurmTest(OnSlurm):
    def setUp(self):
        super().setUp()
        self.book = self.slurm.dir / f"{self._testMethodName}.book"

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


@unittest.skipIf(private_database.missing(), private_database.missing())
class RealWorkers(OnSlurm):
    """Jobs belong to the calling user, and so do leader and workers; root's database is another user's."""

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="bapi-slurm-")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.database = private_database.PrivateDatabase(OPTIONS.bapi, self.place)
        self.addCleanup(self.database.stop)
        self.assertEqual(self.database.started.returncode, 0, self.database.started.stderr)
        self.shared = os.path.join(self.slurm.dir, "shared")
        os.makedirs(self.shared)
        self.addCleanup(shutil.rmtree, self.shared, ignore_errors=True)
        study = TRAINED.format(python=sys.executable, here=HERE.parent / "e2e")
        pathlib.Path(self.shared, "study.yaml").write_text(study)
        self.study = self.database.url + "#mlp"

    def bapi(self, *arguments):
        done = subprocess.run([OPTIONS.bapi, *arguments], cwd=self.shared, env=self.slurm.environment, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, command, *more):
        return json.loads(self.bapi(command, self.study, *more, "-f", "json"))

    def lead(self):
        with open(os.path.join(self.shared, "leader"), "w") as out:
            leader = subprocess.Popen(
                [OPTIONS.bapi, "run", "study.yaml", "--storage", self.database.url, "--workers", "0"],
                cwd=self.shared, env=self.slurm.environment, stdout=out, stderr=out)
        self.addCleanup(leader.wait)
        self.addCleanup(leader.kill)
        studies = lambda: json.loads(self.bapi("ls", self.database.url, "-f", "json"))
        wait_until(studies, "the study")
        return leader

    def submit(self, *words):
        output = f"--output={self.slurm.dir}/{self._testMethodName}-%a.out"
        return self.bapi("submit", "slurm", self.study, *words, "--", output).split()[-1]

    def epochs(self):
        return sum(trial["epochs"] for trial in self.read("trials"))

    def live(self):
        return {worker["job"] for worker in self.read("workers") if worker["state"] == "live"}

    def check_books(self):
        status, ledger = self.read("status"), self.read("ledger")
        self.assertEqual(status["state"], "finished")
        self.assertEqual(sum(row["cost"] for row in ledger), status["budget"]["spent"])
        self.assertEqual(status["budget"]["spent"], 60.0)

    def test_workers_train_a_study_to_its_end_and_their_jobs_end_with_it(self):
        leader = self.lead()
        job = self.submit("--workers", "2", "--chain", "2")
        wait_until(lambda: self.live() == {f"slurm {job}_1", f"slurm {job}_2"}, self.live)
        wait_until(lambda: self.epochs() >= 8, "some epochs")
        self.slurm.try_run("scancel", "--batch", "--signal=USR1", f"{job}_1")
        wait_until(lambda: f"slurm {job}_3" in self.live(), self.live)
        self.assertEqual(leader.wait(240), 0)
        wait_until(lambda: not self.slurm.jobs(), self.slurm.jobs)
        self.check_books()
        self.assertEqual({worker["state"] for worker in self.read("workers", "--all")}, {"gone"})

    def test_a_worker_leads_when_the_one_that_led_is_killed(self):
        leader = self.lead()
        self.submit("--workers", "2")
        wait_until(lambda: self.epochs() >= 5, "some epochs")
        leader.send_signal(signal.SIGKILL)
        leader.wait()
        wait_until(lambda: not self.slurm.jobs(), self.slurm.jobs, patience=300)
        self.check_books()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bapi", required=True)
    parser.add_argument("--program", default=OPTIONS.program)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bapi = os.path.abspath(OPTIONS.bapi)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

"""`bapi run --storage`, `bapi worker`, `bapi workers`: a study in a private database, led and trained by real processes."""

import os
import signal
import subprocess
import sys
import time
import unittest

from harness import BAPI, HERE, PATIENCE, STUDY
from with_database import WithDatabase


class Workers(WithDatabase):
    def setUp(self):
        super().setUp()
        self.name = self._testMethodName[5:].replace("_", "-")[:40]
        self.study_url = f"{self.url}#{self.name}"

    def begin(self, *arguments, **variables):
        """A program in the background, its output in a file."""
        self.outputs = getattr(self, "outputs", 0) + 1
        with open(self.path(f"out{self.outputs}"), "w") as out:
            process = subprocess.Popen([os.path.abspath(BAPI), *arguments], cwd=self.dir,
                                       env={**self.environment(), **variables}, stdout=out, stderr=out,
                                       start_new_session=True)
        process.output = self.path(f"out{self.outputs}")
        self.started.append(process)
        return process

    def worker(self, *more):
        """One that has joined."""
        before = len(self.workers())
        process = self.begin("worker", self.study_url, *more)
        self.wait_for(lambda: process.poll() is not None or len(self.workers()) > before, "the worker")
        return process

    def said_by(self, process):
        with open(process.output) as out:
            return out.read()

    def study_file(self, budget, delay, workers=1, policy="hyperband"):
        text = STUDY.format(name=self.name, budget=budget, delay=delay, workers=workers, policy=policy,
                            python=sys.executable, here=HERE)
        return self.write("study.yaml", text)

    def end_of(self, process, code=0):
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail(f"still runs: {self.said_by(process)}")
        self.assertEqual(process.returncode, code, self.said_by(process))

    def epochs(self):
        return sum(trial["epochs"] for trial in self.json("trials", self.study_url))

    def wait_for_study(self):
        def exists():
            return self.name in self.database.bapi("ls", self.url).stdout

        self.wait_for(exists, "the study")

    def wait_for_epochs(self, count):
        self.wait_for(lambda: self.epochs() >= count, f"{count} epochs")

    def workers(self):
        return self.json("workers", self.study_url, "--all")

    def leader(self):
        text = self.database.sql(f"SELECT leader FROM bapi.study WHERE name = '{self.name}'")
        words = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
        return int(words[0][0]) if words else None

    def check_study(self, budget=None):
        """The books of a study that has finished, seen by those who read."""
        status = self.json("status", self.study_url)
        self.assertEqual(status["state"], "finished")
        ledger = self.json("ledger", self.study_url)
        spent = 0.0
        for row in ledger:
            spent += row["cost"]
        self.assertEqual(spent, status["budget"]["spent"])
        trained = [(row["trial"], row["epoch"]) for row in ledger if row["kind"] in ("epoch", "ahead")]
        self.assertEqual(len(trained), len(set(trained)), "an epoch was charged twice")
        sequence = self.database.sql(
            f"SELECT count(*) = max(seq) AND max(seq) = max(last_seq) FROM bapi.event e JOIN bapi.study s ON s.id = "
            f"e.study WHERE s.name = '{self.name}'")
        self.assertIn("t", sequence.splitlines()[2])
        left = self.database.sql("SELECT (SELECT count(*) FROM bapi.work_order o JOIN bapi.study s ON s.id = o.study "
                                 f"WHERE s.name = '{self.name}') + (SELECT count(*) FROM bapi.delivery d JOIN "
                                 f"bapi.study s ON s.id = d.study WHERE s.name = '{self.name}')")
        self.assertEqual(left.splitlines()[2].strip(), "0", "orders or deliveries are left")
        if budget is not None:
            self.assertLessEqual(spent, budget)
        return status

    def test_one_machine_runs_a_study_in_a_database_to_its_end(self):
        self.study_file('"30 epochs"', 0.02, workers=2)
        self.bapi("run", "study.yaml", "--storage", self.url, "-q")
        self.assertEqual(self.check_study()["budget"]["spent"], 30.0)
        self.assertEqual([(w["state"], w["slots"]) for w in self.workers()], [("gone", 2)])
        self.assertTrue(os.path.exists(self.path(f"{self.name}.bapi", "trials", "0000", "checkpoint", "epoch")))
        self.assertFalse(os.path.exists(self.path(f"{self.name}.bapi", "study.db")))
        again = self.bapi("run", "study.yaml", "--storage", self.url, "--budget", "40 epochs")
        self.assertIn("40", again.stdout)
        self.assertEqual(self.check_study()["budget"]["spent"], 40.0)

    def test_a_leader_without_slots_is_served_by_workers_that_come_and_go(self):
        self.study_file('"60 epochs"', 0.1)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        first = self.worker("--no-lead")
        self.wait_for_epochs(5)
        second = self.worker("--no-lead", "--slots", "2")
        self.assertEqual({w["slots"] for w in self.workers()}, {1, 2})
        for sign in (signal.SIGUSR1, signal.SIGTERM):
            first.send_signal(sign)
            self.end_of(first)
            first = self.worker("--no-lead")
        self.end_of(leader)
        self.end_of(first)
        self.end_of(second)
        self.assertEqual(self.check_study()["budget"]["spent"], 60.0)
        self.assertNotIn("lost", {w["state"] for w in self.workers()})

    def test_killed_worker_and_killed_leader_cost_no_more_than_the_budget(self):
        self.study_file("300s", 0.2)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        workers = [self.worker("--slots", "2"), self.worker("--slots", "2")]
        self.wait_for_epochs(6)
        workers[0].kill()
        workers[0].wait()
        self.wait_for(lambda: "lost" in {w["state"] for w in self.workers()}, "the loss of the worker")
        before = self.leader()
        self.assertEqual(before, leader.pid)
        leader.kill()
        leader.wait()
        self.wait_for(lambda: self.leader() not in (None, before), "another leader")
        self.end_of(workers[1])
        status = self.check_study(300.0 + self.latency(4))
        self.assertGreater(status["budget"]["spent"], 280.0)
        self.assertIn("lost", {row["kind"] for row in self.json("ledger", self.study_url)})
        self.assertIsNone(self.leader())

    def die_at(self, statement, *arguments):
        """A process that is killed when it is about to send its statement of this number, or has just sent it (17+)."""
        process = self.begin(*arguments, BAPI_TEST_DEATH=statement)
        process.wait(PATIENCE)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), self.said_by(process))
        return process.returncode

    def test_a_leader_may_die_at_any_statement(self):
        self.study_file('"90 epochs"', 0.05)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        worker = self.worker("--no-lead", "--slots", "2")
        self.wait_for_epochs(2)
        leader.kill()
        leader.wait()
        deaths = 0
        for number in range(1, 40, 2):
            for moment in ("", "+"):
                code = self.die_at(f"{number}{moment}", "resume", self.study_url, "--workers", "0", "-q")
                deaths += code != 0
        self.assertGreater(deaths, 10)
        self.bapi("resume", self.study_url, "--workers", "0", "-q")
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 90.0)

    def test_a_worker_may_die_at_any_statement(self):
        self.study_file('"90 epochs"', 0.05)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        deaths = 0
        for number in range(1, 26, 2):
            for moment in ("", "+"):
                code = self.die_at(f"{number}{moment}", "worker", self.study_url, "--no-lead")
                deaths += code != 0
        self.assertGreater(deaths, 10)
        worker = self.worker("--no-lead", "--slots", "2")
        self.end_of(leader)
        self.end_of(worker)
        self.check_study(90.0)

    def test_an_interrupted_run_leaves_no_worker_and_continues(self):
        self.study_file('"40 epochs"', 0.1, workers=2)
        run = self.begin("run", "study.yaml", "--storage", self.url)
        self.wait_for_study()
        self.wait_for_epochs(5)
        run.send_signal(signal.SIGINT)
        self.end_of(run, code=130)
        self.assertEqual({w["state"] for w in self.workers()}, {"gone"})
        done = self.epochs()
        self.assertLess(done, 40)
        self.bapi("resume", self.study_url, "-q")
        self.assertEqual(self.check_study()["budget"]["spent"], 40.0)

    def test_pause_stops_all_workers_until_the_study_is_resumed(self):
        self.study_file('"40 epochs"', 0.1)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        worker = self.worker()
        self.wait_for_epochs(3)
        self.bapi("pause", self.study_url)
        self.end_of(leader, code=130)
        done = self.epochs()
        time.sleep(2.0)
        self.assertIsNone(worker.poll())
        self.assertEqual(self.epochs(), done)
        self.bapi("resume", self.study_url, "--workers", "0", "-q")
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 40.0)

    def test_local_checkpoints_are_trained_again_elsewhere(self):
        self.study_file('"50 epochs"', 0.1)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        one = self.worker("--checkpoints", "local", "--scratch", "one", "--no-lead")
        self.wait_for_epochs(4)
        other = self.worker("--checkpoints", "local", "--scratch", "other", "--no-lead")
        one.terminate()
        self.end_of(one)
        self.end_of(leader)
        self.end_of(other)
        self.check_study(50.0)
        self.assertTrue(os.path.exists(self.path("one", "trials", "0000", "checkpoint", "epoch")))
        self.assertFalse(os.path.exists(self.path(f"{self.name}.bapi", "trials", "0000", "checkpoint")))

    def test_what_cannot_be_trained_here_is_said(self):
        self.study_file('"9 epochs"', 0.0)
        self.bapi("run", "study.yaml", "--storage", self.url, "-q")
        self.database.sql(f"UPDATE bapi.study SET files = '/nowhere/at/all' WHERE name = '{self.name}'")
        self.assertIn("--checkpoints local", self.bapi("worker", self.study_url, code=2).stderr)
        self.bapi("worker", self.study_url, "--dir", "elsewhere")  # it has finished
        self.database.sql(f"UPDATE bapi.study SET version = '9.9.9' WHERE name = '{self.name}'")
        refused = self.bapi("worker", self.study_url, "--dir", "elsewhere", code=2).stderr
        self.assertIn("9.9.9", refused)
        self.assertIn("this worker is bapi", refused)
        self.assertIn("no study of this name", self.bapi("worker", self.url + "#other", code=3).stderr)
        left = self.bapi("run", "study.yaml", "-q", code=2).stderr  # the files of the study in the database
        self.assertIn("holds trials of another study", left)
        self.bapi("run", "study.yaml", "-q", "--dir", "directories")
        in_directory = os.path.join("directories", f"{self.name}.bapi")
        self.assertIn("in a directory", self.bapi("workers", in_directory, code=2).stderr)
        nobody = self.url.replace("127.0.0.1:", "127.0.0.1:1")
        self.assertEqual(self.bapi("worker", nobody + "#x", "--patience", "1s", code=3).stdout, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)

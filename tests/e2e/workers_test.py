"""`bapi run --storage`, `bapi worker`, `bapi workers`: a study in a private database, led and trained by real processes."""

import os
import re
import signal
import time
import unittest

from with_workers import WithWorkers


class Workers(WithWorkers):
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
        leader = self.lead("60s", 0.2, more="lease: 5s\n")
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
        status = self.check_study(60.0 + self.latency(4))
        self.assertGreater(status["budget"]["spent"], 50.0)
        self.assertIn("lost", {row["kind"] for row in self.json("ledger", self.study_url)})
        self.assertIsNone(self.leader())

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

    def test_carried_checkpoints_are_continued_elsewhere(self):
        store = self.path("store")
        mine = f"{store}/$BAPI_TRIAL"
        fetch = f"echo $BAPI_TRIAL >> {self.path('fetched')}; cp -r {mine}/. $BAPI_CHECKPOINT_DIR/"
        push = f"mkdir -p {mine} && cp -r $BAPI_CHECKPOINT_DIR/. {mine}/"
        leader = self.lead('"50 epochs"', 0.1)
        carried = ["--fetch", fetch, "--push", push, "--no-lead"]
        one = self.worker(*carried, "--scratch", "one")
        self.wait_for_epochs(4)
        other = self.worker(*carried, "--scratch", "other")
        one.terminate()
        self.end_of(one)
        self.end_of(leader)
        self.end_of(other)
        self.assertEqual(self.check_study()["budget"]["spent"], 50.0)
        self.assertNotIn("repeat", self.kinds(), "everything was continued from what was fetched")
        self.assertTrue(os.path.exists(self.path("fetched")))
        for words in (["--fetch", "true"], ["--push", "true"], [*carried, "--dir", "x"],
                      [*carried, "--checkpoints", "local"]):
            self.bapi("worker", self.study_url, *words, code=2)

    def test_users_ask_the_leader_of_a_database_as_they_ask_that_of_a_directory(self):
        leader = self.lead("1000s", 1.5)  # no trial ends between the look at it and the request to stop it
        worker = self.worker("--no-lead", "--slots", "2")
        self.wait_for(lambda: self.json("status", self.study_url)["trials"]["running"] == 2, "two trials")
        self.bapi("note", self.study_url, "a remark")
        running = next(row["trial"] for row in self.json("trials", self.study_url) if row["state"] == "running")
        self.bapi("stop", self.study_url, str(running))
        self.wait_for(lambda: self.json("show", self.study_url, str(running))["state"] == "stopped", "the stop")
        self.bapi("add", self.study_url, "lr=0.01", "units=32")  # the address has an = in it, too
        letter = '{"action": "budget", "total": 2000}'
        self.database.sql("INSERT INTO bapi.letter (study, box, id, body) SELECT id, 'requests', "
                          f"'00000000000001-1-1', '{letter}' FROM bapi.study WHERE name = '{self.name}'")
        self.wait_for(lambda: self.json("status", self.study_url)["budget"]["total"] == 2000, "the budget")
        self.wait_for(lambda: "enqueued" in self.bapi("export", self.study_url, "-f", "json").stdout, "the configuration")
        self.assertIn("a remark", self.bapi("export", self.study_url, "-f", "json").stdout)
        self.bapi("pause", self.study_url)
        self.end_of(leader, code=130)
        self.assertIn("not running", self.bapi("pause", self.study_url, code=2).stderr)
        self.assertIsNone(worker.poll())
        self.assertEqual(self.value("SELECT count(*) FROM bapi.letter"), "0")

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
        nobody = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", self.url)
        unreachable = self.bapi("worker", nobody + "#x", "--patience", "1s", code=3).stderr
        self.assertRegex(unreachable, r"cannot connect: [^\t]*[^?]\. Check that the server is running")
        self.assertIn("BAPI_STORAGE", self.bapi("worker", "nothing", code=2).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

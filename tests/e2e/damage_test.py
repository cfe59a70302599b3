#!/usr/bin/env python3
"""Logs that are damaged, or that two controllers fight for: what can be read is shown, nothing is called a bug."""

import os
import sqlite3
import time

from harness import PATIENCE, EndToEnd, main
from old_studies_test import unpack

# What is done to a sound log, and the event at which it then ends. 0: the one after the last.
DAMAGES = [
    ("INSERT INTO event (at, kind, trial, epoch, value, cost) VALUES (1, 'measured', -1, 1, 0.5, 1)", 0),
    ("INSERT INTO event (at, kind, trial, epoch, value, cost) VALUES (1, 'measured', 0, 100000000000, 0.5, 1)", 0),
    ("INSERT INTO event (at, kind, trial, epoch, value, cost) VALUES (1, 'measured', 99, 1, 0.5, 1)", 0),
    ("INSERT INTO event (at, kind, trial) VALUES (1, 'segment_done', 0)", 0),
    ("INSERT INTO event (at, kind, trial) VALUES (1, 'mystery', 0)", 0),
    ("INSERT INTO event (at, kind, trial, payload) SELECT at, kind, trial, payload FROM event WHERE seq = 1", 0),
    ("UPDATE event SET cost = -5 WHERE seq = (SELECT min(seq) FROM event WHERE kind = 'measured')", 3),
    ("UPDATE event SET payload = '{\"kind\": 7}' WHERE seq = 1", 1),
    ("UPDATE event SET payload = json_set(payload, '$.config[0]', 'much') WHERE seq = 1", 1),
    ("UPDATE event SET payload = json_set(payload, '$.until', 1000) WHERE seq = 1", 1),
    ("DELETE FROM event WHERE seq = 3", 3),
    ("UPDATE event SET payload = '{\"kind\": ' || replace(hex(zeroblob(2000000)), '00', '[') || "
     "replace(hex(zeroblob(2000000)), '00', ']') || '}' WHERE seq = 1", 1),  # too deep to be written out
]


class Damage(EndToEnd):
    def database(self, study):
        return sqlite3.connect(self.path(study + ".bapi", "study.db"))

    def execute(self, study, sql):
        database = self.database(study)
        database.execute(sql)
        database.commit()
        last = database.execute("SELECT max(seq) FROM event").fetchone()[0]
        database.close()
        return last

    def test_a_damaged_log_is_shown_up_to_the_damage_and_never_continued(self):
        for number, (sql, event) in enumerate(DAMAGES):
            with self.subTest(sql=sql):
                os.mkdir(self.path(str(number)))
                unpack("interrupted", self.path(str(number)))
                study = os.path.join(str(number), "interrupted.bapi")
                last = self.execute(os.path.join(str(number), "interrupted"), sql)
                name = f"event {event or last}"
                self.assertIn(name, self.bapi("status", study).stderr)
                self.assertIn(name, self.bapi("resume", study, code=3).stderr)
                self.assertIn(name, self.bapi("doctor", study, code=3).stdout)

    def test_every_listing_warns(self):
        unpack("damaged", self.dir)
        for command in ["status", "trials", "best", "ledger", "explain", "forecast", "plan"]:
            self.assertIn("event 19 (resumed) is damaged", self.bapi(command, "damaged").stderr)
        self.assertIn("event 19", self.bapi("export", "damaged").stderr)
        self.assertEqual(self.json("status", "damaged")["trials"]["interrupted"], 1)

    def test_a_repaired_copy_can_be_resumed_and_nothing_is_lost(self):
        unpack("damaged", self.dir)
        with open(self.path("damaged.bapi", "study.db"), "rb") as file:
            before = file.read()
        self.assertIn("--repair", self.bapi("resume", "damaged", code=3).stderr)
        self.assertIn("repaired.bapi", self.bapi("doctor", "damaged", "--repair", "repaired.bapi").stdout)
        with open(self.path("damaged.bapi", "study.db"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.bapi("doctor", "repaired")
        self.bapi("resume", "repaired", "--quiet")
        self.assertEqual(self.check_books("repaired")["state"], "finished")
        aside = self.database("repaired").execute("SELECT seq, kind FROM set_aside").fetchall()
        self.assertEqual(aside, [(19, "resumed")])
        self.bapi("doctor", "damaged", "--repair", "repaired.bapi", code=2)  # it exists
        self.bapi("doctor", "repaired", "--repair", "again.bapi", code=2)  # it is sound

    def test_a_newer_format_is_refused_with_its_number(self):
        unpack("random", self.dir)
        self.execute("random", "UPDATE event SET payload = json_set(payload, '$.version', 99) WHERE seq = 1")
        self.assertIn("newer bapi (format 99", self.bapi("status", "random", code=3).stderr)
        self.execute("random", "UPDATE meta SET schema_version = 99")
        self.assertIn("newer bapi (schema 99", self.bapi("status", "random", code=3).stderr)


class TwoControllers(EndToEnd):
    def test_a_removed_lock_ends_one_of_them_and_the_log_stays_sound(self):
        study = self.study(budget='"60 epochs"', delay=0.05, workers=4)
        first = self.start("run", study, "--quiet")
        self.wait_for_reports(4)
        os.remove(self.path("mlp.bapi", "lock"))
        second = self.start("run", study, "--quiet")
        codes = sorted([first.wait(PATIENCE), second.wait(PATIENCE)])
        self.assertIn(3, codes)
        self.assertTrue(set(codes) <= {0, 3}, codes)
        self.check_books()
        self.bapi("resume", "mlp", "--quiet")
        self.assertEqual(self.check_books()["state"], "finished")

    def test_a_killed_one_is_replaced_at_the_first_attempt(self):
        study = self.study(budget='"500 epochs"', delay=0.02, workers=2, policy="random")
        for _ in range(5):
            controller = self.start("run", study, "--quiet")
            self.wait_for(lambda: os.path.exists(self.path("mlp.bapi", "trials")), "a trial")
            time.sleep(0.2)
            controller.kill()
        reports = sum(trial["epochs"] for trial in self.json("trials"))
        last = self.start("run", study, "--quiet")
        self.wait_for(lambda: last.poll() is not None or sum(trial["epochs"] for trial in self.json("trials")) > reports,
                      "the end of the last one, or a report")  # fmt: skip
        self.assertIsNone(last.poll(), "the lock of a dead controller was respected")


if __name__ == "__main__":
    main()

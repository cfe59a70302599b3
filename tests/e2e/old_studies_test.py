#!/usr/bin/env python3
"""Studies that version 0.1 wrote (tests/data/studies-0.1): each opens, is shown, and can be resumed."""

import gzip
import os
import pathlib
import shutil

from harness import EndToEnd, main

DATA = pathlib.Path(__file__).parents[1] / "data/studies-0.1"
NAMES = sorted(file.name.removesuffix(".db.gz") for file in DATA.glob("*.db.gz"))
ASK_TELL = ("ask-tell", "ask-tell-closed")  # driven from Python: there is no command to start


def unpack(name, directory):
    """The study NAME, with nothing but its study.db, and the trainer that it starts."""
    os.makedirs(os.path.join(directory, name + ".bapi"))
    with gzip.open(DATA / (name + ".db.gz")) as packed, open(
        os.path.join(directory, name + ".bapi", "study.db"), "wb"
    ) as file:
        shutil.copyfileobj(packed, file)
    shutil.copy(DATA / "train.sh", directory)


class OldStudies(EndToEnd):
    def test_every_family_is_there(self):
        self.assertEqual(len(NAMES), 26)

    def test_each_opens_is_shown_and_resumes(self):
        for name in NAMES:
            if name == "damaged":
                continue
            with self.subTest(study=name):
                unpack(name, self.dir)
                status = self.check_books(name)
                self.assertGreater(status["budget"]["spent"], 0)
                self.assertIn("trial", self.bapi("explain", name).stdout)
                self.assertTrue(self.bapi("export", name).stdout.startswith("trial,epoch,"))
                if name in ASK_TELL:
                    self.assertIn("no training command", self.bapi("resume", name, code=2).stderr)
                else:
                    self.resume(name, status)

    def resume(self, name, before):
        budget = before["budget"]
        more = 0.3 if budget["unit"] == "s" else 2
        total = f"{budget['spent'] + more}{budget['unit'] if budget['unit'] == 's' else ' ' + budget['unit']}"
        self.bapi("resume", name, "--budget", total, "--quiet")
        after = self.check_books(name)
        self.assertEqual(after["state"], "finished")
        self.assertGreater(after["budget"]["spent"], budget["spent"])


if __name__ == "__main__":
    main()

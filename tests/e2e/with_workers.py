"""Studies in a private database, led and trained by real processes."""

import os
import subprocess
import sys

from harness import BAPI, HERE, PATIENCE, STUDY
from with_database import WithDatabase


class WithWorkers(WithDatabase):
    def setUp(self):
        super().setUp()
        self.name = self._testMethodName[5:].replace("_", "-")[:40]
        self.study_url = f"{self.url}#{self.name}"

    def begin(self, *arguments, under=(), **variables):
        """A program in the background, its output in a file; `under` is a command that runs it."""
        self.outputs = getattr(self, "outputs", 0) + 1
        with open(self.path(f"out{self.outputs}"), "w") as out:
            process = subprocess.Popen([*under, os.path.abspath(BAPI), *arguments], cwd=self.dir,
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

    def study_file(self, budget, delay, workers=1, policy="hyperband", more=""):
        text = STUDY.format(name=self.name, budget=budget, delay=delay, workers=workers, policy=policy,
                            python=sys.executable, here=HERE)
        return self.write("study.yaml", text + more)

    def lead(self, budget, delay, more=""):
        """A study that is led here and trained elsewhere."""
        self.study_file(budget, delay, more=more)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        return leader

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

    def value(self, query):
        """What a query finds: one value, as text."""
        return self.database.sql(query).splitlines()[2].strip()

    def kinds(self):
        """Of what was charged."""
        return {row["kind"] for row in self.json("ledger", self.study_url)}

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
        whole = self.value(f"SELECT count(*) = max(seq) AND max(seq) = max(last_seq) FROM bapi.event e JOIN bapi.study s "
                           f"ON s.id = e.study WHERE s.name = '{self.name}'")
        self.assertEqual(whole, "t")
        left = self.value("SELECT (SELECT count(*) FROM bapi.work_order o JOIN bapi.study s ON s.id = o.study "
                          f"WHERE s.name = '{self.name}') + (SELECT count(*) FROM bapi.delivery d JOIN "
                          f"bapi.study s ON s.id = d.study WHERE s.name = '{self.name}')")
        self.assertEqual(left, "0", "orders or deliveries are left")
        if budget is not None:
            self.assertLessEqual(spent, budget)
        return status

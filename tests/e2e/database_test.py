"""A private database, and every command that reads on a study in it. Needs the programs of a PostgreSQL server."""

import json
import os
import pathlib
import pwd
import shutil
import sqlite3
import stat
import subprocess
import unittest

from harness import BAPI, HERE, PATIENCE, EndToEnd

OLD_STUDY = HERE.parents[0] / "data" / "study-schema-1.db"
SERVERS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
MISSING = not SERVERS and not shutil.which("initdb")
if MISSING and os.environ.get("BAPI_REQUIRE_CLUSTER_TESTS"):
    raise SystemExit("there is no PostgreSQL server (initdb) here")


def ordinary_user():
    """Whom root becomes, since PostgreSQL refuses it; None for everybody else."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    return None


@unittest.skipIf(MISSING, "there is no PostgreSQL server (initdb) here")
class Database(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.user = ordinary_user()

    def setUp(self):
        super().setUp()
        self.options = {}
        self.program = os.path.join(self.dir, "bapi")
        shutil.copy(os.path.abspath(BAPI), self.program)  # where that user may read it
        if self.user:
            os.chown(self.dir, self.user.pw_uid, self.user.pw_gid)
            self.options = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        self.database = os.path.join(self.dir, "db")
        started = self.call("database", "start", self.database)
        if "built without PostgreSQL" in started.stderr:
            self.skipTest(started.stderr)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.url = started.stdout.strip()

    def tearDown(self):
        self.call("database", "stop", self.database)
        super().tearDown()

    def call(self, *arguments, env=None):
        return subprocess.run([self.program, *arguments], cwd=self.dir, capture_output=True, text=True,
                              env=env or self.environment(), timeout=PATIENCE, **self.options)

    def sql(self, text):
        psql = SERVERS[-1].parent / "psql" if SERVERS else "psql"
        done = subprocess.run([str(psql), "-X", "-q", "-v", "ON_ERROR_STOP=1", self.url], input=text, text=True,
                              capture_output=True, timeout=PATIENCE, cwd=self.dir, **self.options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def copy_study(self):
        """The old study, in a directory and in the database."""
        os.makedirs(os.path.join(self.dir, "here.bapi"))
        shutil.copy(OLD_STUDY, os.path.join(self.dir, "here.bapi", "study.db"))
        for place, _, files in os.walk(os.path.join(self.dir, "here.bapi")):
            for path in [place, *(os.path.join(place, file) for file in files)]:
                os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)
                if self.user:
                    os.chown(path, self.user.pw_uid, self.user.pw_gid)
        with sqlite3.connect(f"file:{OLD_STUDY}?immutable=1", uri=True) as source:
            spec = source.execute("SELECT spec_json FROM study").fetchone()[0]
            events = source.execute("SELECT seq, at, kind, trial, epoch, value, cost, payload FROM event").fetchall()

        def quoted(value):
            return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"

        rows = ",\n".join(
            "(1, {}, to_timestamp({}), {})".format(
                seq, repr(at), ", ".join(quoted(repr(v) if isinstance(v, float) else v) for v in rest))
            for seq, at, *rest in events)
        self.sql(f"INSERT INTO bapi.study (name, spec_json, last_seq) VALUES ('there', {quoted(spec)}, {len(events)});"
                 "INSERT INTO bapi.pace (study) VALUES (1);"
                 f"INSERT INTO bapi.event (study, seq, at, kind, trial, epoch, value, cost, payload) VALUES {rows};")

    def test_every_command_reads_a_study_in_a_database(self):
        self.copy_study()
        there = self.url + "#there"
        for command in (["status"], ["trials"], ["ledger"], ["show", "0"], ["explain"], ["best"]):
            name, *rest = command
            here = self.call(name, "here", *rest, "-f", "json")
            self.assertEqual(here.returncode, 0, here.stderr)
            read = self.call(name, there, *rest, "-f", "json")
            self.assertEqual(read.returncode, 0, read.stderr)

            def without_files(value):
                if isinstance(value, dict):
                    return {k: without_files(v) for k, v in value.items()
                            if k not in ("log", "report", "checkpoint", "checkpoint_epoch", "checkpoint_note", "disk")}
                return [without_files(v) for v in value] if isinstance(value, list) else value

            self.assertEqual(without_files(json.loads(read.stdout)), without_files(json.loads(here.stdout)), name)
        listed = json.loads(self.call("ls", self.url, "-f", "json").stdout)
        self.assertEqual([(row["study"], row["path"]) for row in listed], [(listed[0]["study"], there)])
        self.assertEqual(self.call("plot", there).returncode, 0)
        self.assertEqual(self.call("export", there).returncode, 0)
        by_name = self.call("status", "there", env={**self.environment(), "BAPI_STORAGE": self.url})
        self.assertEqual(by_name.returncode, 0, by_name.stderr)
        self.assertIn(there, by_name.stdout)

        noted = self.call("note", there, "a remark")
        self.assertEqual(noted.returncode, 0, noted.stderr)
        self.assertIn("a remark", self.sql("SELECT payload FROM bapi.event ORDER BY seq DESC LIMIT 1"))

        missing = self.call("status", self.url + "#thre")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("did you mean there?", missing.stderr)

        checked = self.call("doctor", there)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("PostgreSQL", checked.stdout)
        self.assertIn("on this machine", checked.stdout)

    def test_a_database_is_its_owners_alone_and_survives_a_stop(self):
        secret = os.path.join(self.database, "password")
        self.assertEqual(stat.S_IMODE(os.stat(secret).st_mode), 0o600)
        password = pathlib.Path(secret).read_text().strip().rsplit(":", 1)[1]
        self.assertGreaterEqual(len(password), 40)
        self.assertNotIn(password, self.url)
        wrong = self.url.replace("passfile=", "passfile=/nonexistent")
        refused = self.call("ls", wrong)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("password", refused.stderr)
        given = self.call("ls", self.url.replace("bapi@", f"bapi:{password}@"))
        self.assertEqual(given.returncode, 2)
        self.assertIn("PGPASSFILE", given.stderr)
        self.assertNotIn(password, given.stderr + given.stdout)

        self.sql("CREATE TABLE kept (x int)")
        self.assertEqual(self.call("database", "stop", self.database).returncode, 0)
        gone = self.call("ls", self.url)
        self.assertEqual(gone.returncode, 3)
        self.assertIn("server is running", gone.stderr)
        again = self.call("database", "start", self.database)
        self.assertEqual(again.stdout.strip(), self.url, again.stderr)
        self.sql("SELECT * FROM kept")
        self.assertEqual(self.call("database", "stop", os.path.join(self.dir, "nothing")).returncode, 2)


if __name__ == "__main__":
    unittest.main()

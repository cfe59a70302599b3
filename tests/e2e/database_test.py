"""A private database, and every command that reads on a study in it. Needs the programs of a PostgreSQL server."""

import json
import os
import pathlib
import stat
import unittest

from with_database import WithDatabase


class Database(WithDatabase):
    def test_every_command_reads_a_study_in_a_database(self):
        there = self.database.copy_study()
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
        self.assertIn("a remark", self.database.sql("SELECT payload FROM bapi.event ORDER BY seq DESC LIMIT 1"))

        missing = self.call("status", self.url + "#thre")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("did you mean there?", missing.stderr)

        checked = self.call("doctor", there)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("PostgreSQL", checked.stdout)
        self.assertIn("on this machine", checked.stdout)

    def test_a_database_is_its_owners_alone_and_survives_a_stop(self):
        secret = os.path.join(self.database.directory, "password")
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

        self.database.sql("CREATE TABLE kept (x int)")
        self.assertEqual(self.call("database", "stop", self.database.directory).returncode, 0)
        gone = self.call("ls", self.url)
        self.assertEqual(gone.returncode, 3)
        self.assertIn("server is running", gone.stderr)
        again = self.call("database", "start", self.database.directory)
        self.assertEqual(again.stdout.strip(), self.url, again.stderr)
        self.database.sql("SELECT * FROM kept")
        self.assertEqual(self.call("database", "stop", os.path.join(self.place, "nothing")).returncode, 2)

    def test_a_database_that_listens_to_a_network_lets_those_in_who_have_the_password(self):
        def who_may_come(name, *options):
            directory = os.path.join(self.place, name)
            started = self.call("database", "start", directory, *options)
            self.assertEqual(started.returncode, 0, started.stderr)
            self.assertEqual(self.call("database", "stop", directory).returncode, 0)
            rules = pathlib.Path(directory, "data", "pg_hba.conf").read_text().splitlines()
            return [rule.split() for rule in rules if rule and not rule.startswith("#")]

        self.assertNotIn(["host", "all", "all", "all", "scram-sha-256"], who_may_come("at-home"))
        self.assertIn(["host", "all", "all", "all", "scram-sha-256"], who_may_come("abroad", "--listen", "0.0.0.0"))


if __name__ == "__main__":
    unittest.main()

"""What docs/workers.md promises about security: roles, what a worker may execute, what its programs may know."""

import json
import os
import re
import unittest

from harness import HERE
from with_workers import WithWorkers

SNOOP = f"""
import json, os, sys
with open(os.path.join(os.environ["BAPI_DIR"], "environment"), "w") as file:
    json.dump(dict(os.environ), file)
sys.argv[0] = {str(HERE / "trainer.py")!r}
exec(open(sys.argv[0]).read())
"""


def grants(page):
    """The statements that docs/store.md gives for a worker's role."""
    with open(HERE.parents[1] / "docs" / page) as file:
        return re.search(r"```sql\n(CREATE ROLE crew.*?)```", file.read(), re.DOTALL).group(1)


class ClusterSecurity(WithWorkers):
    def program(self, old, new):
        """Another training program in the study file."""
        with open(self.path("study.yaml")) as file:
            text = file.read()
        self.assertIn(old, text)
        return self.write("study.yaml", text.replace(old, new))

    def test_the_role_of_the_page_is_enough_for_a_worker_that_never_leads(self):
        self.database.sql(grants("store.md").replace("'...'", "'crew'"))
        self.addCleanup(lambda: self.database.sql("DROP OWNED BY crew; DROP ROLE crew"))
        leader = self.lead('"20 epochs"', 0.05)
        url = re.sub(r"\?passfile=.*", "", self.url.replace("bapi@", "crew@"))
        worker = self.begin("worker", f"{url}#{self.name}", "--no-lead", PGPASSWORD="crew")
        self.end_of(leader)
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 20.0)
        self.assertEqual([w["state"] for w in self.workers()], ["gone"])
        for statement in ("UPDATE bapi.study SET spec_json = '{}'", "INSERT INTO bapi.event SELECT * FROM bapi.event",
                          "UPDATE bapi.work_order SET worker = 1", "UPDATE bapi.pace SET lease = 9",
                          "SELECT * FROM bapi.event", "DELETE FROM bapi.delivery"):
            with self.assertRaisesRegex(AssertionError, "permission denied"):
                self.database.sql(f"SET ROLE crew; {statement}")

    def test_a_worker_with_a_file_runs_its_command_alone(self):
        self.write("evil.py", f"import os\nopen({self.path('executed')!r}, 'w').close()\n")
        self.study_file('"20 epochs"', 0.05)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        self.database.sql("UPDATE bapi.study SET spec_json = replace(spec_json, "
                          f"'{HERE}/trainer.py', '{self.path('evil.py')}') WHERE name = '{self.name}'")
        self.assertIn("evil.py", self.value(f"SELECT spec_json FROM bapi.study WHERE name = '{self.name}'"))
        worker = self.worker("--no-lead", "--file", "study.yaml")
        self.end_of(leader)
        self.end_of(worker)
        self.check_study()
        self.assertFalse(os.path.exists(self.path("executed")))

    def test_a_worker_with_a_file_runs_no_hook_and_sets_no_variable_of_the_database(self):
        self.study_file('"20 epochs"', 0.05)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        leader.kill()  # so that the worker leads
        hook = ["touch", self.path("executed")]
        evil = json.dumps({"hooks": {"epoch": hook, "best": hook, "trial_end": hook, "study_end": hook},
                           "env": {"PYTHONPATH": self.path("evil")}, "cwd": "/"})
        os.mkdir(self.path("evil"))
        self.write("evil/sitecustomize.py", f"open({self.path('executed')!r}, 'w').close()\n")
        self.database.sql(f"UPDATE bapi.study SET spec_json = (spec_json::jsonb || '{evil}')::text "
                          f"WHERE name = '{self.name}'")
        self.end_of(self.worker("--file", "study.yaml"))
        self.check_study()
        self.assertFalse(os.path.exists(self.path("executed")))

    def test_without_a_file_a_worker_runs_what_the_database_says(self):
        self.write("evil.py", f"import os\nopen({self.path('executed')!r}, 'w').close()\n")
        leader = self.lead('"20 epochs"', 0.05)
        self.database.sql("UPDATE bapi.study SET spec_json = replace(spec_json, "
                          f"'{HERE}/trainer.py', '{self.path('evil.py')}') WHERE name = '{self.name}'")
        self.worker("--no-lead")
        self.wait_for(lambda: os.path.exists(self.path("executed")), "what the page warns of")
        leader.kill()

    def test_training_programs_do_not_learn_the_way_to_the_database(self):
        self.write("snoop.py", SNOOP)
        self.study_file('"6 epochs"', 0.0)
        self.program(str(HERE / "trainer.py"), self.path("snoop.py"))
        known = {"PGSSLMODE": "prefer", "PGAPPNAME": "bapi", "BAPI_STORAGE": self.url, "MINE": "kept"}
        self.bapi("run", "study.yaml", "--storage", self.url, "-q", env={**self.environment(), **known})
        seen = []
        for directory, _, files in os.walk(self.path(f"{self.name}.bapi")):
            if "environment" in files:
                with open(os.path.join(directory, "environment")) as file:
                    seen.append(json.load(file))
        self.assertTrue(seen)
        for environment in seen:
            self.assertEqual(environment["MINE"], "kept")
            self.assertEqual([name for name in environment if name.startswith("PG") or name == "BAPI_STORAGE"], [])
            self.assertNotIn(self.url, environment.values())

    def test_a_password_in_an_argument_is_refused_everywhere_and_shown_nowhere(self):
        self.study_file('"6 epochs"', 0.0)
        url = self.url.replace("bapi@", "bapi:s3cret@")
        for words in (["run", "study.yaml", "--storage", url], ["worker", f"{url}#x"], ["workers", f"{url}#x"],
                      ["submit", "slurm", f"{url}#x", "--dry-run"], ["status", f"{url}#x"], ["lead", f"{url}#x"]):
            refused = self.bapi(*words, code=2)
            self.assertIn("PGPASSFILE", refused.stderr, words)
            self.assertNotIn("s3cret", refused.stderr + refused.stdout, words)

    def test_a_delivery_is_limited(self):
        leader = self.lead('"20 epochs"', 0.2)
        self.worker("--no-lead")
        with self.assertRaisesRegex(AssertionError, "violates check constraint"):
            self.database.sql("INSERT INTO bapi.delivery (worker, number, study, at, delivery_json) SELECT max(id), 999, "
                              "max(study), now(), repeat('x', 1048577) FROM bapi.worker")
        leader.kill()


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""Every command of the Makefile can at least be planned: its text is expanded and its recipe printed."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def planned(target):
    return subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)


def run_by(recipe):
    """The files of the repository that lines of a recipe run."""
    for line in recipe.splitlines():
        words = re.sub(r"^\s*(?:\w+=\S*\s+|nice -n \d+\s+)*", "", line).split()
        if words and (ROOT / words[0]).is_file():
            yield words[0]


class Makefile(unittest.TestCase):
    def test_every_command_can_be_planned(self):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        self.assertIn("release", targets)
        for target in targets:
            with self.subTest(target=target):
                done = planned(target)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_script_that_a_command_runs_is_executable(self):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        scripts = {script for target in targets for script in run_by(planned(target).stdout)}
        self.assertIn("tests/cluster/slurm_test.py", scripts)
        self.assertEqual([script for script in sorted(scripts) if not os.access(ROOT / script, os.X_OK)], [])

    def test_the_files_of_a_release_have_the_version_of_the_project(self):
        version = re.search(r"^project\(bapi VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        self.assertIn(f"bapi-{version}-linux-", planned("release").stdout)


if __name__ == "__main__":
    unittest.main()

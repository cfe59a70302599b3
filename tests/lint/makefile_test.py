#!/usr/bin/env python3
"""Every command of the Makefile can at least be planned: its text is expanded and its recipe printed."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def planned(target):
    return subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)


class Makefile(unittest.TestCase):
    def test_every_command_can_be_planned(self):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        self.assertIn("release", targets)
        for target in targets:
            with self.subTest(target=target):
                done = planned(target)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_files_of_a_release_have_the_version_of_the_project(self):
        version = re.search(r"^project\(bapi VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        self.assertIn(f"bapi-{version}-linux-", planned("release").stdout)


if __name__ == "__main__":
    unittest.main()

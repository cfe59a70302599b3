#!/usr/bin/env python3
"""tools/set-version changes both files or none."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
PROJECT = "cmake_minimum_required(VERSION 3.25)\nproject(bapi VERSION 0.2.0 LANGUAGES CXX)\n"
OPEN = "# Changelog\n\n## 0.2.0 (unreleased)\n\n- News.\n\n## 0.1.0 (2024-01-02)\n\n- Old.\n"
RELEASED = OPEN.replace("unreleased", "2025-03-04")


def set_version(changelog, *arguments, project=PROJECT):
    """(exit code, message, CMakeLists.txt, CHANGELOG.md)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "CMakeLists.txt").write_text(project)
        (root / "CHANGELOG.md").write_text(changelog)
        done = subprocess.run([sys.executable, ROOT / "tools" / "set-version", "--root", root, *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, (root / "CMakeLists.txt").read_text(), (root / "CHANGELOG.md").read_text()


class SetVersion(unittest.TestCase):
    def assert_refused(self, changelog, arguments, message, project=PROJECT):
        code, said, project_after, changelog_after = set_version(changelog, *arguments, project=project)
        self.assertEqual(code, 1)
        self.assertIn(message, said)
        self.assertEqual((project_after, changelog_after), (project, changelog))

    def test_a_release_dates_the_unreleased_section(self):
        code, said, project, changelog = set_version(OPEN, "0.3.0")
        self.assertEqual(code, 0, said)
        self.assertEqual(project, PROJECT.replace("0.2.0", "0.3.0"))
        self.assertRegex(changelog, r"^# Changelog\n\n## 0\.3\.0 \(\d{4}-\d\d-\d\d\)\n\n- News\.\n\n## 0\.1\.0 \(2024-01-02\)")

    def test_the_next_section_is_opened_above(self):
        code, said, project, changelog = set_version(RELEASED, "0.3.0", "--open")
        self.assertEqual(code, 0, said)
        self.assertIn("VERSION 0.3.0 ", project)
        self.assertEqual(changelog, RELEASED.replace("## 0.2.0", "## 0.3.0 (unreleased)\n\n## 0.2.0"))

    def test_what_cannot_be_done_changes_nothing(self):
        self.assert_refused(OPEN, ["1.0"], "'1.0' is no version")
        self.assert_refused(OPEN, ["0.1.0"], "0.1.0 does not come after 0.1.0")
        self.assert_refused(OPEN, ["0.3.0", "--open"], "release it first")
        self.assert_refused(RELEASED, ["0.3.0"], "nothing to release")
        self.assert_refused(RELEASED, ["0.2.0", "--open"], "does not come after 0.2.0")
        self.assert_refused("# Changelog\n", ["0.3.0"], "has no section")
        self.assert_refused(OPEN, ["0.3.0"], "CMakeLists.txt has no line", project="project(other)\n")

    def test_the_project_has_the_version_of_its_newest_section(self):
        version = re.search(r"project\(bapi VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        section = re.search(r"^## ([0-9.]+) \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).group(1)
        self.assertEqual(version, section)


if __name__ == "__main__":
    unittest.main()

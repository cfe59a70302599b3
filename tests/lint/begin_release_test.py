#!/usr/bin/env python3
"""tools/begin-release keeps what was made of the same sources, and nothing else."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "begin-release"


class BeginRelease(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(SCRIPT, self.root / "tools")
        (self.root / "source").write_text("one\n")
        (self.root / ".gitignore").write_text("build/\n")
        self.release = self.root / "build" / "release-files"

    def commit(self):
        for command in ["init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm x"]:
            subprocess.run(["git", *command.split()], cwd=self.root, check=True)

    def kept(self):
        """Whether what an earlier call left is there after another one."""
        (self.release / "made").touch()
        self.begin()
        return (self.release / "made").exists()

    def begin(self):
        subprocess.run([self.root / "tools" / "begin-release", self.release], check=True, stdout=subprocess.DEVNULL)

    def test_goes_on_with_the_same_sources_only(self):
        self.commit()
        self.begin()
        self.assertTrue(self.kept())
        (self.root / "source").write_text("two\n")
        self.assertFalse(self.kept())
        self.assertTrue(self.kept())
        (self.root / "another").write_text("new\n")
        self.assertFalse(self.kept())
        self.commit()
        self.assertFalse(self.kept())

    def test_begins_anew_where_the_sources_are_not_known(self):
        self.begin()
        self.assertFalse(self.kept())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""tools/install-deps beside another installation, with stand-ins for the commands of Debian."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = "/var/lib/apt/lists/lock"

# `update` fails as often as the file "locked" has lines; every call is noted.
APT = """#!/bin/bash
echo "$*" >> calls
if [[ " $* " == *" update "* && -s locked ]]; then
  echo "E: Could not get lock $(head -n 1 locked). It is held by process 7 (apt-get)" >&2
  sed --in-place 1d locked
  exit 100
fi
"""


class InstallDeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.stand_in("apt-get", APT)
        self.stand_in("dpkg-query", '#!/bin/bash\n[[ ${!#} == ccache ]] || echo -n installed\n')
        self.stand_in("sudo", '#!/bin/bash\nshift\nexec "$@"\n')
        self.stand_in("sleep", "#!/bin/bash\n")

    def stand_in(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def install(self, locked):
        (self.folder / "locked").write_text("".join(f"{lock}\n" for lock in locked))
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(
            [ROOT / "tools/install-deps"], cwd=self.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        calls = (self.folder / "calls").read_text().splitlines()
        return done, sum(" update " in call for call in calls), sum(" install " in call for call in calls)

    def test_another_installation_is_waited_for(self):
        done, updates, installs = self.install([LISTS, LISTS])
        self.assertEqual((done.returncode, updates, installs), (0, 3, 1), done.stderr)

    def test_another_error_is_told_at_once(self):
        done, updates, installs = self.install(["/elsewhere"])
        self.assertEqual((done.returncode, updates, installs), (1, 1, 0))
        self.assertIn("/elsewhere", done.stderr)

    def test_it_does_not_wait_for_ever(self):
        done, _, installs = self.install([LISTS] * 1000)
        self.assertEqual((done.returncode, installs), (1, 0))
        self.assertIn(LISTS, done.stderr)


if __name__ == "__main__":
    unittest.main()

"""The build backend tells on the terminal what pip hides, and builds as scikit-build-core does."""

import os
import pathlib
import pty
import subprocess
import sys

HOME = pathlib.Path(__file__).parent.parent / "build_backend"

PROGRAM = """
import sys, types
sys.path.insert(0, sys.argv[1])
parent, fake = types.ModuleType("scikit_build_core"), types.ModuleType("scikit_build_core.build")
fake.build_wheel = lambda *arguments: "built with %s" % (arguments,)
fake.get_requires_for_build_wheel = lambda settings=None: ["ninja"]
parent.build = fake
sys.modules["scikit_build_core"], sys.modules["scikit_build_core.build"] = parent, fake
import bapi_build
assert bapi_build.get_requires_for_build_wheel() == ["ninja"]
assert bapi_build.build_wheel("here", {"a": "b"}) == "built with ('here', {'a': 'b'}, None)"
"""


def test_it_says_what_is_built_and_how_long_it_takes_although_its_output_is_hidden():
    child, terminal = pty.fork()
    if child == 0:  # pip: the backend's output goes to a pipe
        code = subprocess.run([sys.executable, "-c", PROGRAM, str(HOME)], stdout=subprocess.DEVNULL).returncode
        os._exit(code)
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # the child is gone
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, shown
    assert b"compiling the engine" in shown and b"minutes" in shown


def test_it_builds_without_a_terminal():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(HOME)], capture_output=True, text=True, start_new_session=True
    )
    assert done.returncode == 0, done.stderr
    assert "minutes" in done.stdout

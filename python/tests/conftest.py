"""Helpers for the tests of the Python package."""

import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests/support"))  # what the tests of the program share

from private_database import PrivateDatabase, missing  # noqa: E402


def quality(config, epoch):
    """A learning curve with its optimum at lr = 0.01."""
    return (1 - math.exp(-epoch / 5)) * math.exp(-((math.log10(config["lr"]) + 2) ** 2))


@pytest.fixture
def run_script(tmp_path):
    """Starts Python on a script in a directory of its own, with the package and this directory on its path."""

    def start(text, *, wait=True, start_new_session=False):
        script = tmp_path / "script.py"
        script.write_text(text)
        paths = [*sys.path, str(pathlib.Path(__file__).parent)]
        process = subprocess.Popen(
            [sys.executable, str(script)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            start_new_session=start_new_session,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if not wait:
            return process
        out, err = process.communicate(timeout=200)
        assert process.returncode == 0, err
        return out

    return start


@pytest.fixture
def program():
    """Runs the program bapi and returns what it printed; if it is expected to fail, its message."""

    def call(*arguments, expect=0):
        done = subprocess.run([os.environ["BAPI"], *map(str, arguments)], capture_output=True, text=True, timeout=200)
        assert done.returncode == expect, done.stderr
        return done.stdout if expect == 0 else done.stderr

    return call


@pytest.fixture(scope="session")
def database():
    """A private PostgreSQL server with an old study."""
    if missing():
        pytest.skip(missing())
    place = tempfile.mkdtemp(prefix="bapi-python-")  # where another user than root may go
    made = PrivateDatabase(os.environ["BAPI"], place)
    try:
        if "built without PostgreSQL" in made.started.stderr:
            pytest.skip(made.started.stderr)
        assert made.started.returncode == 0, made.started.stderr
        made.study = made.copy_study()
        yield made
    finally:
        made.stop()
        shutil.rmtree(place, ignore_errors=True)

"""The examples run, with smaller budgets."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples" / "python"


def run(name, tmp_path, *changes):
    text = (EXAMPLES / name).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    script = tmp_path / name
    script.write_text(text)
    return subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "name, changes",
    [
        ("sgd_digits.py", [('"300 epochs"', '"90 epochs"')]),
        ("xgboost_digits.py", [('"20s"', '"4s"')]),
        ("optuna_before.py", [("timeout=20", "timeout=4")]),
        ("optuna_after.py", [('"20s"', '"4s"')]),
        ("ray_digits.py", [('"300 epochs"', '"60 epochs"')]),
        ("ray_tune_digits.py", [('"300 epochs"', '"60 epochs"')]),
    ],
)
def test_an_example_prints_its_result(name, changes, tmp_path):
    done = run(name, tmp_path, *changes)
    assert done.returncode == 0, done.stderr
    assert "accuracy 0." in done.stdout or "error 0." in done.stdout


def test_the_torch_example_runs_or_says_what_it_needs(tmp_path):
    done = run("torch_digits.py", tmp_path, ('"1m"', '"8s"'))
    if importlib.util.find_spec("torch") is None:
        assert done.returncode == 1 and "needs torch" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert "accuracy 0." in done.stdout

"""Run in an environment that has nothing but bapi: it can be imported, tunes, and has brought its program along."""

import importlib.util
import subprocess
import sys
import tempfile

import bapi


def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, (1 - 0.7**epoch) * (1 - (trial.config["x"] - 0.3) ** 2))


def main() -> None:
    assert importlib.util.find_spec("numpy") is None, "the environment is not clean"
    with tempfile.TemporaryDirectory() as folder:
        study = bapi.tune(
            train, space={"x": bapi.Float(0, 1)}, budget="60 epochs", max_epochs=9, storage=f"{folder}/clean", workers=2
        )
        assert study.state == "finished" and study.spent == 60, study
        status = subprocess.run([sys.argv[1], "status", str(study.path)], capture_output=True, text=True, check=True)
        assert "60 of 60 epochs spent" in status.stdout
    version = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout
    assert bapi.__version__ in version
    print(f"bapi {bapi.__version__} works in a clean environment")


if __name__ == "__main__":
    main()

"""tune.py BAPI: tunes with the installed package, and checks which libraries were loaded for it."""

import pathlib
import subprocess
import sys
import tempfile

import bapi


def train(trial):
    for epoch in trial.epochs():
        trial.report(epoch, (1 - 0.7**epoch) * (1 - (trial.config["x"] - 0.3) ** 2))


def loaded():
    """The shared libraries of this process."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return {line.split(maxsplit=5)[5] for line in lines if ".so" in line}


def main():
    with tempfile.TemporaryDirectory() as folder:
        study = bapi.tune(
            train, space={"x": bapi.Float(0, 1)}, budget="60 epochs", max_epochs=9, storage=f"{folder}/clean", workers=2
        )
        assert study.state == "finished" and study.spent == 60, study
        assert "<iframe" in study._repr_html_()
        status = subprocess.run([sys.argv[1], "status", str(study.path)], capture_output=True, text=True, check=True)
        assert "60 of 60 epochs spent" in status.stdout, status.stdout
    home = str(pathlib.Path(bapi.__file__).parent.parent)
    ours = [path for path in loaded() if any(name in path for name in ("libfmt", "libsqlite3", "libyaml-cpp"))]
    assert len(ours) == 3 and all(path.startswith(home) for path in ours), ours
    print(f"bapi {bapi.__version__} works with Python {sys.version.split()[0]} and libraries of its own")


if __name__ == "__main__":
    main()

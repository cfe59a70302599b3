#!/usr/bin/python3
"""What asking and telling costs from Python, beside the same calls from C++.

Prints a table; --json FILE writes a list of {name, n, value, unit, floor, ratio}, the floor being C++.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "python"))

import bapi  # noqa: E402

EPOCHS = 10


def measure_python(trials, file):
    """Seconds per ask and per report."""
    space = {"lr": bapi.Float(1e-6, 1, log=True), "units": bapi.Int(16, 256), "opt": ["sgd", "adam"]}
    study = bapi.Study(space=space, budget="1000000000 epochs", max_epochs=EPOCHS, policy="random", storage=file)
    asking = reporting = 0.0
    for _ in range(trials):
        begin = time.perf_counter()
        segment = study.ask()
        asked = time.perf_counter()
        for epoch in range(1, EPOCHS):
            segment.report(epoch, 0.5)
        reporting += time.perf_counter() - asked
        asking += asked - begin
        study.complete(segment.number)
    if len(study.trials) != trials or any(trial.epochs != EPOCHS - 1 for trial in study.trials):
        sys.exit(f"the study has other trials than the {trials} that were asked for and told")
    study.close()
    return {"ask": asking / trials, "report": reporting / (trials * (EPOCHS - 1))}


def measure_cpp(trials, file):
    """The same from C++."""
    command = [HERE / "bench_ask_tell", str(trials), *([] if file is None else [f"{file}.db"])]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def best_of(rounds, trials, folder):
    """Per call, the least seconds of all rounds, from both sides."""
    least = {}
    for number in range(rounds):
        for side, measure in (("C++", measure_cpp), ("Python", measure_python)):
            file = None if folder is None else pathlib.Path(folder) / f"{side[0]}{number}"
            for call, seconds in measure(trials, file).items():
                least[side, call] = min(seconds, least.get((side, call), seconds))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--dir", default=None)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()

    figures = []
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        for where, place in (("memory", None), ("file", folder)):
            least = best_of(options.rounds, options.trials, place)
            for call in ("ask", "report"):
                value, floor = 1e6 * least["Python", call], 1e6 * least["C++", call]
                name = f"python {call}, {where}"
                figures.append(
                    {"name": name, "n": options.trials, "value": value, "unit": "us", "floor": floor, "ratio": value / floor}
                )
                print(f"{name:24}{value:8.1f} us   C++ {floor:8.1f} us   above {value - floor:6.1f} us")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What the controller costs: start to first decision, memory, CPU share at 100 reports per second.

The floor is the cheapest process that could do the job in the same run: the program printing its version, `sleep`, and
`tail -F` on the same report file. Prints a table; --json FILE writes a list of {name, n, value, unit, floor, ratio}.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STUDY = """
name: bench
command: ["{python}", "{trainer}"]
metric: {{name: value, goal: maximize}}
budget: 10m
epochs: {{min: 1, max: 1000000}}
policy: random
parameters: {{x: {{min: 0.0, max: 1.0}}}}
"""

# Reports on a fixed schedule, so that a busy machine does not slow the rate.
TRAINER = """
import json, os, time
with open(os.environ["BAPI_REPORT"], "a", buffering=1) as report:
    begin = time.monotonic()
    for epoch in range(1, 1000000):
        time.sleep(max(0.0, begin + epoch / {rate} - time.monotonic()))
        report.write(json.dumps({{"epoch": epoch, "value": 1.0 - 1.0 / epoch}}) + "\\n")
"""


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def guardian_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(c for c in children if pathlib.Path(f"/proc/{c}/comm").read_text() == "bapi-guardian\n")


def resident_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024.0
    return 0.0


class Bench:
    def __init__(self, bapi, seconds, rate, directory):
        self.bapi = bapi
        self.seconds = seconds
        self.rate = rate
        # Absolute: the study is run from inside of it.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bapi-bench-", dir=directory)).resolve()

    def write_study(self, rate):
        trainer = self.dir / "trainer.py"
        trainer.write_text(TRAINER.format(rate=rate))
        (self.dir / "study.yaml").write_text(STUDY.format(python=sys.executable, trainer=trainer))

    def run(self, name):
        return subprocess.Popen(
            [self.bapi, "run", "study.yaml", "--name", name],
            cwd=self.dir,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        process.wait()

    def ask(self, *arguments):
        out = subprocess.run([self.bapi, *arguments, "-f", "json"], cwd=self.dir, capture_output=True, check=True)
        return json.loads(out.stdout)

    def wait_for_trial(self, process, name):
        log = self.dir / f"{name}.bapi" / "trials" / "0000" / "report"
        while not (log.exists() and log.stat().st_size > 0):
            if process.poll() is not None:
                sys.exit(f"{self.bapi} run ended with {process.returncode} before its first report")
            time.sleep(0.01)

    def first_decision(self, n):
        """From exec to the first decision, durable in the log."""
        ours, floors = [], []
        for i in range(n):
            begin = time.time()
            process = self.run(f"start{i}")
            self.wait_for_trial(process, f"start{i}")
            self.stop(process)
            ours.append(1000.0 * (self.ask("show", f"start{i}", "0")["events"][0]["at"] - begin))
            begin = time.time()
            subprocess.run([self.bapi, "--version"], stdout=subprocess.DEVNULL, check=True)
            floors.append(1000.0 * (time.time() - begin))
        return {"name": "start to first decision", "n": n, "value": statistics.median(ours), "unit": "ms",
                "floor": statistics.median(floors)}  # fmt: skip

    def steady_state(self):
        """CPU share, with the guardian's, and peak memory while one trial reports at a fixed rate."""
        process = self.run("steady")
        self.wait_for_trial(process, "steady")
        report = self.dir / "steady.bapi" / "trials" / "0000" / "report"
        tail = subprocess.Popen(["tail", "-F", str(report)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sleeper = subprocess.Popen(["sleep", "1000"])
        time.sleep(1.0)
        ours = [process.pid, guardian_of(process.pid)]
        before = [sum(map(cpu_seconds, ours)), cpu_seconds(tail.pid)]
        begin = time.monotonic()
        time.sleep(self.seconds)
        elapsed = time.monotonic() - begin
        after = [sum(map(cpu_seconds, ours)), cpu_seconds(tail.pid)]
        shares = [100.0 * (a - b) / elapsed for a, b in zip(after, before)]
        memory = [resident_mb(process.pid), resident_mb(sleeper.pid)]
        for helper in [tail, sleeper]:
            helper.kill()
            helper.wait()
        self.stop(process)
        reports = self.ask("trials", "steady")[0]["epochs"]
        if reports < 0.8 * self.rate * self.seconds:
            sys.exit(f"{self.bapi} recorded {reports} reports in {self.seconds} s, expected {self.rate} per second")
        return [
            {"name": f"CPU at {self.rate} reports/s", "n": reports, "value": shares[0], "unit": "% of a core",
             "floor": shares[1]},
            {"name": "peak resident memory", "n": reports, "value": memory[0], "unit": "MB", "floor": memory[1]},
        ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    beside = pathlib.Path(__file__).resolve().parent / "bapi"
    parser.add_argument("--bapi", default=str(beside), help="the program to measure")
    parser.add_argument("--json", help="file to write the figures to")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the steady state")
    parser.add_argument("--dir", help="where to keep scratch files")
    options = parser.parse_args()

    bench = Bench(os.path.abspath(options.bapi), options.seconds, rate=100, directory=options.dir)
    try:
        bench.write_study(rate=100)
        figures = [bench.first_decision(15), *bench.steady_state()]
    finally:
        shutil.rmtree(bench.dir, ignore_errors=True)
    for figure in figures:
        figure["ratio"] = figure["value"] / figure["floor"] if figure["floor"] > 0 else None

    print(f"{'':<36} {'n':>8} {'bapi':>12} {'':<12} {'floor':>10} {'ratio':>7}")
    for f in figures:
        ratio = "" if f["ratio"] is None else f"{f['ratio']:.2f}"
        print(f"{f['name']:<36} {f['n']:>8} {f['value']:>12.2f} {f['unit']:<12} {f['floor']:>10.2f} {ratio:>7}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=2)


if __name__ == "__main__":
    main()

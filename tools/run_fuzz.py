#!/usr/bin/env python3
"""Runs every fuzz target in turn: tools/run_fuzz.py [--seconds N] [--inputs N] [--target NAME ...]

Each target starts from fuzz/corpus/NAME and from what earlier runs have found worth keeping in build/fuzz/work/NAME, so
that a run continues the last one. With --inputs, turns are repeated until the targets were given so many inputs by this
very program, all together; they are counted in build/fuzz/inputs.json, so that an interrupted run continues. An input
that makes a target fail is written to build/fuzz/findings and, with --keep, into the corpus, where `make test` replays
it. Exits with 1 if there is any.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/fuzz/fuzz/bapi_fuzz"
FINDINGS = ROOT / "build/fuzz/findings"
CORPUS = ROOT / "fuzz/corpus"
COUNTS = ROOT / "build/fuzz/inputs.json"
MEMORY = pathlib.Path("/dev/shm")


def run(target, seconds, max_len):
    """(executions, files of new findings) of one target."""
    work = ROOT / "build/fuzz/work" / target
    work.mkdir(parents=True, exist_ok=True)
    FINDINGS.mkdir(parents=True, exist_ok=True)
    before = set(FINDINGS.iterdir())
    command = [PROGRAM, work, CORPUS / target, f"-max_total_time={seconds}", f"-max_len={max_len}", "-timeout=10",
               "-rss_limit_mb=1024", "-malloc_limit_mb=512", "-print_final_stats=1", "-reload=0",
               f"-artifact_prefix={FINDINGS}/{target}-"]
    log = ROOT / "build/fuzz" / f"{target}.log"
    with log.open("w") as out:
        subprocess.run([str(part) for part in command], env=environment(target), stdout=out, stderr=subprocess.STDOUT,
                       check=False)
    text = log.read_text(errors="replace")
    done = re.search(r"stat::number_of_executed_units:\s+(\d+)", text)
    count = int(done.group(1)) if done else max((int(n) for n in re.findall(r"^#(\d+)", text, re.M)), default=0)
    return count, sorted(set(FINDINGS.iterdir()) - before)


def environment(target):
    """Files that a target makes are in memory, where that is possible."""
    changed = {"BAPI_FUZZ_TARGET": target}
    if os.access(MEMORY, os.W_OK):
        changed["TMPDIR"] = str(MEMORY)
    return {**os.environ, **changed}


class Counts:
    """Inputs that each target was given by this program, the same in an interrupted run and the one that continues it."""

    def __init__(self):
        self.program = hashlib.sha256(PROGRAM.read_bytes()).hexdigest()
        self.inputs = {}
        if COUNTS.exists():
            known = json.loads(COUNTS.read_text())
            self.inputs = known["inputs"] if known["program"] == self.program else {}

    def add(self, target, count):
        self.inputs[target] = self.inputs.get(target, 0) + count
        COUNTS.write_text(json.dumps({"program": self.program, "inputs": self.inputs}, indent=1))

    def total(self):
        return sum(self.inputs.values())


def keep(finding, target):
    digest = finding.name.rsplit("-", 1)[-1][:12]
    copy = CORPUS / target / f"found-{digest}"
    shutil.copyfile(finding, copy)
    return copy.relative_to(ROOT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="per target (default 60)")
    parser.add_argument("--inputs", type=int, default=0, help="repeat until the targets were given so many in all")
    parser.add_argument("--target", action="append", help="only this target; may be given more than once")
    parser.add_argument("--max-len", type=int, default=4096, help="largest input in bytes (default 4096)")
    parser.add_argument("--keep", action="store_true", help="copy findings into fuzz/corpus")
    options = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not built: cmake --preset fuzz && cmake --build --preset fuzz")
    known = sorted(path.name for path in CORPUS.iterdir())
    for target in options.target or []:
        if target not in known:
            sys.exit(f"unknown target {target}; expected one of {', '.join(known)}")
    counts, failed = Counts(), 0
    while True:
        for target in options.target or known:
            count, findings = run(target, options.seconds, options.max_len)
            counts.add(target, count)
            failed += len(findings)
            print(f"{target:16} {count:10} executions  {len(findings)} findings", flush=True)
            for finding in findings:
                print(f"  BAPI_FUZZ_TARGET={target} {PROGRAM.relative_to(ROOT)} {finding.relative_to(ROOT)}")
                if options.keep:
                    print(f"  kept as {keep(finding, target)}")
        fewest = min(counts.inputs.values())
        print(f"{counts.total()} executions by this program, {fewest} of the slowest target, {failed} findings", flush=True)
        if failed or counts.total() >= options.inputs:
            return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

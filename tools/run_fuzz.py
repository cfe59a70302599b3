#!/usr/bin/env python3
"""Runs every fuzz target in turn: tools/run_fuzz.py [--seconds N] [--target NAME ...]

Each target starts from fuzz/corpus/NAME and from what earlier runs have found worth keeping in build/fuzz/work/NAME, so
that a run continues the last one. An input that makes a target fail is written to build/fuzz/findings and, with --keep,
into the corpus, where `make test` replays it. Exits with 1 if there is any.
"""

import argparse
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
        subprocess.run([str(part) for part in command], env=dict(os.environ, BAPI_FUZZ_TARGET=target), stdout=out,
                       stderr=subprocess.STDOUT, check=False)
    text = log.read_text(errors="replace")
    done = re.search(r"stat::number_of_executed_units:\s+(\d+)", text)
    count = int(done.group(1)) if done else max((int(n) for n in re.findall(r"^#(\d+)", text, re.M)), default=0)
    return count, sorted(set(FINDINGS.iterdir()) - before)


def keep(finding, target):
    digest = finding.name.rsplit("-", 1)[-1][:12]
    copy = CORPUS / target / f"found-{digest}"
    shutil.copyfile(finding, copy)
    return copy.relative_to(ROOT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="per target (default 60)")
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
    total, failed = 0, 0
    for target in options.target or known:
        count, findings = run(target, options.seconds, options.max_len)
        total += count
        failed += len(findings)
        print(f"{target:16} {count:10} executions  {len(findings)} findings", flush=True)
        for finding in findings:
            print(f"  BAPI_FUZZ_TARGET={target} {PROGRAM.relative_to(ROOT)} {finding.relative_to(ROOT)}")
            if options.keep:
                print(f"  kept as {keep(finding, target)}")
    print(f"{total} executions, {failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

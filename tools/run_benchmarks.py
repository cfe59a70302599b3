#!/usr/bin/env python3
"""run_benchmarks.py OUTPUT PROGRAM...: runs each benchmark, prints all figures and writes them to OUTPUT.

A benchmark run with `--json FILE --dir DIRECTORY` writes a list of {name, n, value, unit, floor, ratio} to the file and
keeps its scratch files in the directory. OUTPUT gets the figures of all programs as one list. What the programs print
while they run goes to standard error, the table of all figures to standard output.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def run(program, scratch):
    figures = scratch / "figures.json"
    subprocess.run([program, "--json", figures, "--dir", scratch], check=True, stdout=sys.stderr)
    return json.loads(figures.read_text())


def number(value):
    return "-" if value is None else f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"


def table(figures):
    """The lines of a table with one row per figure."""
    rows = [("name", "n", "value", "unit", "floor", "ratio")]
    for figure in figures:
        value, floor, ratio = (number(figure.get(key)) for key in ("value", "floor", "ratio"))
        rows.append((figure["name"], str(figure["n"]), value, figure["unit"], floor, ratio))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def main():
    output, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    figures = []
    for position, program in enumerate(programs, start=1):
        name = pathlib.Path(program).name
        print(f"\n[{position}/{len(programs)}] {name}", file=sys.stderr, flush=True)
        # Beside the output rather than in /tmp, which is often memory: the disk is part of what is measured.
        with tempfile.TemporaryDirectory(dir=output.parent) as scratch:
            figures += run(program, pathlib.Path(scratch))
    output.write_text(json.dumps(figures, indent=2) + "\n")
    print("\n".join(table(figures)))


if __name__ == "__main__":
    main()

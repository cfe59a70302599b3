#!/usr/bin/env python3
"""bench_docs.py FIGURES PAGE: puts the figures of `make bench` into the tables of docs/benchmarks.md.

FIGURES is build/bench.json. A table stands between the lines `<!-- figures: NAME -->` and `<!-- end of figures -->`;
everything between them is replaced. A figure that the page shows and FIGURES lacks is an error.
"""

import json
import pathlib
import re
import sys

SIZES = (50, 100, 200, 400, 800)
MODELS = (("likelihood + gradient, ms", "likelihood+gradient"),
          ("likelihood + gradient, curves, ms", "likelihood+gradient, curves"),
          ("cold fit + EI, ms", "cold fit + EI"),
          ("cold fit + EI, curves, ms", "cold fit + EI, curves"),
          ("tell + warm refit + EI, ms", "tell + warm refit + EI"),
          ("tell + warm refit + EI, curves, ms", "tell + warm refit + EI, curves"),
          ("ask without refit, ms", "ask without refit"),
          ("early-stop check, µs", "early-stop check"))
STORE = (("durable reports, one per commit, per second", "durable reports, 1 per commit", "20,000 or half the floor"),
         ("durable reports, 64 per commit, per second", "durable reports, 64 per commit", "the same"),
         ("decisions (FULL), per second", "decisions, synced one by one", "0.75 of the floor"),
         ("reopening 1,000 trials of 30 reports, ms", "reopening 1000 trials x 30 reports", "50"),
         ("start to first decision, ms", "start to first decision", "20"),
         ("peak resident memory, MB", "peak resident memory", "25"),
         ("CPU at 100 reports per second, % of a core", "CPU at 100 reports/s", "1"))
RIVALS = (("`bohb`, 1,000 results", "bohb", "1"),
          ("`ei`", "ei", "2.5 at n = 50, 6 at n = 100 (cold fit + EI)"),
          ("`ms-ei`, path of means", "ms-ei, path of means", ""),
          ("`ms-ei-2`", "ms-ei-2", ""),
          ("`ms-ei`, four steps, 127 points", "ms-ei", "1,000"),
          ("`bms-ei`, with a new schedule", "bms-ei", "300"),
          ("`binoculars`", "binoculars", ""),
          ("`glasses`", "glasses", ""),
          ("`boil`, 300 rows", "boil", ""))
PYTHON = ("ask, memory", "report, memory", "ask, file", "report, file")


def number(value):
    if value >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def head(*cells):
    return [row(*cells), "|" + "---|" * len(cells)]


def tables(find):
    """The lines of every table by its name; find(name, n=None) is a figure."""
    def with_ratio(figure):
        return f"{number(figure['value'])} ({figure['ratio']:.2g})"

    def measured(name):
        figure = find(name)
        return number(figure["value"]), number(figure["floor"])

    yield "models", head("", *(f"n={n}" for n in SIZES)) + [
        row(label, *(with_ratio(find(name, n)) for n in SIZES)) for label, name in MODELS]
    yield "store", head("", "bapi", "floor", "ratio", "target") + [
        row(label, *measured(name), f"{find(name)['ratio']:.2g}", target) for label, name, target in STORE]
    yield "rivals", head("", "measured, ms", "floor, ms", "target, ms") + [
        row(label, *measured(name), target) for label, name, target in RIVALS]
    yield "decisions", head("rows", *map(str, SIZES), "5,000 trials") + [
        row("target", "10", "20", "60", "220", "1300", "2000"),
        row("`bapi`", *(number(find(f"bapi, {n} rows")["value"]) for n in SIZES),
            number(find("bapi, 5,000 trials")["value"])),
        row("`bapi-4` (horizon of 4, stops, costs)", *(number(find(f"bapi-4, {n} rows")["value"]) for n in SIZES), "")]
    yield "python", head("", "Python, µs", "C++, µs", "above, µs") + [
        row(name, *measured("python " + name), number(find("python " + name)["value"] - find("python " + name)["floor"]))
        for name in PYTHON]


def main():
    figures, page = (pathlib.Path(argument) for argument in sys.argv[1:])
    known = json.loads(figures.read_text())

    def find(name, n=None):
        for figure in known:
            if figure["name"] == name and n in (None, figure["n"]):
                return figure
        sys.exit(f"{figures}: no figure {name!r}" + (f" with n = {n}" if n else "") + "; run `make bench` as a whole")

    text = page.read_text()
    for name, lines in tables(find):
        block = re.compile(f"(<!-- figures: {name} -->\n).*?(\n<!-- end of figures -->)", re.DOTALL)
        text, count = block.subn(lambda match: match[1] + "\n".join(lines) + match[2], text)
        if count != 1:
            sys.exit(f"{page}: expected one table between '<!-- figures: {name} -->' and '<!-- end of figures -->', "
                     f"found {count}")
    page.write_text(text)


if __name__ == "__main__":
    main()

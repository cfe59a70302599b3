#!/usr/bin/env python3
"""quickstart_docs.py BAPI: writes what the quick start prints today into docs/quickstart.md and docs/checkpoints.md.

Runs the study of examples/minimal, half a minute of training that gives the same numbers each time, and replaces the
output below every command that it has run. Run it whenever decisions or listings have changed.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUDY = "examples/minimal/study.yaml"
RESUMED = "resume circle --quiet"  # on the page, the study was interrupted before

# Page, where its reader works, and the commands whose output it shows.
PAGES = [
    ("docs/quickstart.md", "/home/me/bapi", [RESUMED, "trials circle --sort best --limit 5", "best circle -f json"]),
    ("docs/checkpoints.md", "/home/me", ["best circle --copy model"]),
]


def printed(bapi, arguments, home):
    """What a command prints; with --copy, its notes first."""
    result = subprocess.run([bapi, *arguments.split()], cwd=home, capture_output=True, text=True, check=True)
    notes = result.stderr if "--copy" in arguments else ""
    return notes + re.sub(r"^(run by +)[^,]+", r"\1vm", result.stdout, flags=re.MULTILINE)


def shown(page, command, output):
    """The page with this output below the command."""
    block = re.compile(rf"(```text\n\$ bapi {re.escape(command)}\n).*?(```)", re.DOTALL)
    found, count = block.subn(lambda old: old.group(1) + output + old.group(2), page)
    if count != 1:
        raise SystemExit(f"quickstart_docs.py: found {count} blocks with `bapi {command}`, expected one")
    return found


def pages_of(bapi, home):
    """(path, text) of every page as it should be."""
    shutil.copytree(ROOT / "examples" / "minimal", pathlib.Path(home) / "examples" / "minimal")
    status = printed(bapi, f"run {STUDY} --quiet", home)
    trial = json.loads(printed(bapi, "best circle -f json", home))["trial"]
    for name, reader, commands in PAGES:
        text = (ROOT / name).read_text()
        for command in commands:
            output = status if command == RESUMED else printed(bapi, command, home)
            text = shown(text, command, output.replace(str(home), reader))
        yield ROOT / name, re.sub(r"`bapi show circle \d+`", f"`bapi show circle {trial}`", text)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.strip())
    with tempfile.TemporaryDirectory() as home:
        for path, text in pages_of(str(pathlib.Path(sys.argv[1]).resolve()), home):
            path.write_text(text)


if __name__ == "__main__":
    main()

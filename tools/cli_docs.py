#!/usr/bin/env python3
"""cli_docs.py BAPI: prints docs/cli.md, made of the program's own help texts."""

import re
import subprocess
import sys

HEAD = """# The command line

The text below is what the program says about itself (`bapi --help`, `bapi COMMAND --help`), written down by
`tools/cli_docs.py`; a test keeps the two the same. [quickstart.md](quickstart.md) shows the commands at work,
[study-file.md](study-file.md) describes study files.

- Results go to standard output, everything else (progress, notes, errors) to standard error.
- Every listing takes `-f table`, `-f json` or `-f csv`. JSON and CSV have all digits; values are in the direction in
  which the training program reports them. CSV has values as they are: a spreadsheet takes one that begins with `=`
  for a formula.
- While a study runs, every other command can be used on it. A second `run` or `resume` is refused with exit code 3.
- On a terminal, `run` and `resume` draw a live view on standard error; `NO_COLOR` is respected. In a pipe, or with
  `TERM=dumb`, they write a line per decision and per end of a segment instead; with `--quiet` nothing but the result.

| exit code | meaning |
| ---: | --- |
| 0 | done |
| 1 | run failed: too many trials failed in a row, no trial ever reported, or `doctor` found something wrong |
| 2 | wrong use or input: arguments, study file, a change that a study does not allow |
| 3 | store unavailable: another controller runs the study, database damaged or from a newer version, disk full |
| 70 | a bug in bapi |
| 130 | interrupted by Ctrl-C or SIGTERM; nothing is lost |

A command whose reader leaves early (`bapi trials | head -1`) ends as if it had been read to the end. Results that cannot
be written, to a full disk for example, are exit code 3.
"""


def help_of(bapi, *command):
    return subprocess.run([bapi, *command, "--help"], capture_output=True, text=True, check=True).stdout.strip()


def commands_of(top):
    """The first word of every line of the list; descriptions that run over are indented further."""
    listing = top.split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"(?m)^  (\S+)", listing)


def page(bapi):
    top = help_of(bapi)
    commands = commands_of(top)
    sections = [HEAD, "## bapi\n", f"```text\n{top}\n```\n"]
    for command in commands:
        sections += [f"## bapi {command}\n", f"```text\n{help_of(bapi, command)}\n```\n"]
    return "\n".join(sections)


if __name__ == "__main__":
    print(page(sys.argv[1]), end="")

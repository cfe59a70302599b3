#!/usr/bin/env python3
"""cli_docs.py BAPI: prints docs/cli.md, made of the program's own help texts."""

import re
import subprocess
import sys

HEAD = """# The command line

This page lists every command with its options. It repeats `bapi --help` and `bapi COMMAND --help` word for word
(`tools/cli_docs.py` writes it). [quickstart.md](quickstart.md) shows the commands in use,
[study-file.md](study-file.md) describes study files.

- Results go to standard output; progress, notes and errors go to standard error.
- Every listing takes `-f table`, `-f json` or `-f csv`. JSON and CSV have all digits, and values as the training program
  reported them. Spreadsheets take CSV values that begin with `=` for formulas.
- All other commands work while a study runs. A second `run` or `resume` is refused with exit code 3.
- On a terminal, `run` and `resume` show a [live view](quickstart.md#4-run) on standard error; `NO_COLOR` turns colours
  off. In a pipe, or with `TERM=dumb`, they write one line per decision and per finished segment instead. With `--quiet`
  they print only the result. If standard error is not read for a second, lines are left out, and the study continues.

| exit code | meaning |
| ---: | --- |
| 0 | done |
| 1 | run failed: too many trials failed in a row, no trial reported, or `doctor` found a problem |
| 2 | wrong use or input: arguments, study file, a change that a study does not allow |
| 3 | store unavailable: study in use by another process, database damaged or from a newer version, disk full |
| 70 | bug in bapi |
| 130 | interrupted by Ctrl-C or SIGTERM; nothing is lost |

If the reader of a pipe leaves early (`bapi trials | head -1`), the exit code is the same as without the pipe. If results
cannot be written, for example to a full disk, the exit code is 3.
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

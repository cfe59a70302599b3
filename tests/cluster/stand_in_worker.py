#!/usr/bin/env python3
"""In the place of `bapi worker`: writes down when it starts and which signals it gets, and ends as a worker would.

With a study whose name ends with "-brief" it ends by itself after a second, as if its study were finished.
"""

import json
import os
import signal
import sys
import time

BOOK = os.environ["BAPI_STAND_IN_BOOK"]


def note(what):
    """One line for every event; a line of this size is appended whole."""
    record = {
        "what": what,
        "at": time.time(),
        "element": int(os.environ["SLURM_ARRAY_TASK_ID"]),
        "restarts": int(os.environ.get("SLURM_RESTART_COUNT", "0")),
        "arguments": sys.argv[1:],
    }
    with open(BOOK, "a") as book:
        book.write(json.dumps(record) + "\n")


def leave(number, _):
    """As a worker whose time is over."""
    note(signal.Signals(number).name)
    sys.exit(0)


signal.signal(signal.SIGUSR1, leave)
signal.signal(signal.SIGTERM, leave)
note("start")
print("element", os.environ["SLURM_ARRAY_TASK_ID"], flush=True)
time.sleep(1.0 if sys.argv[2].endswith("-brief") else 1000.0)
note("end")

#!/usr/bin/env python3
"""append_reports.py STUDY.bapi COUNT PAUSE: goes on with the last trial that large_study.py left open.

Appends COUNT reports to the log, PAUSE seconds apart or, below 0, all at once, and prints for each what the study has then spent and when it was
committed, in seconds since the Unix epoch.
"""

import pathlib
import sqlite3
import sys
import time

study, count, pause = pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
db = sqlite3.connect(study / "study.db", timeout=60)
spent, trial = db.execute("SELECT sum(cost), max(trial) FROM event").fetchone()
(epoch,) = db.execute("SELECT max(epoch) FROM event WHERE kind = 'measured' AND trial = ?", (trial,)).fetchone()
for k in range(1, count + 1):
    time.sleep(max(0.0, pause))
    row = (time.time(), "measured", trial, epoch + k, 0.5 + 0.001 * k, 1.0)
    db.execute("INSERT INTO event (at, kind, trial, epoch, value, cost) VALUES (?, ?, ?, ?, ?, ?)", row)
    if pause >= 0.0 or k == count:
        db.commit()
    print(spent + k, time.time(), flush=True)

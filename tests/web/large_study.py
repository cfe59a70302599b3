#!/usr/bin/env python3
"""large_study.py STUDY.bapi TRIALS EPOCHS [OPEN]: fills a study with made-up learning curves, for tests and measurements.

The study must exist and hold at least one trial; its log is replaced. OPEN more trials are left in the middle of their
training, so that append_reports.py can go on with them.
"""

import json
import math
import pathlib
import random
import sqlite3
import sys

study, trials, epochs = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
unfinished = int(sys.argv[4]) if len(sys.argv) > 4 else 0
db = sqlite3.connect(study / "study.db")
spec = json.loads(db.execute("SELECT spec_json FROM study").fetchone()[0])
started = json.loads(db.execute("SELECT payload FROM event WHERE kind = 'started' ORDER BY seq").fetchone()[0])
spec["epochs"] = {**spec["epochs"], "max": epochs}
spec["budget"]["limit"] = (trials + unfinished) * epochs * 1.25
draw = random.Random(0)
db.execute("DELETE FROM event")
db.execute("UPDATE study SET spec_json = ?, decisions = ?", (json.dumps(spec), trials + unfinished))
at = 1.7e9


def rows():
    global at
    for trial in range(trials + unfinished):
        started["trial"], started["until"] = trial, epochs
        yield at, "started", trial, epochs, None, None, json.dumps(started)
        top, rate = draw.betavariate(4, 2), draw.uniform(0.02, 0.3)
        for epoch in range(1, (epochs if trial < trials else epochs // 2) + 1):
            at += 0.01
            yield at, "measured", trial, epoch, top * (1 - math.exp(-rate * epoch)) + draw.gauss(0, 0.005), 1.0, None
        if trial < trials:
            yield at, "segment_done", trial, None, None, None, None


db.executemany("INSERT INTO event (at, kind, trial, epoch, value, cost, payload) VALUES (?, ?, ?, ?, ?, ?, ?)", rows())
db.commit()
print(db.execute("SELECT count(*) FROM event").fetchone()[0], "events")

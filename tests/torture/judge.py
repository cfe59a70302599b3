"""Judges a study from outside: the log as SQLite sees it, the trainers' own account, /proc. Uses nothing of bapi."""

import collections
import json
import os
import pathlib
import sqlite3
import time

from observer import Waiting, status_of

DECISIONS = ("started", "resumed", "stopped", "finished")
MOST_UNREPORTED = 3  # epochs in a row that a program may have saved and not reported when it was ended
CLOSING = ("segment_done", "program_ended", "failed")


def rows_of(study):
    """(decisions, rows) of the log, read without writing to it."""
    database = sqlite3.connect(f"file:{study}/study.db?mode=ro", uri=True, timeout=10)
    try:
        decisions = database.execute("SELECT decisions FROM study").fetchone()[0]
        rows = database.execute("SELECT seq, kind, trial, epoch, value, cost, payload FROM event ORDER BY seq").fetchall()
        return decisions, rows
    finally:
        database.close()


def spent(rows):
    """In the order of the log, so that it is the same to the last bit."""
    total = 0.0
    for row in rows:
        if row[5] is not None:
            total += row[5]
    return total


def log_mistakes(decisions, rows, before):
    """Everything that cannot be in a log, given an earlier state of it."""
    if rows[: len(before)] != before:
        yield "events that were in the log have changed or are gone"
    if [row[0] for row in rows] != list(range(1, len(rows) + 1)):
        yield "the sequence numbers have gaps"
    if decisions != sum(row[1] in DECISIONS for row in rows):
        yield "the number of decisions is wrong"
    finished, trials, last, open_, ended = False, 0, {}, set(), set()
    for seq, kind, trial, epoch, value, cost, payload in rows:
        where = f"event {seq} ({kind} of trial {trial})"
        if kind in DECISIONS and finished:
            yield f"{where}: a decision after the end"
        if cost is not None and not 0.0 <= cost < float("inf"):
            yield f"{where}: a cost of {cost}"
        if kind == "started":
            if trial != trials:
                yield f"{where}: expected trial {trials}"
            trials += 1
            last[trial] = 0
            open_.add(trial)
        elif kind not in ("finished", "budget_changed", "settings_changed") and trial not in last:
            yield f"{where}: was never started"
        elif kind == "resumed":
            if trial in open_ or trial in ended:
                yield f"{where}: it is running or has ended"
            open_.add(trial)
        elif kind == "measured":
            if not last[trial] < epoch <= last[trial] + 1 + MOST_UNREPORTED:
                yield f"{where}: epoch {epoch} after {last[trial]}"
            last[trial] = epoch
        elif kind in CLOSING:
            if kind != "program_ended" and trial not in open_ and kind == "segment_done":
                yield f"{where}: there is no open segment"
            open_.discard(trial)
            if kind == "failed":
                ended.add(trial)
        elif kind == "retried":
            open_.add(trial)
            ended.discard(trial)
        elif kind == "finished":
            finished = True
        elif kind == "budget_changed":
            finished = False


class Accounts:
    """What the trainers of a study have written down."""

    def __init__(self, side):
        self.processes = []  # {pid, trial, role, mode, begin, end, reports: [(epoch, value, cost, done)]}
        for path in sorted(pathlib.Path(side).glob("*.jsonl")):
            process = {"reports": [], "mode": "?", "done": set()}
            for line in path.read_text().splitlines():
                try:
                    said = json.loads(line)
                except ValueError:
                    continue  # killed while writing
                if said["what"] == "start":
                    process.update(pid=said["pid"], trial=said["trial"], role=said["role"], begin=said["at"])
                elif said["what"] == "mode":
                    process["mode"] = said["mode"]
                elif said["what"] == "report":
                    process["reports"].append((said["epoch"], said["value"], said["cost"], said["at"]))
                elif said["what"] == "reported":
                    process["done"].add(said["epoch"])
            if "pid" not in process:
                continue
            try:
                process["end"] = float((pathlib.Path(side) / f"{process['pid']}.life").read_text())
            except (OSError, ValueError):
                process["end"] = process["begin"]
            self.processes.append(process)

    def mistakes(self, rows, strict):
        """Epochs in the log that nobody has reported; with `strict`, reports that are not in the log."""
        told = collections.defaultdict(set)
        for process in self.processes:
            for epoch, value, _, _ in process["reports"]:
                told[process["trial"], epoch].add(value)
        logged = {}
        for _, kind, trial, epoch, value, _, _ in rows:
            if kind == "measured":
                logged[trial, epoch] = value
        for (trial, epoch), value in logged.items():
            if value not in told[trial, epoch]:
                yield f"epoch {epoch} of trial {trial} is in the log with {value}, reported were {told[trial, epoch]}"
        if not strict:
            return
        failed = {row[2] for row in rows if row[1] == "failed"}
        for process in self.processes:
            for epoch in process["done"]:
                if process["trial"] not in failed and (process["trial"], epoch) not in logged:
                    yield f"epoch {epoch} of trial {process['trial']} was reported and is not in the log"


class Lives:
    """Seconds that programs lived, pauses left out, as an observer saw it: at least `low`, at most `high`."""

    def __init__(self, told):
        programs = told["programs"]
        self.count = len(programs)
        self.waited = told["waited"]    # for a processor, by controllers and guardians
        self.kept = told["kept"]        # the same, with instants
        self.low = sum(max(0.0, p["end"][0] - p["begun"] - p["paused"][1]) for p in programs if p["begun"] is not None)
        self.high = sum(p["end"][1] - p["start"] - p["paused"][0] for p in programs if p["end"][1] is not None)


def starved(kept, seconds):
    """For how many of so many seconds, in the worst case, the machine let neither controller nor guardian run."""
    worst, j = 0.0, 0
    for i, (begin, controller, guardian) in enumerate(kept):
        while j + 1 < len(kept) and kept[j][0] - begin < seconds:
            j += 1
        worst = max(worst, min(kept[j][1] - controller, kept[j][2] - guardian))
    return worst


class Patience:
    """Seconds in which a process could have done something. When it was ready to run and got no processor, or waited for
    a disk, the machine kept it."""

    def __init__(self, pid):
        self.pid, self.seconds = pid, 0.0
        self.waiting = Waiting(pid)
        self.waiting.add()
        self.looked = time.monotonic()

    def look(self):
        """Counts up to now."""
        at = time.monotonic()
        passed, self.looked = at - self.looked, at
        kept = self.waiting.add()
        status = status_of(self.pid)
        if status and status[1] != b"D":
            self.seconds += passed - min(passed, kept)  # what was kept back before may be counted now
        return self.seconds


def model_mistakes(study, evil):
    """A model that is kept is that of the epoch it is said to be of. Programs that misbehave may spoil their own."""
    for about in pathlib.Path(study).glob("trials/*/best/epoch-*/about"):
        epoch = about.parent.name.removeprefix("epoch-")
        saved = about.parent / "checkpoint" / "epoch"
        try:
            said = about.read_text().split()[1]
            held = saved.read_text()
        except OSError as error:
            if not evil:
                yield f"a model is not whole: {error}"
            continue
        if said != epoch or (held != epoch and not evil):
            yield f"{about.parent} says {said} and holds the model of epoch {held!r}"


def is_alive(pid):
    status = status_of(pid)
    return status is not None and status[1] not in (b"Z", b"X")


def children_of(parent, name):
    """Children of a process that are called so."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                before, _, rest = file.read().rpartition(b")")
        except OSError:
            continue
        if before.partition(b"(")[2] == name.encode() and int(rest.split()[1]) == parent:
            found.append(int(entry))
    return found


def processes_of(study):
    """(pid, command) of every living process whose BAPI_DIR lies in the study."""
    prefix = f"BAPI_DIR={os.path.realpath(study)}/".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                ours = any(part.startswith(prefix) for part in file.read().split(b"\0"))
            with open(f"/proc/{entry}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if ours and state not in (b"Z", b"X"):
            found.append(int(entry))
    return found

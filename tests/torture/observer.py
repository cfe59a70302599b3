#!/usr/bin/env python3
"""When the kernel started, paused and ended the programs of controllers, seen from outside.

A process of its own with real-time priority where that is allowed, so that it looks a hundred times a second whatever
else the machine has to do. Where it was kept from looking it knows less, and says so: every instant is a pair, between
which it lies. Nothing has to be said by a program itself: one that is killed before it could run an instruction of its
own has lived as well.

One JSON object per line on standard input: {"follow": PID, "study": NAME} (a controller), {"tell": NAME}. The answer to
the latter is one line: {"programs": [...], "waited": SECONDS, "longest": SECONDS}, see Observer.tell.
"""

import json
import os
import select
import subprocess
import sys
import threading
import time

STEP = 0.01  # seconds between two looks
TICKS = os.sysconf("SC_CLK_TCK")
OURS = b"BAPI_DIR="
EXITING, KILL = 0x4, 1 << 8  # a flag of the kernel; the bit of SIGKILL among pending signals


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def status_of(pid):
    """(name, state, seconds since boot at which it was started, whether it executes nothing more because it was killed or
    is exiting) of a process; None if there is none."""
    before, _, rest = contents(f"/proc/{pid}/stat").rpartition(b")")
    fields = rest.split()
    if len(fields) < 29:
        return None
    dying = bool(int(fields[6]) & EXITING or int(fields[28]) & KILL)
    return before.partition(b"(")[2], fields[0], int(fields[19]) / TICKS, dying


class Waiting:
    """Seconds for which the threads of a process were ready to run and got no processor. The kernel counts them, but adds
    what a thread has waited only when it runs again; until then it is what passes while it is ready and does not run."""

    def __init__(self, pid):
        self.pid, self.total, self.threads, self.looked = pid, 0.0, {}, now()
        self.main = 0.0  # what the main thread has waited since the call before the last

    def add(self):
        """What was added since the last call."""
        at = now()
        passed, self.looked = at - self.looked, at
        before, self.threads, added, self.main = self.threads, {}, 0.0, 0.0
        try:
            threads = os.listdir(f"/proc/{self.pid}/task")
        except OSError:
            threads = []
        for thread in threads:
            counted = contents(f"/proc/{self.pid}/task/{thread}/schedstat").split()
            state = contents(f"/proc/{self.pid}/task/{thread}/stat").rpartition(b")")[2].split()[:1]
            if len(counted) < 2:
                continue
            ran, waited = int(counted[0]) / 1e9, int(counted[1]) / 1e9
            ran_before, waited_before, pending = before.get(thread, (ran, 0.0, 0.0))
            counted_now = waited - waited_before
            still = state == [b"R"] and counted_now == 0.0
            more = max(0.0, pending + passed - (ran - ran_before)) if still else 0.0
            added += counted_now + more - pending
            if int(thread) == self.pid:
                self.main = counted_now + more - pending
            self.threads[thread] = (ran, waited, more)
        self.total += added
        return added


class Program:
    """A child of a controller. Times are pairs: at the earliest, at the latest."""

    def __init__(self, pid, start, at):
        self.pid, self.start, self.seen = pid, start, at
        self.begun = None        # when it was first seen to run its own program
        self.end = [at, None]
        self.paused = [0.0, 0.0]
        self.paused_at = None    # (last look before it, first look at it)

    def look(self, status, at):
        """True once it has ended."""
        if status is None or status[1] in (b"Z", b"X") or abs(status[2] - self.start) > 1e-6:
            self.resume(self.end[0], at)
            self.end[1] = at
            return True
        if self.begun is None and any(part.startswith(OURS) for part in contents(f"/proc/{self.pid}/environ").split(b"\0")):
            self.begun = at
        if status[1] in (b"T", b"t"):
            self.paused_at = self.paused_at or (self.end[0], at)
        else:
            self.resume(self.end[0], at)
        if not status[3]:
            self.end[0] = at  # a killed one may wait for a processor before the kernel takes it down
        return False

    def resume(self, last_seen, at):
        if self.paused_at:
            self.paused[0] += max(0.0, last_seen - self.paused_at[1])
            self.paused[1] += at - self.paused_at[0]
        self.paused_at = None


class Observer:
    def __init__(self):
        self.controllers = {}  # pid -> name of the study
        self.living = {}       # pid -> (name of the study, Program)
        self.ended = {}        # name of the study -> [Program]
        self.known = {}        # pid -> start of the last process that had this number
        self.waiting = {}      # pid of a controller or guardian -> (name of the study, Waiting)
        self.guardians = set()  # of these
        self.kept = {}         # name of the study -> [(when, seconds its controllers could not run, its guardians)]
        self.waited = {}       # name of the study -> [seconds of one of those that are gone]
        self.looks = 0

    def look(self):
        at = now()
        self.looks += 1
        for pid in list(self.controllers):
            self.find_children(pid, at)
        for pid, (study, program) in list(self.living.items()):
            status = status_of(pid)
            if status and status[0] == b"bapi-guardian":
                del self.living[pid]
                self.waiting[pid] = (study, Waiting(pid))
                self.guardians.add(pid)
            elif program.look(status, at):
                del self.living[pid]
                self.ended.setdefault(study, []).append(program)
        if self.looks % 5 == 0:
            self.count_waiting()

    def find_children(self, controller, at):
        try:
            threads = os.listdir(f"/proc/{controller}/task")
        except OSError:
            del self.controllers[controller]
            return
        for thread in threads:
            for child in map(int, contents(f"/proc/{controller}/task/{thread}/children").split()):
                status = None if child in self.living or child in self.waiting else status_of(child)
                if status and self.known.get(child) != status[2]:
                    self.known[child] = status[2]  # an ended one is listed until its parent has asked for its exit code
                    self.living[child] = (self.controllers[controller], Program(child, status[2], at))

    def count_waiting(self):
        roles = {study: [0.0, 0.0, 0, 0] for study in self.kept}
        for pid, (study, waiting) in list(self.waiting.items()):
            waiting.add()
            guardian = pid in self.guardians
            roles[study][guardian] += waiting.main
            if not waiting.threads:
                del self.waiting[pid]
                self.guardians.discard(pid)
                self.waited.setdefault(study, []).append(waiting.total)
            else:
                roles[study][2 + guardian] += 1
        at = now()
        for study, (controllers, guardians, *alive) in roles.items():
            before, controllers_before, guardians_before = self.kept[study][-1]
            if not alive[0]:
                controllers = at - before  # nobody could have done anything
            if not alive[1]:
                guardians = at - before
            self.kept[study].append((at, controllers_before + controllers, guardians_before + guardians))

    def follow(self, pid, study):
        self.controllers[pid] = study
        self.kept.setdefault(study, [(now(), 0.0, 0.0)])
        self.waiting[pid] = (study, Waiting(pid))

    def tell(self, study):
        """Everything about a study, which is forgotten then. `waited`: for how long its controllers and guardians were
        ready to run and got no processor. `kept`: the same again and again, of the main threads of the ones and of the
        others, and as if they were ready while there is none."""
        self.look()
        self.count_waiting()
        programs = self.ended.pop(study, [])
        programs += [program for name, program in self.living.values() if name == study]
        self.living = {pid: entry for pid, entry in self.living.items() if entry[0] != study}
        waited = self.waited.pop(study, []) + [w.total for name, w in self.waiting.values() if name == study]
        self.waiting = {pid: entry for pid, entry in self.waiting.items() if entry[0] != study}
        return {"programs": [vars(program) for program in programs], "waited": sum(waited),
                "kept": self.kept.pop(study, [])}

    def serve(self):
        rest = b""
        while True:
            if select.select([0], [], [], STEP)[0]:
                read = os.read(0, 65536)
                if not read:
                    return
                *lines, rest = (rest + read).split(b"\n")
                for line in map(json.loads, lines):
                    if "follow" in line:
                        said = self.follow(line["follow"], line["study"])
                    else:
                        said = self.tell(line["tell"])
                    print(json.dumps(said), flush=True)
            self.look()


class Watch:
    """An observer, as its client sees it. For several threads."""

    def __init__(self):
        self.turn = threading.Lock()
        self.process = subprocess.Popen([sys.executable, "-S", os.path.abspath(__file__)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)

    def ask(self, **question):
        with self.turn:
            print(json.dumps(question), file=self.process.stdin, flush=True)
            return json.loads(self.process.stdout.readline())

    def follow(self, pid, study):
        """Returns when it is followed: on a busy machine it takes a while until the observer is there at all."""
        self.ask(follow=pid, study=study)

    def tell(self, study):
        return self.ask(tell=study)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass
    Observer().serve()

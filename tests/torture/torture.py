#!/usr/bin/env python3
"""Studies under kills, stops, full disks and evil training programs: torture.py [--kills N] [--seconds N] [--seed S]

First the named scenarios, each the repetition of something that once went wrong; then random studies until there were
N kills or the time is over, several at a time (--parallel), because most of a study is waiting. judge.py decides, from
the log and the trainers' own account alone. Random study I of seed S is always the same study with the same plan of
disturbances; the machine adds its own timing. Every finding is printed with the command that repeats it. What is done is
noted in WORK/done.jsonl, and a further call with the same seed continues behind it. Exits with 1 if there were findings.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import judge
import observer
import trainer

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
from delays import KILL_LATENCY, Delays  # noqa: E402

EXIT_CODES = {0, 1, 2, 3, 130}
PATIENCE = 20.0  # seconds without progress, of those that the machine let it run, after which a controller hangs
MOST_EVENTS = 20000  # in the log of a study; far more than any of these needs
LATE = 0.05  # seconds by which the charge of a program may miss its life, besides what the machine kept bapi waiting

STUDY = """name: s
command: [{command}]
metric: {{name: accuracy, goal: maximize}}
budget: {budget}
epochs: {{max: {epochs}}}
workers: {workers}
policy: {policy}
seed: {seed}
grace: 0.3
report_timeout: 10s
max_failures: 1000
parameters: {{lr: {{min: 1.0e-4, max: 1, log: true}}}}
"""


class Hang(Exception):
    """A controller that does not end: nothing more can be learned from this study."""


class Case:
    """One study in a directory of its own, and what was found wrong with it."""

    def __init__(self, bapi, root, name, latency, delays, watch):
        self.bapi, self.name, self.latency, self.delays, self.watch = bapi, name, latency, delays, watch
        self.began = time.monotonic()
        self.over = None   # seconds per worker by which a budget in seconds was passed
        self.lives = None  # what charges_fit has compared
        self.dir = root / name
        shutil.rmtree(self.dir, ignore_errors=True)
        (self.dir / "side").mkdir(parents=True)
        self.study = self.dir / "s.bapi"
        self.findings = []
        self.rows = []
        self.kills = 0
        self.controllers = 0
        self.limit, self.workers, self.meter = 0.0, 1, "seconds"

    def found(self, what):
        if what not in self.findings:
            self.findings.append(what)

    def create(self, limit, *, meter="seconds", workers=1, policy="random", modes=("plain",), epoch=0.1, epochs=200,
               seed=1, command=None):
        """Writes the study file. `command` wraps the trainer's: a list with {trainer} in it."""
        self.limit, self.workers, self.meter, self.modes, self.epoch = limit, workers, meter, modes, epoch
        unit = {"seconds": "s", "epochs": " epochs", "reported": " usd"}[meter]
        words = [sys.executable, "-S", str(HERE / "trainer.py"), "--side", str(self.dir / "side"), "--modes",
                 ",".join(modes), "--seed", str(seed), "--epoch", str(epoch)]
        if command:
            words = [word.format(trainer=" ".join(words)) for word in command]
        self.text = STUDY.format(command=", ".join(json.dumps(word) for word in words), budget=f"{limit}{unit}",
                                 epochs=epochs, workers=workers, policy=policy, seed=seed)
        (self.dir / "s.yaml").write_text(self.text)

    def start(self, *arguments, env=None, prefix=()):
        self.controllers += 1
        words = [*prefix, self.bapi, *(arguments or ("run", "s.yaml")), "--keep-going"]
        with open(self.dir / f"controller.{self.controllers}.log", "wb") as log:
            process = subprocess.Popen(words, cwd=self.dir, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                       env={**os.environ, **(env or {})},
                                       process_group=0)  # and this session, or nothing could stop it from a terminal
        process.log = log.name
        self.watch.follow(process.pid, self.name)
        return process

    def wait(self, process, patience=PATIENCE):
        """The exit code. A controller that adds nothing to its log for so long hangs; so does one that adds for ever."""
        events = self.events()
        while True:
            try:
                return self.judge_exit(process, self.end_of(process, patience))
            except subprocess.TimeoutExpired:
                before, events = events, self.events()
            if events > MOST_EVENTS:
                self.hangs(process, f"{events} events and no end")
            if events <= before:
                self.hangs(process, f"no event in {patience:.0f} s in which it could run")

    @staticmethod
    def end_of(process, patience=PATIENCE):
        """The exit code of a process. subprocess.TimeoutExpired when it could run for so many seconds since this call."""
        own = judge.Patience(process.pid)
        while True:
            try:
                return process.wait(0.2)
            except subprocess.TimeoutExpired:
                if own.look() > patience:
                    raise

    def events(self):
        """How many there are in the log."""
        try:
            return len(judge.rows_of(self.study)[1])
        except sqlite3.Error:
            return 0  # it is being made

    def hangs(self, process, what):
        self.found(f"the controller hangs: {what} ({self.mode_text()})")
        process.kill()
        self.kills += 1
        process.wait()
        raise Hang()

    def mode_text(self):
        modes = sorted({p["mode"] for p in judge.Accounts(self.dir / "side").processes})
        return "modes so far: " + ", ".join(modes)

    def judge_exit(self, process, code):
        text = pathlib.Path(process.log).read_text(errors="replace")
        last = text.strip().splitlines()[-1][:300] if text.strip() else ""
        code = 130 if code == -signal.SIGINT else code  # a shell says so too
        if code == -signal.SIGKILL and self.may_die:
            return code
        if code not in EXIT_CODES:
            self.found(f"exit code {code}: {last}")
        if code == 3 and not self.may_lack:
            self.found(f"exit code 3: {last}")
        if code == 2:
            self.found(f"exit code 2: {last}")
        return code

    may_die = False   # somebody kills controllers here
    may_lack = False  # something is missing on purpose: exit code 3 is right
    unguarded = 0     # how often controller and guardian were killed together

    def kill(self, process, number=signal.SIGKILL):
        self.kills += 1
        process.send_signal(number)
        try:
            code = self.end_of(process)
        except subprocess.TimeoutExpired:
            self.hangs(process, f"it does not end within {PATIENCE:.0f} s of signal {number}")
        return code if number == signal.SIGKILL else self.judge_exit(process, code)

    def kill_trainers(self, rng):
        for pid in judge.processes_of(self.study):
            if rng.random() < 0.7:
                try:
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1
                except OSError:
                    pass

    def kill_guardian(self, controller):
        for pid in judge.children_of(controller.pid, "bapi-guardian"):
            try:
                os.kill(pid, signal.SIGKILL)
                self.kills += 1
            except OSError:
                pass

    def run(self, *arguments, **options):
        return self.wait(self.start(*arguments, **options))

    def look_at_log(self):
        """The log is sound and holds what it held."""
        if not (self.study / "study.db").exists():
            if self.rows:
                self.found("the study is gone")
            return False
        decisions, rows = judge.rows_of(self.study)
        for mistake in judge.log_mistakes(decisions, rows, self.rows):
            self.found(mistake)
        self.rows = rows
        return True

    def look(self):
        """The same, and the readers work and agree."""
        if not self.look_at_log():
            return
        rows = self.rows
        status = subprocess.run([self.bapi, "status", "s.bapi", "-f", "json"], cwd=self.dir, capture_output=True,
                                timeout=600, check=False)
        if status.returncode != 0:
            self.found(f"status ends with {status.returncode}: {status.stderr.decode(errors='replace').strip()[:300]}")
            return
        shown = json.loads(status.stdout)
        if shown["budget"]["spent"] != judge.spent(rows):
            self.found(f"the ledger sums to {judge.spent(rows)!r}, status says {shown['budget']['spent']!r}")

    def finish(self, strict=True):
        """Judges a study whose controller has ended for good."""
        self.look()
        self.nobody_left()
        accounts = judge.Accounts(self.dir / "side")
        evil = any(mode in trainer.EVIL for mode in self.modes)
        for mistake in accounts.mistakes(self.rows, strict and not evil and self.meter == "seconds"):
            self.found(mistake)
        lives = judge.Lives(self.watch.tell(self.name))
        self.budget_kept(lives)
        if self.meter == "seconds" and strict:
            self.charges_fit(lives)
        for mistake in judge.model_mistakes(self.study, evil):
            self.found(mistake)
        if (self.dir / "side" / "precious").exists() and (self.dir / "side" / "precious").read_text() != "mine":
            self.found("a file outside the study was written to")

    def budget_kept(self, lives):
        """Programs may be ended late, one or several of them, by seconds in which neither controller nor guardian got a
        processor."""
        total = judge.spent(self.rows)
        over = max(0.0, total - self.limit)
        spent = f"spent {total:.6g} of {self.limit} ({self.meter}, {self.workers} workers)"
        if self.meter != "seconds":
            if over > {"epochs": 1e-9, "reported": 0.75 * self.workers + 1e-9}[self.meter]:
                self.found(spent)
            return
        self.over = over / self.workers
        late = [(over / programs, judge.starved(lives.kept, over / programs)) for programs in range(1, self.workers + 1)]
        if all(seconds > self.latency + kept for seconds, kept in late):
            kept = ", ".join(f"{kept:.2f} s of {seconds:.2f} s" for seconds, kept in late)
            self.found(f"{spent}; neither controller nor guardian got a processor for {kept}")

    def charges_fit(self, lives):
        """What is charged is what programs lived, whatever the machine has to do besides."""
        total = judge.spent(self.rows)
        self.lives = {"charged": total, **vars(lives)}
        slack = LATE * lives.count + lives.waited
        unguarded = 0.5 * self.unguarded * self.workers
        if not lives.low - slack - unguarded <= total <= lives.high + slack:
            self.found(f"charged {total:.2f} s, the {lives.count} programs lived {lives.low:.2f} to {lives.high:.2f} s; "
                       f"bapi waited {lives.waited:.2f} s for a processor")

    def nobody_left(self):
        begin = time.monotonic()
        while (left := judge.processes_of(self.study)) and (
                time.monotonic() < begin + 3.0 + 4 * self.delays.worst_since(begin)):
            time.sleep(0.05)
        if left:
            self.found(f"{len(left)} processes of the study are left alive ({self.mode_text()})")
            self.clear()

    def clear(self):
        for pid in judge.processes_of(self.study):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


# ---- scenarios: each repeats something that once went wrong


def wrapper_killed(case):
    """A shell between controller and trainer does not keep it alive when the controller is killed."""
    case.create(4, command=["bash", "-c", "{trainer}; true"])
    case.may_die = True
    controller = case.start()
    time.sleep(1.5)
    case.kill(controller)
    case.nobody_left()
    case.run()
    case.finish(strict=False)


def timeout_at_end(case):
    """`timeout` has a process group of its own, and ends with the study all the same."""
    case.create(2, command=["bash", "-c", "timeout 10m {trainer}; echo done"])
    case.run()
    case.finish(strict=False)


def stopped_from_terminal(case):
    """Ctrl-Z stops the training with the controller."""
    stop_controller(case, signal.SIGTSTP)


def stopped(case):
    """A controller that is stopped does not let its trainers run past the budget."""
    stop_controller(case, signal.SIGSTOP)


def stop_controller(case, number):
    case.create(3, workers=2)
    controller = case.start()
    time.sleep(1.0)
    os.kill(controller.pid, number)
    time.sleep(4.0)
    os.kill(controller.pid, signal.SIGCONT)
    case.wait(controller)
    case.finish(strict=False)


def copied(case):
    """Continuing a copy charges nothing for the time in between."""
    case.create(2)
    case.run()
    time.sleep(3.0)
    copy = case.dir / "copy"
    copy.mkdir()
    shutil.copytree(case.study, copy / "s.bapi", copy_function=shutil.copyfile)  # no times, as `cp -r`
    shutil.rmtree(case.study)
    shutil.move(copy / "s.bapi", case.study)
    case.limit = 3
    case.run("resume", "s.bapi", "-b", "3s")
    case.finish(strict=False)


def clock(case, offset, then):
    library = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
    if not library:
        return "needs libfaketime"
    case.create(3)
    case.may_die = True
    controller = case.start(env={"LD_PRELOAD": str(library), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                                 "NO_FAKE_STAT": "1"})
    time.sleep(1.5)
    if then == "kill":
        case.kill(controller)
        case.run()
    else:
        case.wait(controller)
    case.finish(strict=False)
    epochs = [row[5] for row in case.rows if row[1] == "measured"]
    if sum(epochs) < 0.5 * case.epoch * len(epochs):
        case.found(f"{len(epochs)} epochs of {case.epoch} s are charged {sum(epochs):.2f} s")
    return None if epochs else "no epoch in time"


def clock_behind(case):
    """The clock was an hour behind when the study began, and is set before it is continued."""
    return clock(case, "-1h", "kill")


def clock_ahead(case):
    """Files have times an hour before the controller's."""
    return clock(case, "+1h", "wait")


def missing_log(case):
    """Logs deleted to save space."""
    case.create(2)
    case.run()
    for log in case.study.glob("trials/*/log"):
        log.unlink()
    case.limit = 3
    case.run("resume", "s.bapi", "-b", "3s")
    case.finish(strict=False)


def missing_report(case):
    """Reports gone after a kill."""
    case.create(3)
    case.may_die = True
    controller = case.start()
    time.sleep(1.5)
    case.kill(controller)
    for report in case.study.glob("trials/*/report"):
        report.unlink()
    case.run()
    case.finish(strict=False)


def missing_lock(case):
    """A deleted lock lets a second controller in; the log stays one that can be opened."""
    case.create(3, workers=2)
    case.may_lack = True
    first = case.start()
    time.sleep(0.7)
    (case.study / "lock").unlink(missing_ok=True)
    second = case.start()
    case.wait(second)
    case.wait(first)
    case.run()
    case.look()
    case.nobody_left()


def immediate_restarts(case):
    """A killed controller can be started again at once."""
    case.create(30, epoch=0.02)
    case.may_die = True
    for _ in range(15):
        controller = case.start()
        time.sleep(0.15)
        if controller.poll() is not None:
            case.judge_exit(controller, controller.returncode)
        case.kill(controller)
    case.look()
    case.limit = 1000
    case.nobody_left()


def special_report(case, replace):
    """A controller is killed and the reports of its trials are replaced; the next one comes to its end."""
    case.create(3, workers=2, epochs=8)
    case.may_die = True
    controller = case.start()
    time.sleep(1.2)
    case.kill(controller)
    case.nobody_left()
    for report in case.study.glob("trials/*/report"):
        report.unlink()
        replace(report)
    case.run()
    case.finish(strict=False)


def sparse_report(case):
    """A report of a terabyte that takes no room."""
    def replace(report):
        with open(report, "w") as file:
            file.truncate(1 << 40)
    special_report(case, replace)


def zero_report(case):
    """A report that never ends."""
    special_report(case, lambda report: report.symlink_to("/dev/zero"))


def fifo_report(case):
    """A report that cannot be opened without a writer."""
    special_report(case, os.mkfifo)


def on_a_small_disk(act):
    """A scenario whose study has a disk of its own, of 8 MB: the write-ahead log alone grows to 4 MB."""
    def scenario(case):
        if os.geteuid() != 0:
            return "needs root"
        case.study.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", case.study]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            return "cannot mount"
        try:
            case.create(12, epoch=0.02, workers=2)  # a busy machine takes seconds to start a program
            case.may_lack = True
            controller = case.start()
            while case.events() < 4:
                if controller.poll() is not None:
                    return "it ended before its disk could be filled"
                time.sleep(0.05)  # a disk that is full from the start is refused
            filler = case.study / "filler"
            with open(filler, "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(b"x" * 4096)
                except OSError:
                    pass
            act(case, controller, filler)
            case.finish(strict=False)
            if any(row[1] == "failed" for row in case.rows):
                case.found("a full disk is booked as the failure of a trial")
        finally:
            case.clear()
            subprocess.run(["umount", "-l", case.study], check=False)
        return None
    scenario.__name__, scenario.__doc__ = act.__name__, act.__doc__
    return scenario


@on_a_small_disk
def full_disk(case, controller, filler):
    """The study waits, and goes on when there is room again."""
    time.sleep(2.0)
    if controller.poll() is not None:
        case.found(f"it did not wait for room, but ended with {controller.returncode}")
    filler.unlink(missing_ok=True)
    case.may_lack = False
    case.wait(controller)


@on_a_small_disk
def full_disk_interrupted(case, controller, filler):
    """Whoever does not want to wait presses Ctrl-C."""
    time.sleep(2.0)
    code = case.kill(controller, signal.SIGINT)
    if code not in (3, 130):
        case.found(f"exit code {code} on a full disk, expected 3")
    filler.unlink(missing_ok=True)
    case.may_lack = False
    case.run()


@on_a_small_disk
def full_disk_for_long(case, controller, filler):
    """After a minute it gives up, with nothing lost."""
    code = case.wait(controller, 100)
    if code != 3:
        case.found(f"exit code {code} on a full disk, expected 3")
    filler.unlink(missing_ok=True)
    case.may_lack = False
    case.run()


def cleared_daemon(case):
    """A process that leaves its session, clears its environment and loses its parents is ended after a kill."""
    pid_file = case.dir / "side" / "daemon"
    daemon = f"setsid env -i bash -c 'echo $$ > {pid_file}; exec sleep 1000' &"
    case.create(4, command=["bash", "-c", f"({daemon}) ; {{trainer}}; true"])
    case.may_die = True
    controller = case.start()
    time.sleep(2.0)
    case.kill(controller)
    case.nobody_left()
    time.sleep(1.0)
    for daemon_pid in [int(pid_file.read_text())] if pid_file.exists() else []:
        if judge.is_alive(daemon_pid):
            case.found("a daemon without environment lives on")
            os.kill(daemon_pid, signal.SIGKILL)
    case.run()
    case.finish(strict=False)


def few_files(case):
    """Too few open files are not the fault of a trial."""
    case.create(2, workers=4)
    case.may_lack = True
    case.run(prefix=("prlimit", "--nofile=20"))
    if not (case.study / "study.db").exists():
        return None
    case.look()
    failed = [row for row in case.rows if row[1] == "failed" and "open files" in (row[6] or "")]
    if failed:
        case.found(f"{len(failed)} trials failed for want of open files")
    case.may_lack = False
    case.run()
    case.finish(strict=False)
    return None


def file_size(case):
    """A limit on the size of files ends the controller in order."""
    case.create(4, epoch=0.02, workers=2)
    case.may_lack = True
    case.run(prefix=("prlimit", "--fsize=60000"))
    case.look()
    case.may_lack = False
    case.run()
    case.finish(strict=False)


def one_mode(case, mode):
    case.may_die = mode == "kill_parent"
    meter, limit = ("reported", 20) if mode == "cost_1e308" else ("seconds", 2.5)
    case.create(limit, meter=meter, workers=2, modes=(mode, mode, "plain"), epoch=0.05, epochs=6)
    code = case.run()
    for _ in range(40):
        if code in (0, 1):  # 1: it has ended without a value, as where every program failed or was too slow to begin
            break
        code = case.run()
    case.finish(strict=False)


SCENARIOS = [wrapper_killed, timeout_at_end, stopped_from_terminal, stopped, copied, clock_behind, clock_ahead,
             missing_log, missing_report, missing_lock, immediate_restarts, sparse_report, zero_report, fifo_report,
             full_disk, full_disk_interrupted, full_disk_for_long, few_files, file_size, cleared_daemon]
SMOKE = ["wrapper_killed", "copied", "missing_report", "missing_lock", "immediate_restarts", "full_disk",
         "mode_sparse_report"]


# ---- random studies


def disturb(case, controller, rng):
    """One disturbance; True if the controller was ended by it."""
    what = rng.choice(["kill"] * 8 + ["kill_both", "kill_both", "kill_trainers", "kill_guardian", "kill_all", "interrupt",
                                      "stop"])
    if what == "kill":
        case.kill(controller)
    elif what == "kill_both":
        case.kill_trainers(rng)
        case.kill(controller)
    elif what == "kill_trainers":
        case.kill_trainers(rng)
        return False
    elif what == "kill_guardian":
        case.kill_guardian(controller)
        return False
    elif what == "kill_all":
        case.kill_guardian(controller)
        case.kill(controller)
        case.unguarded += 1
    elif what == "interrupt":
        case.kill(controller, signal.SIGINT)
    else:
        os.kill(controller.pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0.1, 0.6))
        os.kill(controller.pid, signal.SIGCONT)
        return False
    return True


def random_study(case, rng, evil):
    meter = rng.choice(["seconds", "seconds", "epochs", "reported"])
    limit = {"seconds": rng.randint(4, 9), "epochs": rng.randint(30, 120), "reported": rng.randint(10, 40)}[meter]
    modes = rng.sample(trainer.EVIL, 6) + ["plain"] if evil else trainer.HONEST
    case.create(limit, meter=meter, workers=rng.randint(1, 4), policy=rng.choice(["random", "hyperband", "asha"]),
                modes=modes, epoch=rng.choice([0.02, 0.05, 0.1]), epochs=rng.choice([9, 27]), seed=rng.randint(0, 999))
    case.may_die = True
    kills = rng.randint(20, 80)
    while True:
        controller = case.start()
        ended = False
        while not ended and kills > 0 and controller.poll() is None:
            try:
                controller.wait(rng.choice([0.02, 0.05, 0.1, 0.2, 0.5]) * rng.random() * 2)
                break
            except subprocess.TimeoutExpired:
                kills -= 1
                ended = disturb(case, controller, rng)
        code = controller.returncode if ended else case.wait(controller)
        case.look_at_log()
        if not ended and code in (0, 1):
            break
        if case.controllers > 200:
            case.found("the study does not come to its end")
            break
    case.finish(strict=not evil)


# ----


class Torture:
    def __init__(self, options):
        self.options = options
        self.root = pathlib.Path(options.work).resolve()
        self.root.mkdir(parents=True, exist_ok=True)
        self.done_file = self.root / "done.jsonl"
        self.done = {}
        if self.done_file.exists():
            for line in self.done_file.read_text().splitlines():
                entry = json.loads(line)
                self.done[entry["name"]] = entry
        self.began = time.monotonic()
        self.findings = self.kills = self.cases = 0
        self.turn = threading.Lock()
        self.delays = Delays()
        self.watch = observer.Watch()

    def over(self):
        return self.options.seconds and time.monotonic() - self.began > self.options.seconds

    def do(self, name, act, repeat):
        if name in self.done and not self.options.only:
            entry = self.done[name]
            self.kills += entry["kills"]
            return
        case = Case(os.path.abspath(self.options.bapi), self.root, name, self.options.latency, self.delays,
                    self.watch)
        begin = time.monotonic()
        try:
            skipped = act(case)
        except Hang:
            skipped = None
        except subprocess.TimeoutExpired as error:
            skipped = None
            case.found(f"hangs: {error}")
        finally:
            case.clear()
        with self.turn:
            self.note(case, time.monotonic() - begin, skipped, repeat)

    def note(self, case, seconds, skipped, repeat):
        self.cases += 1
        self.kills += case.kills
        self.findings += len(case.findings)
        state = f"skipped: {skipped}" if skipped else "FOUND" if case.findings else "ok"
        print(f"{case.name:28} {case.kills:4} kills {seconds:6.1f} s  {state}", flush=True)
        for finding in case.findings:
            print(f"  - {finding}", flush=True)
        if case.findings:
            print(f"  again: {repeat}\n  files: {case.dir}", flush=True)
        elif not skipped:
            shutil.rmtree(case.dir, ignore_errors=True)
        with self.done_file.open("a") as file:
            file.write(json.dumps({"name": case.name, "kills": case.kills, "findings": case.findings, "over": case.over,
                                   "lives": case.lives, "delay": self.delays.worst_since(case.began), "seconds": seconds}) + "\n")

    def at_once(self, named):
        """Does these (name, act), as many at a time as were asked for."""
        def work():
            while True:
                with self.turn:
                    name, act = next(named, (None, None))
                if name is None:
                    return
                self.do(name, act, self.again(name))
        with concurrent.futures.ThreadPoolExecutor(self.options.parallel) as pool:
            for done in [pool.submit(work) for _ in range(self.options.parallel)]:
                done.result()

    def again(self, name):
        return (f"tests/torture/torture.py --bapi {self.options.bapi} --seed {self.options.seed} --only {name} "
                f"--latency {self.options.latency}")

    def scenarios(self):
        for scenario in SCENARIOS:
            yield scenario.__name__, scenario
        for mode in trainer.EVIL:
            yield f"mode_{mode}", lambda case, mode=mode: one_mode(case, mode)

    def study(self, number):
        rng = random.Random(f"{self.options.seed}/{number}")
        evil = number % 2 == 1
        name = f"{'evil' if evil else 'honest'}_{self.options.seed}_{number}"
        return name, lambda case: random_study(case, rng, evil)

    def run(self):
        options = self.options
        if options.only:
            known = dict(self.scenarios())
            for only in options.only:
                name, act = (only, known[only]) if only in known else self.study(int(only.rsplit("_", 1)[-1]))
                self.do(name, act, self.again(name))
            return self.summary()
        if options.smoke:
            known = dict(self.scenarios())
            for name in SMOKE:
                self.do(name, known[name], self.again(name))
            return self.summary()
        if not options.random:
            self.at_once(itertools.takewhile(lambda _: not self.over(), self.scenarios()))
        studies = (self.study(number) for number in itertools.count())
        self.at_once(itertools.takewhile(lambda _: self.kills < options.kills and not self.over(), studies))
        return self.summary()

    def summary(self):
        print(f"{self.cases} studies, {self.kills} kills, {self.findings} findings, "
              f"{time.monotonic() - self.began:.0f} s")
        return 1 if self.findings else 0


def privately():
    """As root: mounts of the scenarios are seen by nobody else."""
    if os.geteuid() != 0 or os.environ.get("BAPI_TORTURE_PRIVATE"):
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0:
        os.environ["BAPI_TORTURE_PRIVATE"] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = HERE.parent.parent
    parser.add_argument("--bapi", default=str(root / "build/release/bapi"), help="the program (default: that of the build)")
    parser.add_argument("--work", help="directory for studies and notes (default: build/torture; --smoke: a new one)")
    parser.add_argument("--kills", type=int, default=100, help="random studies until there were so many (default 100)")
    parser.add_argument("--seconds", type=float, default=0, help="or until so much time has passed")
    parser.add_argument("--seed", type=int, default=1, help="of the random studies (default 1)")
    parser.add_argument("--parallel", type=int, default=2 * (os.cpu_count() or 1),
                        help="studies at a time (default: two per processor)")
    parser.add_argument("--latency", type=float, default=KILL_LATENCY,
                        help=f"seconds per worker that a budget may be passed by (default {KILL_LATENCY}, as documented), "
                        "besides those in which neither controller nor guardian gets a processor")
    parser.add_argument("--only", action="append", help="this scenario or study alone; may be given more than once")
    parser.add_argument("--random", action="store_true", help="no scenarios, only random studies")
    parser.add_argument("--smoke", action="store_true", help="a few scenarios, about 20 s: for the test suite")
    options = parser.parse_args()
    # A shell lets what it starts in the background ignore Ctrl-C; the controllers would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    privately()
    temporary = None
    if options.smoke and not options.work:
        temporary = options.work = tempfile.mkdtemp(prefix="bapi-torture-")
    options.work = options.work or str(root / "build/torture")
    try:
        return Torture(options).run()
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

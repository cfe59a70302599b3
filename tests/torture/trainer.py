#!/usr/bin/env python3
"""A training program that misbehaves on purpose and keeps an account of its own.

trainer.py --side DIR --modes A,B,... --seed N --epoch SECONDS. The mode of a trial follows from seed and trial alone.
DIR/TRIAL.PID.jsonl is the account, one line per thing that happened: `start` (when the kernel started the process, in
seconds since boot), `report` (an epoch, before it is written), `end`. DIR/PID.life holds the time of the last sign of
life. Nothing in it comes from bapi, so that a checker can compare the two.
"""

# Thousands of these are started: what is imported is what a process needs at least. `json`, `random` and `signal` take
# longer than everything else together.
import _random
import _signal as signal
import os
import select
import sys
import time

ENV = os.environ


def text_of(record):
    """JSON of names, numbers and plain words."""
    return str(record).replace("'", '"')


def draws(*seed):
    """Random numbers that follow from whole numbers."""
    source = _random.Random(hash(seed))
    return source.random


def now():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def started():
    """When the kernel started this process."""
    with open("/proc/self/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


class Account:
    def __init__(self, side, trial, role="trainer"):
        self.path = os.path.join(side, f"{trial}.{os.getpid()}.jsonl")
        self.life = os.open(os.path.join(side, f"{os.getpid()}.life"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.say(what="start", at=started() if role == "trainer" else now(), role=role, pid=os.getpid(), trial=trial)
        self.alive()

    def say(self, **line):
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, (text_of(line) + "\n").encode())
        os.close(file)

    def alive(self):
        os.pwrite(self.life, b"%020.6f" % now(), 0)

    def sleep(self, seconds):
        end = now() + seconds
        while now() < end:
            select.select([], [], [], min(0.02, max(0.0, end - now())))  # time.sleep fails under libfaketime
            self.alive()


def append(path, data):
    try:
        with open(path, "ab") as file:
            file.write(data)
    except OSError:
        pass  # replaced by something that cannot be written


class Trainer:
    def __init__(self, options):
        self.epoch_seconds = float(options["--epoch"])
        self.trial = int(ENV["BAPI_TRIAL"])
        self.side = options["--side"]
        draw = draws(int(options["--seed"]), self.trial)
        modes = options["--modes"].split(",")
        self.mode = modes[int(draw() * len(modes))]
        self.when = 1 + int(draw() * 3)  # the epoch at which most modes strike
        self.last = int(ENV["BAPI_MAX_EPOCH"])
        self.until = int(ENV["BAPI_UNTIL_EPOCH"])
        self.report = ENV["BAPI_REPORT"]
        self.dir = ENV["BAPI_DIR"]
        self.checkpoint = os.path.join(ENV["BAPI_CHECKPOINT_DIR"], "epoch")
        self.account = Account(self.side, self.trial)
        self.account.say(what="mode", mode=self.mode)

    def value(self, epoch):
        return draws(self.trial, epoch)()

    def tell(self, epoch, text=None, value=None):
        """Reports an epoch; `text` replaces the line."""
        value = self.value(epoch) if value is None else value
        if text is None:
            text = text_of({"epoch": epoch, "accuracy": value, "cost": self.cost(epoch)})
        self.account.say(what="report", epoch=epoch, value=value, cost=self.cost(epoch), at=now())
        append(self.report, text.encode() + b"\n")
        self.account.say(what="reported", epoch=epoch)

    def cost(self, epoch):
        return 1e308 if self.mode == "cost_1e308" and epoch == self.when else 0.25 * (1 + self.trial % 3)

    def save(self, epoch):
        try:
            with open(self.checkpoint + ".new", "w") as file:
                file.write(str(epoch))
            os.replace(self.checkpoint + ".new", self.checkpoint)
        except OSError:
            pass  # the directory was deleted

    def run(self):
        strike = getattr(self, "at_start_" + self.mode, None)
        if strike:
            strike()
        start = int(ENV["BAPI_FROM_EPOCH"])
        epoch = 0
        try:
            with open(self.checkpoint) as file:
                epoch = int(file.read())
        except (OSError, ValueError):
            pass
        if start == 0:
            epoch = 0
        if self.mode != "no_ready":
            append(self.report, b'{"ready": true}\n')
        if epoch > start:
            self.tell(epoch)
        last = self.until if self.mode == "ends_at_until" else self.last
        while epoch < last:
            self.account.sleep(self.epoch_seconds)
            epoch += 1
            strike = getattr(self, "do_" + self.mode, None)
            if strike and epoch == self.when:
                if strike(epoch) == "told":
                    self.save(epoch)
                    continue
            self.save(epoch)
            self.tell(epoch)
        self.account.say(what="end")

    # ---- what is said

    def do_nan(self, epoch):
        self.tell(epoch, '{"epoch": %d, "accuracy": NaN, "cost": 1}' % epoch, value="nan")
        return "told"

    def do_infinite(self, epoch):
        self.tell(epoch, '{"epoch": %d, "accuracy": -Infinity, "cost": 1}' % epoch, value="inf")
        return "told"

    def do_overflow(self, epoch):
        self.tell(epoch, '{"epoch": %d, "accuracy": 1e400, "cost": 1}' % epoch, value="inf")
        return "told"

    def do_big_integer(self, epoch):
        self.tell(epoch, '{"epoch": %d, "accuracy": %s, "cost": 1}' % (epoch, "9" * 400), value="inf")
        return "told"

    def do_duplicate_keys(self, epoch):
        text = '{"epoch": 77, "epoch": %d, "accuracy": 5, "accuracy": %r, "cost": 1, "cost": %r}'
        self.tell(epoch, text % (epoch, self.value(epoch), self.cost(epoch)))
        return "told"

    def do_unicode(self, epoch):
        append(self.report, "{\"\u202e\U0001f600\": \"\ud7ff\"}\n".encode("utf-8", "replace"))
        append(self.report, b'{"note": "\xff\xfe"}\n')

    def do_nul(self, epoch):
        append(self.report, b"\x00\x00\n{\x00}\n")
        os.write(1, b"a\x00b\n")

    def do_ansi(self, epoch):
        os.write(1, b"\x1b[2J\x1b]0;owned\x07\n")

    def do_long_line(self, epoch):
        append(self.report, b"x" * 70000 + b"\n")
        os.write(1, b"y" * 70000 + b"\n")

    def do_binary(self, epoch):
        draw = draws(epoch)
        noise = bytes(int(draw() * 256) for _ in range(5000))
        append(self.report, noise + b"\n")
        os.write(1, noise)

    def do_half_line(self, epoch):
        self.account.say(what="report", epoch=epoch, value=self.value(epoch), cost=self.cost(epoch), at=now())
        line = text_of({"epoch": epoch, "accuracy": self.value(epoch), "cost": self.cost(epoch)}).encode()
        append(self.report, line[:9])
        self.account.sleep(0.1)
        append(self.report, line[9:] + b"\n")
        self.account.say(what="reported", epoch=epoch)
        return "told"

    def do_tag_flood(self, epoch):
        os.write(1, b"bapi: " * 5000 + b"\n" + b"bapi: {\n" * 2000)

    def do_big_output(self, epoch):
        for _ in range(64):
            os.write(1, b"z" * 65535 + b"\n")

    def do_deep(self, epoch):
        append(self.report, b'{"epoch": ' + b"[" * 20000 + b"]" * 20000 + b"}\n")

    def do_backwards(self, epoch):
        append(self.report, b'{"epoch": -3, "accuracy": 1, "cost": 1}\n')

    # ---- what is done to files

    def do_delete_report(self, epoch):
        self.quietly(os.remove, self.report)

    def do_truncate_report(self, epoch):
        self.quietly(os.truncate, self.report, 0)

    def do_replace_report(self, epoch):
        append(self.report + ".x", b"")
        self.quietly(os.replace, self.report + ".x", self.report)

    def do_link_report(self, epoch):
        self.link(os.path.join(self.dir, "..", "..", "study.db"), self.report)

    def do_zero_report(self, epoch):
        self.link("/dev/zero", self.report)

    def do_sparse_report(self, epoch):
        self.quietly(os.truncate, self.report, 1 << 40)

    def do_fifo_report(self, epoch):
        self.quietly(os.remove, self.report)
        self.quietly(os.mkfifo, self.report)
        self.account.sleep(0.3)
        os._exit(0)

    def do_delete_log(self, epoch):
        self.quietly(os.remove, os.path.join(self.dir, "log"))

    def do_sparse_log(self, epoch):
        self.quietly(os.truncate, os.path.join(self.dir, "log"), 1 << 40)

    def do_fifo_log(self, epoch):
        log = os.path.join(self.dir, "log")
        self.quietly(os.remove, log)
        self.quietly(os.mkfifo, log)

    def do_delete_process(self, epoch):
        self.quietly(os.remove, os.path.join(self.dir, "process"))

    def do_tear_process(self, epoch):
        self.quietly(os.truncate, os.path.join(self.dir, "process"), 20)

    def do_delete_directory(self, epoch):
        import shutil
        shutil.rmtree(self.dir, ignore_errors=True)

    def do_touch_future(self, epoch):
        self.quietly(os.utime, self.report, (2e9, 2e9))

    # ---- what is done to checkpoints

    def do_report_then_save(self, epoch):
        self.tell(epoch)
        self.account.sleep(0.05)
        return "told"

    def do_half_checkpoint(self, epoch):
        """Saved in place, and slowly, so that a kill or a copy finds half of it."""
        for text in ("x" * 100000, "x" * 200000, str(epoch)):
            self.put(self.checkpoint, text)
            self.account.sleep(0.03)

    def do_save_without_pause(self, epoch):
        """Another process writes to the checkpoint for ever."""
        def write():
            number = 0
            while True:
                number += 1
                self.put(self.checkpoint + ".busy", str(number) * 1000)
                select.select([], [], [], 0.002)  # without taking the whole processor from everybody else
        self.child(lambda: None, write)

    def do_link_checkpoint(self, epoch):
        """The directory becomes a link to one that is not the trial's."""
        self.away("checkpoint")
        elsewhere = os.path.join(self.side, f"elsewhere{self.trial}")
        os.makedirs(elsewhere, exist_ok=True)
        self.quietly(os.symlink, elsewhere, os.path.dirname(self.checkpoint))

    def do_fifo_checkpoint(self, epoch):
        self.quietly(os.mkfifo, self.checkpoint + ".pipe")

    def do_checkpoint_is_fifo(self, epoch):
        self.away("checkpoint")
        self.quietly(os.mkfifo, os.path.dirname(self.checkpoint))

    def do_checkpoint_is_file(self, epoch):
        self.away("checkpoint")
        self.put(os.path.dirname(self.checkpoint), "x")

    def do_sparse_checkpoint(self, epoch):
        self.put(self.checkpoint + ".huge", "")
        self.quietly(os.truncate, self.checkpoint + ".huge", 1 << 40)

    def do_deep_checkpoint(self, epoch):
        path = os.path.dirname(self.checkpoint)
        for _ in range(100):
            path = os.path.join(path, "d")
            self.quietly(os.mkdir, path)

    def do_loop_checkpoint(self, epoch):
        self.quietly(os.symlink, ".", self.checkpoint + ".loop")
        self.quietly(os.symlink, "/", self.checkpoint + ".root")

    def do_delete_checkpoint(self, epoch):
        self.away("checkpoint")

    def do_delete_best(self, epoch):
        self.away("best")

    def do_link_best(self, epoch):
        """bapi's own copies would be written somewhere else."""
        self.away("best")
        self.quietly(os.symlink, self.side, os.path.join(self.dir, "best"))

    def do_plant_best(self, epoch):
        """A complete-looking model of an epoch that was never trained."""
        planted = os.path.join(self.dir, "best", "epoch-77")
        self.quietly(os.makedirs, os.path.join(planted, "checkpoint"))
        self.put(os.path.join(planted, "about"), "epoch 77\nvalue 1e308\nfiles 9\nbytes -1\nsynced 1\n")

    def do_link_into_checkpoint(self, epoch):
        """A file that is none of the trial's must not be changed through a link to it."""
        precious = os.path.join(self.side, "precious")
        if not os.path.exists(precious):
            self.put(precious, "mine")
        self.quietly(os.symlink, precious, self.checkpoint + ".precious")
        self.quietly(os.symlink, precious, os.path.join(self.dir, "checkpoint-epoch"))

    # ---- what is done as a process

    def do_eat_files(self, epoch):
        self.eaten = []
        try:
            while len(self.eaten) < 5000:
                self.eaten.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        for file in self.eaten[-8:]:
            os.close(file)

    def do_stop_itself(self, epoch):
        os.kill(os.getpid(), signal.SIGSTOP)

    def do_kill_parent(self, epoch):
        parent = os.getppid()
        with open(f"/proc/{parent}/comm") as file:
            if file.read().strip() == "bapi":  # never anybody else who has inherited this process
                os.kill(parent, signal.SIGKILL)

    def at_start_ignore_term(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def at_start_fork(self):
        self.child(lambda: None)

    def at_start_group(self):
        """As `timeout` and job control do."""
        self.child(lambda: os.setpgid(0, 0))

    def at_start_session(self):
        self.child(os.setsid)

    def at_start_daemon(self):
        def twice():
            os.setsid()
            if os.fork() > 0:
                os._exit(0)
        self.child(twice)

    def do_crash(self, epoch):
        os.kill(os.getpid(), signal.SIGSEGV)

    def do_exit_early(self, epoch):
        os._exit(0)

    def do_exit_code(self, epoch):
        os._exit(3)

    # ----

    def child(self, prepare, act=None):
        """Another process that trains for up to a minute, whatever becomes of this one."""
        if os.fork() > 0:
            return
        prepare()
        account = Account(self.side, self.trial, role="child")
        if act:
            act()
        account.sleep(60)
        os._exit(0)

    @staticmethod
    def put(path, text):
        try:
            with open(path, "w") as file:
                file.write(text)
        except OSError:
            pass

    def away(self, name):
        """Removes a directory of the trial, or whatever stands in its place."""
        path = os.path.join(self.dir, name)
        if os.path.isdir(path) and not os.path.islink(path):
            import shutil
            shutil.rmtree(path, ignore_errors=True)
        else:
            self.quietly(os.remove, path)

    def link(self, to, path):
        self.quietly(os.symlink, to, path + ".x")
        self.quietly(os.replace, path + ".x", path)

    @staticmethod
    def quietly(do, *arguments):
        try:
            do(*arguments)
        except OSError:
            pass


HONEST = ["plain", "no_ready", "ends_at_until"]
EVIL = sorted(["cost_1e308"] + [name.removeprefix("do_").removeprefix("at_start_") for name in dir(Trainer)
                                if name.startswith(("do_", "at_start_"))])

if __name__ == "__main__":
    Trainer(dict(zip(sys.argv[1::2], sys.argv[2::2]))).run()

#!/usr/bin/env python3
"""docs/workers.md, "A laptop and a desktop", on two hosts: network namespaces with a cable between them that is pulled.

    tests/cluster/two_hosts_test.py --bapi build/release/bapi

Each host has its own name, address, home and files; the desktop has the database. Needs root, for the namespaces, and
the programs of a PostgreSQL server; skipped without, or failed if BAPI_REQUIRE_CLUSTER_TESTS is in the environment.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
from delays import Delays, latency  # noqa: E402
from private_database import missing, ordinary_user  # noqa: E402

OPTIONS = argparse.Namespace(bapi=None)
PATIENCE = 200  # seconds that a busy machine may take
LEASE = 10.0  # seconds
BUDGET = 90.0  # seconds
DELAYS = Delays()

STUDY = f"""
name: mlp
command: [python3, trainer.py, --lr, "${{lr}}", --delay, "0.3"]
metric: {{name: accuracy, goal: maximize}}
budget: {BUDGET:.0f}s
epochs: {{min: 1, max: 9}}
policy: hyperband
grace: 1s
lease: {LEASE:.0f}s
parameters:
  lr: {{min: 1.0e-4, max: 1, log: true}}
"""


def reason_to_skip():
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    without = [name for name in ("ip", "unshare", "setpriv", "mount") if shutil.which(name) is None]
    if without:
        return f"{', '.join(without)}: not installed"
    return missing()


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


class Host:
    """A network namespace with a name and a home; what runs there is an ordinary user's and sees no other host's home."""

    def __init__(self, name, address, place):
        self.name, self.address = name, address
        self.space = f"bapi-{name}-{os.getpid()}"
        self.cable = f"{name[:6]}{os.getpid()}"
        self.home = place / name
        self.home.mkdir()
        self.started = []
        user = ordinary_user()
        self.user = f"--reuid={user.pw_uid} --regid={user.pw_gid} --clear-groups"
        run("ip", "netns", "add", self.space)

    def connect(self, other):
        """A cable between the two, and the names of both."""
        run("ip", "link", "add", self.cable, "netns", self.space, "type", "veth", "peer", other.cable, "netns", other.space)
        for host in (self, other):
            run("ip", "-n", host.space, "addr", "add", f"{host.address}/24", "dev", host.cable)
            names = pathlib.Path("/etc/netns") / host.space
            names.mkdir(parents=True)
            (names / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{h.address} {h.name}\n" for h in (self, other)))
            run("ip", "-n", host.space, "link", "set", "lo", "up")
            host.plug(True)

    def plug(self, in_):
        run("ip", "-n", self.space, "link", "set", self.cable, "up" if in_ else "down")

    def command(self, *words):
        # Where the other host has its home there is nothing here.
        aside = f"/run/{self.space}"
        own = f"mkdir -p {aside}; mount --bind '{self.home}' {aside}; mount -t tmpfs -o mode=755 none '{self.home.parent}'; " \
              f"mkdir '{self.home}'; mount --move {aside} '{self.home}'; cd '{self.home}'; "
        script = f"set -e; hostname {self.name}; {own}exec setpriv {self.user} \"$@\""
        return ["ip", "netns", "exec", self.space, "unshare", "--uts", "--mount", "sh", "-c", script, "sh", *words]

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "BAPI"))}
        path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"  # what an ordinary user may run
        return {**kept, "HOME": str(self.home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def bapi(self, *words, code=0):
        done = subprocess.run(self.command(str(self.home / "bapi"), *words), cwd=self.home, env=self.environment(),
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == code, f"{self.name}$ bapi {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def begin(self, *words):
        output = self.home / f"out{len(self.started)}"
        with open(output, "w") as out:
            process = subprocess.Popen(self.command(str(self.home / "bapi"), *words), cwd=self.home,
                                       env=self.environment(), stdout=out, stderr=out, start_new_session=True)
        process.output = output
        self.started.append(process)
        return process

    def programs(self):
        """Training programs of this host."""
        found = subprocess.run(["ip", "netns", "pids", self.space], capture_output=True, text=True, check=True).stdout
        programs = []
        for pid in found.split():
            try:
                if b"\0trainer.py\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    programs.append(int(pid))
            except OSError:
                pass
        return programs

    def remove(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        left = subprocess.run(["ip", "netns", "pids", self.space], capture_output=True, text=True).stdout
        for pid in left.split():
            try:
                os.kill(int(pid), 9)
            except OSError:
                pass
        subprocess.run(["ip", "netns", "delete", self.space])
        shutil.rmtree(f"/etc/netns/{self.space}", ignore_errors=True)
        shutil.rmtree(f"/run/{self.space}", ignore_errors=True)


class TwoHosts(unittest.TestCase):
    def setUp(self):
        reason = reason_to_skip()
        if reason and os.environ.get("BAPI_REQUIRE_CLUSTER_TESTS"):
            self.fail(reason)
        if reason:
            self.skipTest(reason)
        self.began = time.monotonic()
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="bapi-hosts-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.place.chmod(0o755)
        self.desktop = self.host("desktop", "10.237.0.1")
        self.laptop = self.host("laptop", "10.237.0.2")
        self.desktop.connect(self.laptop)

    def host(self, name, address):
        host = Host(name, address, self.place)
        self.addCleanup(host.remove)
        shutil.copy(OPTIONS.bapi, host.home / "bapi")
        shutil.copy(HERE.parent / "e2e" / "trainer.py", host.home)
        user = ordinary_user()
        shutil.chown(host.home, user.pw_uid, user.pw_gid)
        return host

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            said = [f"{process.args[-3:]}: {process.output.read_text()}"
                    for host in (self.desktop, self.laptop) for process in host.started]
            self.assertLess(time.monotonic(), end, "\n".join([f"timed out waiting for {what}", *said]))
            time.sleep(0.05)

    def read(self, command, *words):
        return json.loads(self.desktop.bapi(command, self.url + "#mlp", *words, "-f", "json").stdout)

    def states(self, host):
        return [worker["state"] for worker in self.read("workers", "--all") if worker["host"] == host.name]

    def latency(self):
        return latency(DELAYS, self.began)

    def test_the_page_is_followed_and_the_cable_pulled(self):
        desktop, laptop = self.desktop, self.laptop
        # As the page says, word for word.
        self.url = desktop.bapi("database", "start", "tuning-db", "--listen", "0.0.0.0", "--port", "5433").stdout.strip()
        self.addCleanup(lambda: desktop.bapi("database", "stop", "tuning-db"))
        self.assertEqual(self.url, f"postgresql://bapi@desktop:5433/bapi?passfile={desktop.home}/tuning-db/password")
        (desktop.home / "study.yaml").write_text(STUDY)
        leader = desktop.begin("run", "study.yaml", "--storage", self.url)
        self.wait_for(lambda: desktop.programs(), "a program on the desktop")
        shutil.copy(desktop.home / "tuning-db" / "password", laptop.home / ".pgpass")
        user = ordinary_user()
        shutil.chown(laptop.home / ".pgpass", user.pw_uid, user.pw_gid)
        (laptop.home / ".pgpass").chmod(0o600)
        there = "postgresql://bapi@desktop:5433/bapi"
        self.assertIn("NOT ENCRYPTED", laptop.bapi("doctor", there).stdout)
        worker = laptop.begin("worker", there + "#mlp", "--checkpoints", "local", "--slots", "2")
        self.wait_for(lambda: len(laptop.programs()) == 2, "programs on the laptop")
        shown = desktop.bapi("workers", self.url + "#mlp").stdout
        self.assertRegex(shown, r"desktop +live +1")
        self.assertRegex(shown, r"laptop +live +2")

        # A short cut is nobody's loss.
        desktop.plug(False)
        time.sleep(2.0)
        desktop.plug(True)
        time.sleep(2.0)
        self.assertEqual(self.states(laptop), ["live"])

        # A long one ends the programs of the laptop before its right is over; its trials continue on the desktop.
        desktop.plug(False)
        cut = time.monotonic()
        self.wait_for(lambda: not laptop.programs(), "the end of the laptop's programs")
        self.assertLess(time.monotonic() - cut, LEASE + self.latency())
        self.wait_for(lambda: self.states(laptop) == ["lost"], "the loss of the laptop")
        self.assertIsNone(worker.poll())
        self.assertTrue(desktop.programs())
        epochs = sum(trial["epochs"] for trial in self.read("trials"))
        self.wait_for(lambda: sum(trial["epochs"] for trial in self.read("trials")) > epochs, "epochs on the desktop")

        # When the cable is back, the laptop is.
        desktop.plug(True)
        self.wait_for(lambda: self.states(laptop) == ["lost", "live"], "the laptop to join again")
        self.wait_for(lambda: laptop.programs(), "programs on the laptop")

        for process in (leader, worker):
            self.assertEqual(process.wait(PATIENCE), 0, process.output.read_text())
        status, ledger = self.read("status"), self.read("ledger")
        self.assertEqual(status["state"], "finished")
        spent = 0.0
        for row in ledger:
            spent += row["cost"]
        self.assertEqual(spent, status["budget"]["spent"])
        self.assertLessEqual(spent, BUDGET + 3 * self.latency())
        self.assertIn("lost", {row["kind"] for row in ledger})
        trained = [(row["trial"], row["epoch"]) for row in ledger if row["kind"] in ("epoch", "ahead")]
        self.assertEqual(len(trained), len(set(trained)), "an epoch was charged twice")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bapi", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.bapi = os.path.abspath(OPTIONS.bapi)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)

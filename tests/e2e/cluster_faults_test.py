"""Studies in a database when machines, connections and the database itself fail: real processes, a real server."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import HERE, PATIENCE
from tcp_proxy import TcpProxy
from with_workers import WithWorkers

LEASE = 8.0  # seconds
SHORT_LEASE = f"lease: {LEASE}s\n"
LEADER_SILENCE = 15.0  # seconds: kLeaderSilence of bapi/store/leadership.h


class ClusterFaults(WithWorkers):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.restart_server)  # whatever a test has done to it

    # ---- What the tests do

    def restart_server(self):
        self.database.start_again()

    def postmaster(self):
        return os.path.join(self.database.directory, "data", "postmaster.pid")

    def kill_server(self):
        with open(self.postmaster()) as file:
            os.kill(int(file.readline()), signal.SIGKILL)

    def through(self, proxy):
        """The address of the study by way of the proxy, with a password file that knows its port."""
        with open(os.path.join(self.database.directory, "password")) as file:
            words = file.read().split(":")
        secret = self.path(f"pgpass{proxy.port}")
        with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(":".join([words[0], str(proxy.port), *words[2:]]))
        url = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{proxy.port}", self.url)
        return re.sub(r"passfile=.*", f"passfile={secret}", url) + f"#{self.name}"

    def proxy(self):
        proxy = TcpProxy(int(re.search(r":(\d+)/", self.url).group(1)))
        self.addCleanup(proxy.stop)
        return proxy

    def programs_in(self, directory):
        """The training programs that keep their files there and are not stopped."""
        mark = f"BAPI_DIR={self.path(directory)}/".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as environ:
                    if mark in environ.read() and self.state_in_kernel(pid) not in "TXZ":
                        found.append(int(pid))
            except OSError:
                pass
        return found

    def state_of(self, process):
        return next((w["state"] for w in self.workers() if w["pid"] == process.pid), None)

    def wait_for_lost(self, process):
        self.wait_for(lambda: "lost" in [w["state"] for w in self.workers() if w["pid"] == process.pid],
                      "the loss of the worker")

    def lease_end(self, process):
        query = f"SELECT extract(epoch FROM max(train_until)) FROM bapi.worker WHERE pid = {process.pid}"
        return float(self.value(query))

    def check_programs_end_in_time(self, process, directory):
        """A worker that cannot be heard: nothing of it trains when its right is over."""
        self.wait_for(lambda: not self.programs_in(directory), "the end of its programs")
        gone = time.time()
        self.assertLessEqual(gone, self.lease_end(process) + self.latency())

    # ---- Leaders

    def test_a_leader_that_hangs_is_replaced_and_ends_itself(self):
        leader = self.lead('"60 epochs"', 0.3)
        worker = self.worker("--slots", "2")
        self.wait_for_epochs(3)
        leader.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        self.wait_for(lambda: self.leader() not in (None, leader.pid), "another leader")
        took = time.monotonic() - began
        self.assertGreater(took, LEADER_SILENCE - 3.0)
        self.assertLess(took, LEADER_SILENCE + 8.0 + self.latency())
        done = self.epochs()
        leader.send_signal(signal.SIGCONT)
        self.end_of(leader, code=3)
        self.assertIn("another process leads this study now", self.said_by(leader))
        self.wait_for_epochs(done + 3)
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 60.0)
        self.assertNotIn("lost", {w["state"] for w in self.workers()}, "workers train on")

    def test_a_killed_leader_is_replaced_within_twenty_seconds(self):
        leader = self.lead('"40 epochs"', 0.3)
        worker = self.worker("--slots", "2")
        self.wait_for_epochs(3)
        leader.kill()
        leader.wait()
        began = time.monotonic()
        self.wait_for(lambda: self.leader() is not None, "another leader")
        self.assertLess(time.monotonic() - began, 20.0 + self.latency())
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 40.0)

    # ---- Workers

    def test_a_worker_that_is_cut_off_ends_its_programs_and_joins_again(self):
        proxy = self.proxy()
        leader = self.lead("90s", 0.3, more=SHORT_LEASE)
        self.wait_for(lambda: float(self.value("SELECT min(lease) FROM bapi.pace")) <= LEASE, "the pace")
        cut = self.begin("worker", self.through(proxy), "--no-lead", "--slots", "2", "--checkpoints", "local",
                         "--scratch", "cut")
        self.wait_for(lambda: self.programs_in("cut"), "its programs")
        other = self.worker("--no-lead", "--checkpoints", "local", "--scratch", "other")
        self.wait_for_epochs(4)
        proxy.hangs = True
        self.check_programs_end_in_time(cut, "cut")
        self.wait_for_lost(cut)
        proxy.hangs = False
        self.wait_for(lambda: self.programs_in("cut"), "its programs, after it has joined again")
        proxy.cuts = True  # another time, in another way
        self.check_programs_end_in_time(cut, "cut")
        proxy.cuts = False
        self.end_of(leader)
        self.end_of(cut)
        self.end_of(other)
        self.check_study(90.0 + self.latency(3))
        self.assertIn("lost", self.kinds())

    def test_a_worker_that_is_frozen_trains_nothing_when_its_right_is_over(self):
        leader = self.lead("60s", 0.3, more=SHORT_LEASE)
        frozen = self.worker("--no-lead", "--slots", "2", "--checkpoints", "local", "--scratch", "frozen")
        self.wait_for(lambda: self.programs_in("frozen"), "its programs")
        other = self.worker("--no-lead", "--checkpoints", "local", "--scratch", "other")
        self.wait_for_epochs(4)
        frozen.send_signal(signal.SIGSTOP)
        self.check_programs_end_in_time(frozen, "frozen")
        self.wait_for_lost(frozen)
        self.assertEqual(self.programs_in("frozen"), [])
        frozen.send_signal(signal.SIGCONT)
        self.end_of(leader)
        self.end_of(frozen)
        self.end_of(other)
        self.check_study(60.0 + self.latency(3))
        self.assertEqual(len([w for w in self.workers() if w["pid"] == frozen.pid]), 2, "it joined again")

    def test_workers_end_within_two_seconds_of_the_study(self):
        leader = self.lead('"20 epochs"', 0.1)
        workers = [self.worker("--no-lead"), self.worker("--no-lead")]
        self.wait_for(lambda: self.value(f"SELECT phase FROM bapi.pace p JOIN bapi.study s ON s.id = p.study WHERE "
                                         f"s.name = '{self.name}'") == "finished", "the end of the study")
        ended = time.monotonic()
        for worker in workers:
            self.end_of(worker)
        self.assertLess(time.monotonic() - ended, 2.0 + self.latency())
        self.end_of(leader)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, for a host of another name")
    def test_a_trial_that_fails_at_once_is_tried_elsewhere_and_a_bad_worker_set_aside(self):
        self.write("picky.py", "import os, sys\n"
                               "if os.uname().nodename == 'badhost': sys.exit('no GPU here')\n"
                               f"sys.argv[0] = {str(HERE / 'trainer.py')!r}\n"
                               "exec(open(sys.argv[0]).read())\n")
        self.study_file('"60 epochs"', 0.2)
        with open(self.path("study.yaml")) as file:
            text = file.read().replace(str(HERE / "trainer.py"), self.path("picky.py"))
        self.write("study.yaml", text)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        good = self.worker("--no-lead", "--slots", "2")
        self.wait_for_epochs(2)
        program = self.begin("worker", self.study_url, "--no-lead", "--slots", "2", under=[
            "unshare", "--uts", "sh", "-c", 'hostname badhost; exec "$0" "$@"'])
        self.wait_for(lambda: "set aside" in [w["state"] for w in self.workers()], "the worker to be set aside")
        row = next(w for w in self.workers() if w["state"] == "set aside")
        self.assertEqual(row["host"], "badhost")
        self.assertGreaterEqual(row["failures"], 3)
        self.end_of(leader)
        self.assertIn("gets no more trials: ", self.said_by(leader))
        self.end_of(good)
        self.end_of(program)
        self.check_study()
        states = [trial["state"] for trial in self.json("trials", self.study_url)]
        self.assertNotIn("failed", states, "the trials were tried on the other host")
        retried = self.value("SELECT count(*) FROM bapi.event e JOIN bapi.study s ON s.id = e.study WHERE kind = 'retried' "
                             f"AND payload LIKE '%failed on badhost before its first epoch%' AND s.name = '{self.name}'")
        self.assertGreaterEqual(int(retried), 3)

    def test_a_worker_without_a_free_connection_tries_again(self):
        leader = self.lead('"10 epochs"', 0.05)
        self.database.sql("CREATE ROLE crowd LOGIN PASSWORD 'crowd' CONNECTION LIMIT 0;"
                          "GRANT pg_read_all_data TO crowd;"
                          "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bapi TO crowd;"
                          "GRANT USAGE ON SCHEMA bapi TO crowd;")
        url = re.sub(r"\?passfile=.*", "", self.study_url.replace("bapi@", "crowd@").partition("#")[0])
        worker = self.begin("worker", f"{url}#{self.name}", "--no-lead", PGPASSWORD="crowd")
        self.wait_for(lambda: "too many connections" in self.said_by(worker) or worker.poll() is not None, "a refusal")
        self.assertIsNone(worker.poll(), self.said_by(worker))
        self.database.sql("ALTER ROLE crowd CONNECTION LIMIT -1")
        self.end_of(worker)
        self.end_of(leader)
        self.check_study()

    # ---- The database

    def test_the_server_may_be_killed_at_any_statement_of_the_leader(self):
        self.killed_at_statements("leader", range(1, 44, 5))

    def test_the_server_may_be_killed_at_any_statement_of_a_worker(self):
        self.killed_at_statements("worker", range(1, 32, 4))

    def killed_at_statements(self, who, numbers):
        leader = self.lead('"5000 epochs"', 0.15)
        worker = self.worker("--no-lead", "--slots", "2")
        self.wait_for_epochs(2)
        deaths = survivals = 0
        for number in numbers:
            for moment in ("", "+"):
                variables = {"BAPI_TEST_DEATH": f"{number}{moment}", "BAPI_TEST_DEATH_OF": self.postmaster()}
                if who == "leader":
                    if leader.poll() is None:
                        leader.send_signal(signal.SIGINT)
                        self.end_of(leader, code=130)
                    leader = self.begin("resume", self.study_url, "--workers", "0", "-q", **variables)
                    process = leader
                else:
                    process = self.begin("worker", self.study_url, "--no-lead", **variables)
                if not self.server_dies(process):
                    continue
                deaths += 1
                self.restart_server()
                if who == "worker":
                    self.assertIsNone(process.poll(), self.said_by(process))
                    process.terminate()
                    self.end_of(process)
                elif self.leads(process):
                    survivals += 1
        self.assertGreater(deaths, 10)
        if who == "leader":
            self.assertGreater(survivals, 3, "who leads goes on")
        if leader.poll() is None:
            leader.send_signal(signal.SIGINT)
            self.end_of(leader, code=130)
        self.assertIsNone(worker.poll(), self.said_by(worker))
        total = self.epochs() + 30
        self.bapi("resume", self.study_url, "--workers", "0", "-q", "--budget", f"{total} epochs")
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], total)

    def leads(self, process):
        """Whether it leads in the end. One that had not begun to lead says so and ends."""
        self.wait_for(lambda: process.poll() is not None or self.leader() == process.pid, "the leader")
        self.assertIn(process.poll(), (None, 3), self.said_by(process))
        return process.poll() is None

    def server_dies(self, process):
        """False if the process does not come to its statement within a while."""
        with open(self.postmaster()) as file:
            pid = int(file.readline())
        end = time.monotonic() + 20.0
        while self.state_in_kernel(pid) not in "ZX":
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def state_in_kernel(self, pid):
        """A letter of proc(5); X if there is no such process."""
        try:
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rpartition(")")[2].split()[0]
        except OSError:
            return "X"

    def test_a_database_that_falls_back_to_an_older_copy_costs_what_the_copy_lacks(self):
        leader = self.lead('"60 epochs"', 0.25, more=SHORT_LEASE)
        worker = self.worker("--no-lead", "--slots", "2")
        self.wait_for_epochs(6)
        data = os.path.join(self.database.directory, "data")
        self.assertEqual(self.database.stop().returncode, 0)
        shutil.copytree(data, data + ".old", symlinks=True)
        subprocess.run(["chown", "-R", "--reference", data, data + ".old"], check=True)
        self.restart_server()
        copied = self.epochs()
        self.wait_for_epochs(copied + 6)
        term = int(self.value(f"SELECT term FROM bapi.study WHERE name = '{self.name}'"))
        self.kill_server()
        shutil.rmtree(data)
        os.rename(data + ".old", data)
        self.restart_server()
        self.wait_for(lambda: "has forgotten the end of the log" in self.said_by(leader), "the leader to notice")
        self.wait_for(lambda: int(self.value(f"SELECT term FROM bapi.study WHERE name = '{self.name}'")) > term, "its term")
        self.end_of(leader)
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 60.0)

    def test_a_full_disk_of_the_database_is_waited_for(self):
        place = self.small_disk()
        leader = self.lead('"60 epochs"', 0.2)
        worker = self.worker("--no-lead", "--slots", "2")
        self.wait_for_epochs(3)
        name = f"full_{os.getpid()}"
        self.database.sql(f"CREATE TABLESPACE {name} LOCATION '{place}'")
        self.addCleanup(lambda: self.database.sql(
            f"ALTER TABLE bapi.event SET TABLESPACE pg_default; DROP TABLESPACE {name}"))
        filler = os.path.join(place, "filler")
        self.database.sql(f"ALTER TABLE bapi.event SET TABLESPACE {name}")
        try:
            with open(filler, "wb") as file:
                while True:
                    file.write(b"x" * 4096)
                    file.flush()
        except OSError:
            pass
        self.wait_for(lambda: "the disk of the server is full" in self.said_by(leader), "the leader to say so")
        done = self.epochs()
        time.sleep(3.0)
        self.assertIsNone(leader.poll())
        self.assertIsNone(worker.poll())
        os.remove(filler)
        self.wait_for_epochs(done + 3)
        self.end_of(leader)
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 60.0)

    def small_disk(self):
        """A file system of four megabytes for the server; skips the test where none can be mounted."""
        place = os.path.join(self.place, "small")
        os.makedirs(place)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("needs the right to mount a file system")
        self.addCleanup(lambda: subprocess.run(["umount", place], check=True))
        if self.database.user:
            os.chown(place, self.database.user.pw_uid, self.database.user.pw_gid)
        return place

    def die_at(self, statement, *arguments):
        """A process that is killed when it is about to send its statement of this number, or has just sent it (17+)."""
        process = self.begin(*arguments, BAPI_TEST_DEATH=statement)
        process.wait(PATIENCE)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), self.said_by(process))
        return process.returncode

    def test_a_leader_may_die_at_any_statement(self):
        self.study_file('"90 epochs"', 0.05)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        worker = self.worker("--no-lead", "--slots", "2")
        self.wait_for_epochs(2)
        leader.kill()
        leader.wait()
        deaths = 0
        for number in range(1, 40, 2):
            for moment in ("", "+"):
                code = self.die_at(f"{number}{moment}", "resume", self.study_url, "--workers", "0", "-q")
                deaths += code != 0
        self.assertGreater(deaths, 10)
        self.bapi("resume", self.study_url, "--workers", "0", "-q")
        self.end_of(worker)
        self.assertEqual(self.check_study()["budget"]["spent"], 90.0)

    def test_a_worker_may_die_at_any_statement(self):
        self.study_file('"90 epochs"', 0.05)
        leader = self.begin("run", "study.yaml", "--storage", self.url, "--workers", "0")
        self.wait_for_study()
        deaths = 0
        for number in range(1, 26, 2):
            for moment in ("", "+"):
                code = self.die_at(f"{number}{moment}", "worker", self.study_url, "--no-lead")
                deaths += code != 0
        self.assertGreater(deaths, 10)
        worker = self.worker("--no-lead", "--slots", "2")
        self.end_of(leader)
        self.end_of(worker)
        self.check_study(90.0)


if __name__ == "__main__":
    unittest.main(verbosity=2)

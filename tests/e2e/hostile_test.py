"""The budget holds when the guardian is stopped, everything is suspended at once, programs keep moving, signals are
inherited, nobody reads what bapi says, and files are replaced while it runs."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import time

from harness import BAPI, PATIENCE, main
from reliability import WRAPPERS, Reliability, is_stopped

F_SETPIPE_SZ = 1031


def guardians_of(controller):
    """Processes that descend from a process in the way the guardian does."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                name, _, rest = file.read().rpartition(b")")
        except OSError:
            continue
        if name.partition(b"(")[2] == b"bapi-guardian" and int(rest.split()[1]) == controller:
            found.append(int(pid))
    return found


class Hostile(Reliability):
    def start_study(self, command="[./tr]", budget="4s", workers=2, extra="", lines=4):
        process = self.start("run", self.reliable_study(command, budget=budget, workers=workers, extra=extra))
        self.wait_for_lines(lines)
        return process

    def ends_well(self, process, budget, workers=2):
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertLess(self.spent(), budget + self.latency(workers))
        self.assertEqual(self.trainers(), [])


class StoppedGuardian(Hostile):
    def test_is_continued_by_its_controller(self):
        process = self.start_study(budget="20s")
        (guardian,) = guardians_of(process.pid)
        os.kill(guardian, signal.SIGSTOP)
        self.wait_for(lambda: not is_stopped(guardian), "the guardian to go on")
        self.kill_and_wait(process)
        self.wait_until_nobody_trains()

    def test_stops_the_programs_at_ctrl_z(self):
        process = self.start_study(WRAPPERS["timeout"])
        (guardian,) = guardians_of(process.pid)
        os.kill(guardian, signal.SIGSTOP)
        process.send_signal(signal.SIGTSTP)
        self.wait_for(lambda: is_stopped(process.pid), "the stop")
        self.wait_until_all_are_stopped()
        self.assert_nothing_grows(2.0)
        process.send_signal(signal.SIGCONT)
        self.ends_well(process, 4)

    def test_is_continued_by_the_next_controller(self):
        process = self.start_study(WRAPPERS["session"], budget="6s")
        (guardian,) = guardians_of(process.pid)
        process.send_signal(signal.SIGSTOP)  # it cannot notice
        self.wait_until_all_are_stopped()
        os.kill(guardian, signal.SIGSTOP)
        self.wait_for(lambda: is_stopped(guardian), "the stop of the guardian")
        self.kill_and_wait(process)
        self.assertNotEqual(self.trainers(), [])
        self.bapi("resume", "s", "--quiet")
        self.assertLess(self.spent(), 6 + self.latency(2))
        self.assertEqual(self.trainers(), [])


class KilledGuardian(Hostile):
    def test_of_a_stopped_controller_is_replaced_when_that_is_continued(self):
        """While everything is paused no training time passes, and whoever waits for some waits for ever."""
        process = self.start_study()
        process.send_signal(signal.SIGTSTP)
        self.wait_for(lambda: is_stopped(process.pid), "the stop")
        self.wait_until_all_are_stopped()
        for guardian in guardians_of(process.pid):
            os.kill(guardian, signal.SIGKILL)
        time.sleep(1.0)
        process.send_signal(signal.SIGCONT)
        self.ends_well(process, 4)


class StoppedTerminal(Hostile):
    def test_a_stop_that_is_taken_back_at_once_does_not_last(self):
        """The guardian is dead, so that the programs take a moment to stop."""
        process = self.start_study(budget="20s")
        for _ in range(5):
            for guardian in guardians_of(process.pid):
                os.kill(guardian, signal.SIGKILL)
            process.send_signal(signal.SIGTSTP)
            time.sleep(0.02)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.trainers(), [])


class Standstill(Hostile):
    """A job that is suspended, or a container that is paused: everything stops at once."""

    SECONDS = 4.0

    def stand_still(self, process):
        everybody = [process.pid, *guardians_of(process.pid), *self.trainers()]
        self.signal_all(everybody, signal.SIGSTOP)
        self.wait_for(lambda: all(is_stopped(pid) for pid in everybody), "the stop of everything")
        before = self.report_lines()
        time.sleep(self.SECONDS)
        self.assertEqual(self.report_lines(), before)
        self.signal_all(reversed(everybody), signal.SIGCONT)

    @staticmethod
    def signal_all(pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # of a command that was just ending
                os.kill(pid, number)

    def test_costs_nothing(self):
        for command in "[./tr]", WRAPPERS["timeout"]:
            with self.subTest(command):
                process = self.start_study(command, budget="6s")
                self.stand_still(process)
                self.ends_well(process, 6)
                self.assertGreater(self.spent(), 5)
                subprocess.run(["rm", "-rf", self.path("s.bapi")], check=True)

    def test_of_a_frozen_container_costs_nothing(self):
        old, new = pathlib.Path("/sys/fs/cgroup/freezer"), pathlib.Path("/sys/fs/cgroup")
        group = (old if old.is_dir() else new) / f"bapi-test-{os.getpid()}"
        state, frozen, thawed = ("freezer.state", "FROZEN", "THAWED") if old.is_dir() else ("cgroup.freeze", "1", "0")
        process = self.start_study(budget="6s")
        try:
            group.mkdir()
            self.addCleanup(lambda: self.wait_for(lambda: self.removed(group), "the end of the group"))
            for pid in [process.pid, *guardians_of(process.pid), *self.trainers()]:
                with contextlib.suppress(ProcessLookupError):
                    (group / "cgroup.procs").write_text(str(pid))
            (group / state).write_text(frozen)
        except OSError as error:
            self.skipTest(f"cannot freeze: {error}")
        try:
            time.sleep(0.5)
            before = self.report_lines()
            time.sleep(self.SECONDS)
            self.assertEqual(self.report_lines(), before)
        finally:
            (group / state).write_text(thawed)
        self.ends_well(process, 6)
        self.assertGreater(self.spent(), 4)

    @staticmethod
    def removed(group):
        try:
            group.rmdir()
        except OSError:
            return False
        return True

    def test_of_bapi_alone_is_charged(self):
        """Its programs trained on."""
        process = self.start_study(budget="60s", workers=1)
        both = [process.pid, *guardians_of(process.pid)]
        before = self.report_lines()
        for pid in both:
            os.kill(pid, signal.SIGSTOP)
        trained = 20
        self.wait_for(lambda: self.report_lines() >= before + trained, "training")
        for pid in both:
            os.kill(pid, signal.SIGCONT)
        self.wait_for_lines(before + trained + 5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertGreater(self.spent(), 0.1 * (before + trained))


class Movers(Hostile):
    def test_a_program_that_moves_on_to_ever_new_processes_ends_with_the_study(self):
        """Each in a session of its own, without the environment, faster than a look at all processes."""
        self.program("mover", f"""#!{sys.executable} -S
import os, time
if os.fork():
    time.sleep(1000)
end = time.time() + 100
while time.time() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.01)
    with open({self.path("alive")!r}, "w") as file:
        file.write(str(time.time()))
""")
        self.program("tr", "#!/bin/bash\nexec env -i ./mover\n")
        process = self.start("run", self.reliable_study(budget="3s"), "--keep-going")
        process.communicate(timeout=PATIENCE)
        with open(self.path("alive")) as file:
            last = file.read()
        time.sleep(1.0)
        with open(self.path("alive")) as file:
            self.assertEqual(file.read(), last)


class InheritedSignals(Hostile):
    def run_with(self, prepare, *words):
        self.reliable_study(budget="20s", workers=2)
        process = subprocess.Popen(
            [*words, os.path.abspath(BAPI), "run", "s.yaml"], cwd=self.dir, env=self.environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, preexec_fn=prepare,
            start_new_session=True,
        )  # fmt: skip
        self.started.append(process)
        self.wait_for_lines(4)
        return process

    def test_ends_of_programs_are_seen_where_the_parent_ignores_its_children(self):
        process = self.run_with(lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.trainers(), [])

    def test_ctrl_c_is_heard_where_the_parent_blocks_signals(self):
        process = self.run_with(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals)))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)

    def test_under_nohup_it_outlives_its_terminal(self):
        process = self.run_with(None, "nohup")
        process.send_signal(signal.SIGHUP)
        time.sleep(1.0)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)


class NobodyReads(Hostile):
    def test_a_study_goes_on(self):
        self.reliable_study(budget="2s", workers=2)
        reader, writer = os.pipe()
        fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
        os.write(writer, b"x" * 4096)
        with open(self.path("result"), "w") as result:
            process = subprocess.Popen([os.path.abspath(BAPI), "run", "s.yaml"], cwd=self.dir, stdout=result, stderr=writer,
                                       env=self.environment())  # fmt: skip
            self.started.append(process)
            self.assertEqual(process.wait(PATIENCE), 0)
        os.close(writer)
        os.close(reader)
        self.assertLess(self.spent(), 2 + self.latency(2))


class Escapes(Hostile):
    def test_names_of_metrics_are_shown_as_text(self):
        self.program("shouts", """#!/bin/bash
echo '{"epoch": 1, "accuracy": 0.5, "\\u001b]0;title\\u0007\\u001b[2J\\u0000\\u009b2J": 3}' >> "$BAPI_REPORT"
""")
        self.bapi("run", self.reliable_study("[./shouts]", budget='"1 epoch"'), "--quiet")
        shown = self.bapi("show", "s", "0").stdout
        self.assertIn("\\x1b]0;title\\x07\\x1b[2J\\x00\\x9b2J=3", shown)
        self.assertNotRegex(shown, "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]")


class ReplacedFiles(Hostile):
    def test_a_log_that_was_replaced_is_not_written_on(self):
        for name, replace in [("removed", lambda path: None), ("pipe", os.mkfifo), ("copy", lambda path: self.copy(path))]:
            with self.subTest(name):
                process = self.start_study(budget="6s")
                path = self.path("s.bapi", "study.db")
                os.rename(path, self.path("kept.db"))
                replace(path)
                _, said = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, 3)
                self.assertIn("study.db: this file was removed or replaced", said)
                self.assertEqual(self.trainers(), [])
                subprocess.run(["rm", "-rf", self.path("s.bapi")], check=True)

    def copy(self, path):
        with open(self.path("kept.db"), "rb") as source, open(path, "wb") as target:
            target.write(source.read())

    def test_what_stands_in_the_place_of_a_trials_directory_fails_that_trial(self):
        for name in "0000", "0000/checkpoint":
            for make in [os.mkfifo, lambda path: os.symlink(os.path.basename(path), path)]:
                with self.subTest(name, make=make.__name__):
                    self.kill_and_wait(self.start_study(budget="20s", workers=1))
                    self.wait_until_nobody_trains()
                    path = self.path("s.bapi", "trials", name)
                    subprocess.run(["rm", "-rf", path], check=True)
                    make(path)
                    self.bapi("resume", "s", "--budget", "4s", "--quiet", "--keep-going")
                    self.assertEqual(self.json("trials", "s")[0]["state"], "failed")
                    self.assertIn("Not a directory", self.bapi("show", "s", "0").stdout)
                    subprocess.run(["rm", "-rf", self.path("s.bapi")], check=True)

    def test_models_that_lie_behind_a_link_are_left_alone(self):
        for epoch in 1, 2, 3:
            os.makedirs(self.path("mine", f"epoch-{epoch}"))
            self.write(f"mine/epoch-{epoch}/file", "mine")
        self.program("linked", f"""#!/bin/bash
rm -rf "$BAPI_DIR/best"
ln -s "{self.path("mine")}" "$BAPI_DIR/best"
for epoch in 1 2 3; do
  echo $epoch > "$BAPI_CHECKPOINT_DIR/model"
  echo "{{\\"epoch\\": $epoch, \\"accuracy\\": 0.$epoch}}" >> "$BAPI_REPORT"
  sleep 0.2
done
""")
        self.bapi("run", self.reliable_study("[./linked]", budget='"3 epochs"'), "--quiet")
        self.bapi("clean", "s", "--keep", "1")
        for epoch in 1, 2, 3:
            self.assertEqual(os.listdir(self.path("mine", f"epoch-{epoch}")), ["file"])

    def test_a_process_file_that_is_a_loop_of_links_is_none(self):
        self.kill_and_wait(self.start_study(budget="20s"))
        self.wait_until_nobody_trains()
        for trial in "0000", "0001":
            path = self.path("s.bapi", "trials", trial, "process")
            os.remove(path)
            os.symlink("process", path)
        process = self.start("resume", "s")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertIn(process.returncode, (-signal.SIGINT, 0, 1, 130))  # -SIGINT: it was not there yet
        self.bapi("resume", "s", "--budget", "5s", "--quiet")


if __name__ == "__main__":
    main()

"""The budget holds when programs run away, the controller is stopped or killed, clocks lie and files vanish."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from harness import BAPI, PATIENCE, main
from reliability import WRAPPERS, Reliability, is_stopped


class Runaways(Reliability):
    def test_nothing_trains_after_kill_9(self):
        for name, command in WRAPPERS.items():
            with self.subTest(name):
                shutil.rmtree(self.path("s.bapi"), ignore_errors=True)
                process = self.start("run", self.reliable_study(command, budget="3s"))
                self.wait_for_lines(5)
                self.kill_and_wait(process)
                self.wait_until_nobody_trains()
                self.assert_nothing_grows()
                self.bapi("resume", "s", "--quiet")
                self.assertLess(self.spent(), 3 + self.latency())
                self.assertEqual(self.trainers(), [])
                self.assertEqual(self.process_files(), [])

    def test_nothing_trains_after_the_end(self):
        for name, command in WRAPPERS.items():
            with self.subTest(name):
                shutil.rmtree(self.path("s.bapi"), ignore_errors=True)
                self.bapi("run", self.reliable_study(command, budget="2s", workers=2), "--quiet")
                self.assertEqual(self.trainers(), [])
                self.assertLess(self.spent(), 2 + self.latency(2))
                self.assertEqual(self.process_files(), [])


class StoppedController(Reliability):
    def stop_and_continue(self, stop_signal):
        process = self.start("run", self.reliable_study(WRAPPERS["timeout"], budget="4s", workers=2))
        self.wait_for_lines(4)
        process.send_signal(stop_signal)
        self.wait_until_all_are_stopped()
        self.assert_nothing_grows(2.0)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertLess(self.spent(), 4 + self.latency(2))
        self.assertGreater(self.spent(), 2.5)  # the pause was not charged
        self.assertEqual(self.trainers(), [])

    def test_ctrl_z_pauses_training(self):
        self.stop_and_continue(signal.SIGTSTP)

    def test_a_stop_signal_pauses_training(self):
        self.stop_and_continue(signal.SIGSTOP)

    def test_programs_that_bapi_holds_itself_go_on_after_a_stop(self):
        process = self.start("run", self.reliable_study(budget='"40 epochs"', workers=2, policy="hyperband"))
        self.wait_for_lines(4)
        process.send_signal(signal.SIGSTOP)
        self.wait_until_all_are_stopped()
        self.assert_nothing_grows(1.0)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.spent(), 40)

    def test_kill_9_of_a_stopped_controller_ends_training(self):
        process = self.start("run", self.reliable_study(WRAPPERS["timeout"], budget="30s", workers=2))
        self.wait_for_lines(2)
        process.send_signal(signal.SIGSTOP)
        self.wait_until_all_are_stopped()
        self.kill_and_wait(process)
        self.wait_until_nobody_trains()


    def test_a_program_that_stops_its_controller_is_not_charged_for_that_time(self):
        self.program("brief", """#!/bin/bash
if [ "$BAPI_TRIAL" -gt 0 ]; then exec ./tr; fi
kill -STOP $PPID
sleep 0.3
echo '{"epoch": 1, "accuracy": 0.5}' >> "$BAPI_REPORT"
""")
        process = self.start("run", self.reliable_study("[./brief]", budget="3s"))
        self.wait_for(lambda: is_stopped(process.pid), "the stop")
        time.sleep(4.0)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertLess(self.spent(), 3 + self.latency())
        self.assertLess(sum(row["cost"] for row in self.json("ledger", "s") if row["trial"] == 0), 2.0)


class Costs(Reliability):
    """Of epochs, stated by the program: they are known only afterwards."""

    def costly(self, cost):
        self.program("tr", f"""#!/bin/bash
epoch=$BAPI_FROM_EPOCH
while [ "$epoch" -lt "$BAPI_MAX_EPOCH" ]; do
  sleep 0.02
  epoch=$((epoch + 1))
  echo "{{\\"epoch\\": $epoch, \\"accuracy\\": 0.5, \\"cost\\": {cost}}}" >> "$BAPI_REPORT"
done
""")

    def test_pass_the_budget_by_at_most_an_epoch_per_worker(self):
        for cost in ["$((epoch * epoch))", "0.1", "0.$((epoch % 3 + 1))"]:
            for workers in [1, 4]:
                with self.subTest(cost=cost, workers=workers):
                    shutil.rmtree(self.path("s.bapi"), ignore_errors=True)
                    self.costly(cost)
                    self.bapi("run", self.reliable_study(budget="30 usd", workers=workers), "--quiet")
                    largest = sorted(row["cost"] for row in self.json("ledger", "s"))[-workers:]
                    self.assertLessEqual(self.spent(), 30 + sum(largest))

    def test_that_are_absurd_fail_their_trial_and_leave_the_budget_finite(self):
        self.costly('$([ "$BAPI_TRIAL" = 0 ] && echo 1e308 || echo 10)')
        self.bapi("run", self.reliable_study(budget="30 usd"), "--quiet", "--keep-going")
        self.assertEqual(self.json("trials", "s")[0]["state"], "failed")
        self.assertEqual(self.spent(), 30)
        self.bapi("resume", "s", "--budget", "40 usd", "--quiet")
        self.assertEqual(self.spent(), 40)


class Copies(Reliability):
    def test_a_copy_of_a_finished_study_costs_nothing(self):
        self.bapi("run", self.reliable_study(budget="2s"), "--quiet")
        before = self.spent()
        self.assertEqual(self.process_files(), [])
        os.makedirs(self.path("copy"))
        subprocess.run(["cp", "-r", self.path("s.bapi"), self.path("copy")], check=True)
        self.bapi("resume", "copy/s.bapi", "--budget", "3s", "--quiet")
        self.assertGreater(self.spent("copy/s.bapi"), before)
        self.assertLess(self.spent("copy/s.bapi"), 3 + self.latency())

    def test_resuming_a_copy_of_a_running_study_leaves_the_original_alone(self):
        process = self.start("run", self.reliable_study(budget="60s", workers=2))
        self.wait_for_lines(4)
        os.makedirs(self.path("copy"))
        subprocess.run(["cp", "-r", self.path("s.bapi"), self.path("copy")], check=True)
        original = set(self.trainers("s.bapi"))
        self.bapi("resume", "copy/s.bapi", "--budget", "2s", "--quiet")
        self.assertTrue(original & set(self.trainers("s.bapi")))
        self.assertEqual(self.json("status", "s")["trials"]["failed"], 0)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertLess(self.spent("copy/s.bapi"), 4 + self.latency())

    def test_files_touched_after_a_kill_cost_nothing(self):
        process = self.start("run", self.reliable_study(budget="3s"))
        self.wait_for_lines(3)
        self.kill_and_wait(process)
        self.wait_until_nobody_trains()
        for folder, _, files in os.walk(self.path("s.bapi", "trials")):
            for name in files:
                os.utime(os.path.join(folder, name), (4e9, 4e9))
        self.bapi("resume", "s", "--quiet")
        self.assertLess(self.spent(), 3 + self.latency())


class MissingFiles(Reliability):
    def remove(self, name):
        for trial in os.listdir(self.path("s.bapi", "trials")):
            if os.path.exists(self.path("s.bapi", "trials", trial, name)):
                os.remove(self.path("s.bapi", "trials", trial, name))

    def test_logs_and_reports_may_be_removed_after_the_end(self):
        self.bapi("run", self.reliable_study(budget="1s"), "--quiet")
        for name in ["log", "report"]:
            self.remove(name)
        self.bapi("resume", "s", "--budget", "2s", "--quiet")
        self.assertLess(self.spent(), 2 + self.latency())

    def test_logs_and_reports_may_be_lost_after_a_kill(self):
        for name in ["log", "report"]:
            with self.subTest(name):
                shutil.rmtree(self.path("s.bapi"), ignore_errors=True)
                process = self.start("run", self.reliable_study(budget="2s"))
                self.wait_for_lines(3)
                self.kill_and_wait(process)
                self.remove(name)
                self.bapi("resume", "s", "--quiet")
                self.assertLess(self.spent(), 2 + self.latency())


class StrangeFiles(Reliability):
    # Each makes trouble in the first trial and trains well in the others.
    TROUBLE = {
        "sparse report": 'truncate -s 1T "$BAPI_REPORT"',
        "sparse log": 'truncate -s 1T "$BAPI_DIR/log"',
        "endless link": 'rm "$BAPI_REPORT"; ln -s /dev/zero "$BAPI_REPORT"',
        "pipe": 'rm "$BAPI_REPORT"; mkfifo "$BAPI_REPORT"',
    }

    def test_hang_nothing(self):
        for name, trouble in self.TROUBLE.items():
            with self.subTest(name):
                shutil.rmtree(self.path("s.bapi"), ignore_errors=True)
                first = f'if [ "$BAPI_TRIAL" = 0 ]; then {trouble}; sleep 0.2; exit 0; fi'
                self.program("bad", f"#!/bin/bash\n{first}\nexec ./tr\n")
                self.bapi("run", self.reliable_study("[./bad]", budget="2s", workers=2), "--quiet")  # it ends
                self.assertLess(self.spent(), 2 + self.latency(2))
                self.assertEqual(self.json("trials", "s")[0]["state"], "failed")
        self.assertEqual(self.trainers(), [])

    def test_are_named_in_the_failure(self):
        process = self.start("run", self.reliable_study("[./tr]", budget="20s"))
        self.wait_for_lines(2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        report = self.path("s.bapi", "trials", "0000", "report")
        for make, what in [(os.mkfifo, "pipe"), (lambda path: os.symlink("/dev/zero", path), "symbolic link")]:
            with self.subTest(what):
                shutil.copytree(self.path("s.bapi"), self.path("t.bapi"))
                os.remove(report.replace("s.bapi", "t.bapi"))
                make(report.replace("s.bapi", "t.bapi"))
                process = self.start("resume", "t.bapi")
                self.wait_for(lambda: self.json("trials", "t.bapi")[0]["state"] == "failed", "the failure")
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=PATIENCE)
                self.assertIn(what, self.bapi("show", "t.bapi", "0").stdout)
                shutil.rmtree(self.path("t.bapi"))

    def test_keep_no_reader_waiting(self):
        """Of a study, in the place of any file or directory of it."""
        self.bapi("run", self.reliable_study(budget='"3 epochs"'), "--quiet")
        some = [["status"], ["show", "t.bapi", "0"], ["resume"]]
        more = [["trials"], ["best"], ["ledger"], ["explain"], ["plot", "t.bapi", "--out", "plots"],
                ["export", "-f", "html", "--out", "page.html"], ["doctor"], ["note", "t.bapi", "hello"]]  # fmt: skip
        files = ["log", "report", "config.json", "process", "checkpoint", "best", "ahead"]
        for name in ["lock", "study.db", "study.db-wal", "study.db-shm", "trials", "requests", "wishes", "hooks.log",
                     *(f"trials/0000/{file}" for file in files)]:  # fmt: skip
            for make, readers in [(os.mkfifo, some + more), (lambda path: os.symlink("/dev/zero", path), some)]:
                shutil.rmtree(self.path("t.bapi"), ignore_errors=True)
                shutil.copytree(self.path("s.bapi"), self.path("t.bapi"))
                place = self.path("t.bapi", name)
                if os.path.isdir(place):
                    shutil.rmtree(place)
                elif os.path.exists(place):
                    os.remove(place)
                make(place)
                for words in readers:
                    with self.subTest(name, make=make.__name__, command=words[0]):
                        words = words if "t.bapi" in words else [*words, "t.bapi"]
                        done = subprocess.run([os.path.abspath(BAPI), *words], cwd=self.dir, env=self.environment(),
                                              capture_output=True, stdin=subprocess.DEVNULL, timeout=60)  # fmt: skip
                        self.assertIn(done.returncode, (0, 2, 3), done.stderr)

    def test_a_planted_link_is_not_followed(self):
        self.write("precious", "mine\n")
        for name in ["log", "config.json.new", "report", "process.new"]:
            with self.subTest(name):
                shutil.rmtree(self.path("s.bapi"), ignore_errors=True)
                self.bapi("run", self.reliable_study(budget='"3 epochs"'), "--quiet")
                tried = len(os.listdir(self.path("s.bapi", "trials")))
                for trial in range(tried, tried + 3):
                    os.makedirs(self.path("s.bapi", "trials", f"{trial:04}"))
                    os.symlink(self.path("precious"), self.path("s.bapi", "trials", f"{trial:04}", name))
                self.bapi("resume", "s", "--budget", "6 epochs", "--quiet")
                with open(self.path("precious")) as file:
                    self.assertEqual(file.read(), "mine\n")

    def test_a_planted_lock_is_not_followed(self):
        self.write("precious", "mine\n")
        os.makedirs(self.path("s.bapi"))
        os.symlink(self.path("precious"), self.path("s.bapi", "lock"))
        self.assertIn("lock", self.bapi("run", self.reliable_study(budget='"3 epochs"'), code=3).stderr)
        with open(self.path("precious")) as file:
            self.assertEqual(file.read(), "mine\n")


    def test_a_log_that_is_a_link_is_refused(self):
        self.bapi("run", self.reliable_study(budget='"3 epochs"'), "--quiet")
        os.rename(self.path("s.bapi", "study.db"), self.path("elsewhere.db"))
        os.symlink(self.path("elsewhere.db"), self.path("s.bapi", "study.db"))
        for command in [["status", "s"], ["resume", "s", "--budget", "5 epochs"], ["run", "s.yaml"]]:
            with self.subTest(command[0]):
                self.assertIn("symbolic link", self.bapi(*command, code=3).stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs another user: root, setpriv")
    def test_a_study_that_may_not_be_entered_is_not_missing(self):
        self.bapi("run", self.reliable_study(budget='"3 epochs"'), "--quiet")
        os.chmod(self.dir, 0o755)
        os.chmod(self.path("s.bapi"), 0o700)
        stranger = ["setpriv", "--reuid=54321", "--clear-groups", self.bapi_copy(), "status"]
        for name in ["s", "s.bapi"]:
            with self.subTest(name):
                result = subprocess.run([*stranger, name], cwd=self.dir, capture_output=True, text=True)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("permission denied", result.stderr)

    def test_a_study_directory_may_be_a_link(self):
        self.bapi("run", self.reliable_study(budget='"3 epochs"'), "--quiet")
        os.rename(self.path("s.bapi"), self.path("large-disk"))
        os.symlink(self.path("large-disk"), self.path("s.bapi"))
        self.bapi("resume", "s", "--budget", "5 epochs", "--quiet")
        self.assertEqual(self.spent(), 5)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The judge finds what it is there to find, and blames nobody for a busy machine."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import judge
import observer
import torture


def row(seq, kind, trial=None, epoch=None, value=None, cost=None):
    return (seq, kind, trial, epoch, value, cost, None)


SOUND = [row(1, "started", 0, 3), row(2, "measured", 0, 1, 0.5, 1.0), row(3, "measured", 0, 2, 0.6, 1.0),
         row(4, "segment_done", 0), row(5, "resumed", 0, 9), row(6, "measured", 0, 3, 0.7, 1.0),
         row(7, "program_ended", 0), row(8, "finished")]  # fmt: skip


class Logs(unittest.TestCase):
    def mistakes(self, rows, before=(), decisions=3):
        return list(judge.log_mistakes(decisions, rows, list(before)))

    def changed(self, at, **fields):
        names = ("seq", "kind", "trial", "epoch", "value", "cost", "payload")
        return [tuple({**dict(zip(names, r)), **fields}.values()) if r[0] == at else r for r in SOUND]

    def test_a_sound_log_has_no_mistakes(self):
        for length in range(len(SOUND) + 1):
            self.assertEqual(self.mistakes(SOUND, SOUND[:length]), [])

    def test_lost_changed_doubled_and_impossible_events_are_found(self):
        self.assertTrue(self.mistakes(SOUND[:-1], SOUND, decisions=2))
        self.assertTrue(self.mistakes(self.changed(3, value=0.61), SOUND))
        self.assertTrue(self.mistakes(SOUND, decisions=4))
        for change in [dict(epoch=1), dict(epoch=9), dict(cost=-1.0), dict(cost=float("nan")), dict(trial=1), dict(seq=4)]:
            self.assertTrue(self.mistakes(self.changed(3, **change)), change)
        self.assertTrue(self.mistakes([*SOUND, row(9, "resumed", 0, 9)], decisions=4))

    def test_a_sum_is_that_of_the_log_to_the_last_bit(self):
        rows = [row(i, "measured", 0, i, 0.5, 0.1) for i in range(1, 11)]
        self.assertEqual(judge.spent(rows), sum([0.1] * 10))
        self.assertNotEqual(judge.spent(rows), 1.0)


class Lives(unittest.TestCase):
    def test_what_is_uncertain_widens_the_bounds(self):
        whole = {"start": 1.0, "begun": 1.1, "end": [3.0, 3.2], "paused": [0.5, 0.7]}
        never_ran = {"start": 5.0, "begun": None, "end": [5.0, 5.5], "paused": [0.0, 0.0]}
        lives = judge.Lives({"programs": [whole, never_ran], "waited": 0.25, "kept": []})
        self.assertAlmostEqual(lives.low, 3.0 - 1.1 - 0.7)
        self.assertAlmostEqual(lives.high, (3.2 - 1.0 - 0.5) + 0.5)
        self.assertEqual((lives.count, lives.waited), (2, 0.25))


class Observed(unittest.TestCase):
    """A shell plays the controller. What is measured here lies between what was seen, however busy the machine is."""

    def setUp(self):
        self.watch = observer.Watch()
        self.addCleanup(self.watch.end)

    def observe(self, script, act):
        controller = subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE, text=True)
        self.watch.follow(controller.pid, "s")
        pid = int(controller.stdout.readline())
        act(pid)
        end = observer.now()
        controller.wait()
        controller.stdout.close()
        time.sleep(0.1)
        (program,) = [p for p in self.watch.tell("s")["programs"] if p["pid"] == pid]
        return program, end

    def test_a_program_is_seen_from_its_start_to_its_end(self):
        before = observer.now()

        def kill(pid):
            time.sleep(0.3)
            os.kill(pid, signal.SIGKILL)

        program, killed = self.observe("BAPI_DIR=/x sleep 100 & echo $!; wait", kill)
        self.assertLess(before - 0.02, program["start"])
        self.assertLessEqual(program["start"], program["begun"] + 0.01)
        self.assertLess(program["end"][0], killed + 0.1)
        self.assertGreater(program["end"][1], killed - 0.1)
        self.assertEqual(program["paused"], [0.0, 0.0])

    def test_pauses_are_told_apart(self):
        def pause(pid):
            time.sleep(0.1)
            os.kill(pid, signal.SIGSTOP)
            while observer.status_of(pid)[1] != b"T":
                time.sleep(0.01)
            time.sleep(0.4)
            self.paused = observer.now()
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1)
            os.kill(pid, signal.SIGKILL)

        program, _ = self.observe("BAPI_DIR=/x sleep 100 & echo $!; wait", pause)
        self.assertLessEqual(program["paused"][0], program["paused"][1])
        self.assertGreater(program["paused"][1], 0.35)

    def test_a_study_is_told_of_once(self):
        self.observe("BAPI_DIR=/x sleep 0.5 & echo $!; wait", lambda pid: None)
        self.assertEqual(self.watch.tell("s")["programs"], [])

    def test_what_a_controller_waited_for_a_processor_is_known_also_when_it_is_gone(self):
        cpu = {min(os.sched_getaffinity(0))}
        spin = "import time\nend = time.time() + 1.0\nwhile time.time() < end: pass"
        both = [subprocess.Popen([sys.executable, "-S", "-c", spin], preexec_fn=lambda: os.sched_setaffinity(0, cpu))
                for _ in range(2)]  # fmt: skip
        for process in both:
            self.watch.follow(process.pid, "s")
        time.sleep(0.3)
        for process in both:
            process.wait()
        time.sleep(0.2)
        told = self.watch.tell("s")
        self.assertGreater(told["waited"], 0.4)
        (_, controllers, guardians), (began, _, _), (ended, _, _) = told["kept"][-1], told["kept"][0], told["kept"][-1]
        self.assertGreater(controllers, 0.4)
        self.assertAlmostEqual(guardians, ended - began)  # there was none that could have run


class Budgets(unittest.TestCase):
    """A study that has spent 8 of 5 s, in which controller and guardian got a processor or did not."""

    def findings(self, *kept, workers=1):
        with tempfile.TemporaryDirectory() as root:
            case = torture.Case("bapi", pathlib.Path(root), "case", 0.1, None, None)
            case.limit, case.workers = 5.0, workers
            case.rows = [row(1, "started", 0, 3), row(2, "measured", 0, 1, 0.5, 8.0)]
            case.budget_kept(judge.Lives({"programs": [], "waited": 0.0, "kept": [(0.0, 0.0, 0.0), *kept]}))
            return case.findings

    def test_nothing_excuses_seconds_in_which_bapi_could_run(self):
        self.assertIn("spent 8 of 5.0", self.findings((100.0, 0.0, 0.0))[0])
        self.assertTrue(self.findings((3.0, 2.95, 2.8)), "the guardian could have done it")
        self.assertTrue(self.findings((3.0, 1.5, 1.5), (50.0, 1.5, 1.5), (53.0, 3.0, 3.0)), "twice, long apart")

    def test_a_bapi_that_got_no_processor_could_not_end_a_program(self):
        self.assertEqual(self.findings((3.0, 2.95, 2.95)), [])

    def test_several_programs_may_be_late_at_the_same_time(self):
        self.assertTrue(self.findings((1.0, 1.0, 1.0), (9.0, 1.0, 1.0)))
        self.assertTrue(self.findings((1.0, 0.5, 0.5), (9.0, 0.5, 0.5), workers=3))
        self.assertEqual(self.findings((1.0, 1.0, 1.0), (9.0, 1.0, 1.0), workers=3), [])


class Hanging(unittest.TestCase):
    def start(self, *words, **options):
        process = subprocess.Popen(words, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_process_that_sleeps_had_its_time(self):
        patience = judge.Patience(self.start("sleep", "100").pid)
        time.sleep(0.5)
        self.assertGreater(patience.look(), 0.3)

    def test_a_process_that_gets_no_processor_had_none(self):
        """Two processes want the same processor, one of them only if nobody else does."""
        cpu = {min(os.sched_getaffinity(0))}
        spin = [sys.executable, "-c", "while True: pass"]
        self.start(*spin, preexec_fn=lambda: os.sched_setaffinity(0, cpu))

        def modest():
            os.sched_setaffinity(0, cpu)
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

        starved = self.start(*spin, preexec_fn=modest)
        time.sleep(0.3)
        patience = judge.Patience(starved.pid)
        time.sleep(1.0)
        self.assertLess(patience.look(), 0.5)

    def test_a_controller_without_progress_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            program = pathlib.Path(root, "bapi")
            program.write_text("#!/bin/sh\nexec sleep 100\n")
            program.chmod(0o755)
            watch = observer.Watch()
            case = torture.Case(str(program), pathlib.Path(root), "case", 1.0, None, watch)
            with self.assertRaises(torture.Hang):
                case.wait(case.start(), patience=0.5)
            self.assertIn("no event in", case.findings[0])
            watch.end()


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Same seed, same result: in lockstep two runs of one study give the same log, except for times."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

from harness import BAPI, HERE, EndToEnd, main

ROOT = HERE.parents[1]

# An epoch takes no time at all, so it runs ahead as far as it can. Every value depends on the configuration alone.
FAST = """\
import os, sys
x = float(sys.argv[1])
path = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
epoch = int(open(path).read()) if os.path.exists(path) else 0
while epoch < int(os.environ["BAPI_MAX_EPOCH"]):
    epoch += 1
    with open(path + ".new", "w") as file:
        file.write(str(epoch))
    os.replace(path + ".new", path)
    print('bapi: {"epoch": %d, "loss": %r}' % (epoch, (x - 3) ** 2 + 1 / epoch), flush=True)
"""

# Three epochs with each report: no signal can arrive in between.
BURSTS = """\
import os, sys
x = float(sys.argv[1])
path = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
epoch = int(open(path).read()) if os.path.exists(path) else 0
while epoch < int(os.environ["BAPI_MAX_EPOCH"]):
    lines = ""
    for _ in range(3):
        epoch += 1
        lines += '{"epoch": %d, "loss": %r}\\n' % (epoch, (x - 3) ** 2 + 1 / epoch)
    with open(path + ".new", "w") as file:
        file.write(str(epoch))
    os.replace(path + ".new", path)
    report = os.open(os.environ["BAPI_REPORT"], os.O_WRONLY | os.O_APPEND)
    os.write(report, lines.encode())
    os.close(report)
"""

STUDY = """\
name: s
command: ["{python}", train.py, "${{x}}"]
metric: {{name: loss, goal: minimize}}
budget: {budget}
epochs: {{min: 1, max: 27}}
seed: 5
policy: {policy}
parameters: {{x: {{min: 0.0, max: 6.0}}}}
{more}
"""


def log_of(study):
    """What is in the log, without the times of the events."""
    with sqlite3.connect(f"file:{study}/study.db?mode=ro", uri=True) as log:
        columns = [row[1] for row in log.execute("PRAGMA table_info(event)")]
        kept = [column for column in columns if column not in ("at", "time")]
        return log.execute(f"SELECT {', '.join(kept)} FROM event ORDER BY seq").fetchall()


def without_files(text):
    """On a busy machine a program may save the next epoch before bapi has copied the best one."""
    kept = [line for line in text.splitlines() if not re.match(r"(disk|checkpoint|  +the checkpoint) ", line)]
    kept = [re.sub(r'"checkpoint\w*": (?:"[^"]*"|\d+|null)(?:, )?', "", line) for line in kept]
    return "\n".join(re.sub(r"^(#\d+) after [^:]*:", r"\1:", line) for line in kept)


class Lockstep(EndToEnd):
    def file(self, program=FAST, budget='"120 epochs"', policy="hyperband", more=""):
        self.write("train.py", program)
        text = STUDY.format(python=sys.executable, budget=budget, policy=policy, more=more)
        return self.write("study.yaml", text)

    def logs(self, *arguments, runs=2):
        logs = []
        for run in range(runs):
            self.bapi("run", *arguments, "--quiet", "--dir", str(run))
            logs.append(log_of(self.path(str(run), "s.bapi")))
        return logs

    def test_two_runs_of_a_program_that_runs_ahead_give_the_same_log(self):
        for program in FAST, BURSTS:
            for policy in "hyperband", "bapi":
                with self.subTest(program=program[:20], policy=policy):
                    first, second = self.logs(self.file(program, policy=policy))
                    self.assertEqual(first, second)
                    self.assertGreater(len(first), 120)
                shutil.rmtree(self.path("0"))
                shutil.rmtree(self.path("1"))

    def test_the_log_does_not_depend_on_how_far_a_program_runs_ahead(self):
        slow = FAST.replace("    epoch += 1\n", "    __import__('time').sleep(0.003); epoch += 1\n")
        logs = [self.logs(self.file(program), runs=1)[0] for program in (FAST, BURSTS, slow) if not self.forget()]
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(logs[0], logs[2])

    def forget(self):
        shutil.rmtree(self.path("0"), ignore_errors=True)

    def test_an_interrupted_study_decides_as_one_that_was_not(self):
        whole = self.logs(self.file(BURSTS), runs=1)[0]
        for _ in range(40):
            run = self.start("run", "study.yaml", "--quiet", "--dir", "1")
            try:
                run.communicate(timeout=0.4)
                break
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGINT)
                run.communicate()
        self.bapi("run", "study.yaml", "--quiet", "--dir", "1")

        def decisions_and_values(log):
            return [row for row in log if '"interrupted"' not in json.dumps(row)]

        self.assertEqual(
            [row[1:] for row in decisions_and_values(whole)],
            [row[1:] for row in decisions_and_values(log_of(self.path("1", "s.bapi")))],
        )

    def test_epochs_ahead_are_shown_and_counted_when_the_trial_continues(self):
        self.bapi("run", self.file(BURSTS), "--quiet")
        status = self.check_books("s")
        self.assertTrue(status["lockstep"])
        self.assertGreater(status["ahead"], 0)
        self.assertRegex(self.bapi("status", "s").stdout, r"lockstep   yes; trained ahead: \d+ epochs?, counted when ")
        self.assertNotIn("ahead", {row["kind"] for row in self.json("ledger", "s")})
        self.assertEqual(status["budget"]["spent"], 120)

    def test_several_workers_spend_no_epoch_on_what_nobody_has_decided(self):
        self.file(budget='"150 epochs"', more="workers: 3")
        self.bapi("run", "study.yaml", "--quiet")
        status = self.check_books("s")
        self.assertEqual((status["budget"]["spent"], status["lockstep"]), (150, False))
        self.assertEqual({row["kind"] for row in self.json("ledger", "s")}, {"epoch"})
        self.assertRegex(self.bapi("status", "s").stdout, "lockstep   no: workers report in any order")

    def test_without_lockstep_status_says_that_programs_run_ahead(self):
        self.bapi("run", self.file(BURSTS, more="lockstep: no"), "--quiet")
        self.check_books("s")
        self.assertIn("ahead", {row["kind"] for row in self.json("ledger", "s")})
        self.assertRegex(self.bapi("status", "s").stdout, r"lockstep   no: programs keep training")
        self.assertIs(self.json("status", "s")["lockstep"], False)

    def test_a_promise_that_cannot_be_kept_is_refused(self):
        self.assertIn("the budget is in time", self.bapi("run", self.file(budget="3s", more="lockstep: yes"), code=2).stderr)
        refused = self.bapi("run", self.file(more="lockstep: yes"), "--workers", "2", code=2).stderr
        self.assertIn("workers is 2", refused)


def shown(page, command):
    """What a page says that a command prints."""
    text = (ROOT / page).read_text()
    start = text.index(f"$ bapi {command}\n") + len(f"$ bapi {command}\n")
    return text[start : text.index("```", start)]


def labels(text):
    """The first words of the lines of a status, without those of lines that only some studies have."""
    found = [re.match(r"([a-z]+(?: by)?) ", line) for line in text.splitlines()]
    return [label.group(1) for label in found if label]


class QuickStart(EndToEnd):
    def output(self, home):
        """What the commands of docs/quickstart.md print, without what depends on the clock."""
        os.makedirs(self.path(home, "examples"))
        shutil.copytree(ROOT / "examples/minimal", self.path(home, "examples/minimal"))
        commands = (
            ["run", "examples/minimal/study.yaml", "--quiet"],
            ["trials", "circle", "--sort", "best"],
            ["explain", "circle"],
            ["ledger", "circle"],
            ["best", "circle"],
            ["best", "circle", "-f", "json"],
            ["run", "examples/minimal/study.yaml", "--budget", "600 epochs", "--quiet"],
        )
        printed = ""
        for command in commands:
            result = subprocess.run(
                [os.path.abspath(BAPI), *command], cwd=self.path(home), capture_output=True, text=True, timeout=250
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            printed += f"$ bapi {' '.join(command)}\n{result.stdout}"
        return printed.replace(self.path(home), "/home/me")

    def test_the_output_of_the_quick_start_is_reproduced_word_for_word(self):
        first, second = self.output("first"), self.output("second")
        self.assertEqual(without_files(first), without_files(second))
        self.assertIn("500 of 500 epochs spent", first)
        self.check_pages(dict(part.split("\n", 1) for part in first.split("$ bapi ")[1:]))

    def check_pages(self, printed):
        """The pages show the lines and columns that the program prints. Numbers may be those of another version."""
        status = labels(printed["run examples/minimal/study.yaml --quiet"])
        self.assertEqual(labels(shown("docs/quickstart.md", "resume circle --quiet")), status)
        trials = shown("docs/quickstart.md", "trials circle --sort best --limit 5")
        self.assertEqual(trials.splitlines()[0], printed["trials circle --sort best"].splitlines()[0])
        best = json.loads(shown("docs/quickstart.md", "best circle -f json"))
        self.assertEqual(list(best), list(json.loads(printed["best circle -f json"])))
        copied = labels(shown("docs/checkpoints.md", "best circle --copy model"))
        self.assertEqual(copied[:5], labels(printed["best circle"])[:5])
        readme = (ROOT / "README.md").read_text()
        demo = readme[readme.index("\nstudy ") : readme.index("```", readme.index("\nstudy "))]
        status.insert(status.index("budget") + 1, "overhead")  # of a budget in seconds
        self.assertEqual(labels(demo), status)


if __name__ == "__main__":
    main()

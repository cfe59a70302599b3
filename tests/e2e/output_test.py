"""Where results cannot be written, and what must not reach a terminal or a training program."""

import os
import resource
import sqlite3
import subprocess
import sys

from harness import BAPI, PATIENCE, EndToEnd, main


class Writing(EndToEnd):
    def run_into(self, stdout, *arguments, **options):
        """(exit code, standard error) of the program with this standard output."""
        done = subprocess.run([os.path.abspath(BAPI), *arguments], cwd=self.dir, env=self.environment(), stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE, **options)  # fmt: skip
        return done.returncode, done.stderr

    def closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        return writer

    def test_a_result_that_cannot_be_written_is_no_success(self):
        with open("/dev/full", "w") as full:
            code, errors = self.run_into(full, "run", self.study())
            self.assertEqual(code, 3, errors)
            self.assertIn("cannot write to standard output", errors)
            self.assertEqual(self.run_into(full, "trials")[0], 3)
        self.assertEqual(self.check_books()["state"], "finished")

    def test_a_reader_that_leaves_changes_nothing(self):
        pipe = self.closed_pipe()
        for command in [["run", self.study()], ["trials"], ["status"], ["--help"]]:
            self.assertEqual(self.run_into(pipe, *command)[0], 0, command)
        os.close(pipe)
        self.assertEqual(self.check_books()["state"], "finished")

    def test_a_file_that_cannot_be_written_is_named_with_the_reason(self):
        self.bapi("run", self.study(), "--quiet")
        self.write("file", "")
        for place, reason in [("none/out", "No such file or directory"), ("file/out", "Not a directory"),
                              ("/dev/full", "No space left on device")]:  # fmt: skip
            self.assertIn(f"{place}: {reason}", self.bapi("export", "--out", place, code=3).stderr)
        for command in [["plot"], ["forecast"], ["what-if", "--budget", "80 epochs"]]:
            self.assertIn("file/figures: Not a directory", self.bapi(*command, "--out", "file/figures", code=3).stderr)

    def test_a_limit_on_file_sizes_is_a_full_disk(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))

        code, errors = self.run_into(subprocess.DEVNULL, "run", self.study(), preexec_fn=limited)
        self.assertEqual(code, 3, errors)
        self.bapi("run", self.study())
        self.check_books()


class Refusing(EndToEnd):
    def test_what_would_break_later_is_refused_at_once(self):
        inline = ["--", sys.executable, "train.py", "--lr~log(1e-4,1)"]
        for arguments, message in [
            (["--budget", "1m", "--epochs", "3", "--metric", "cost"], "--metric: the name 'cost'"),
            (["--budget", "0.5 epochs", "--epochs", "3", "--metric", "a"], "expected at least 1"),
            (["--budget", "1e-300s", "--epochs", "3", "--metric", "a"], "expected at least a millisecond"),
            (["--budget", "1m", "--epochs", "3", "--metric", "a", "--name", "n" * 300], "expected at most 250"),
        ]:
            self.assertIn(message, self.bapi("run", *arguments, *inline, code=2).stderr)
        self.assertEqual(os.listdir(self.dir), [])


class Showing(EndToEnd):
    def test_escape_sequences_of_a_log_are_text(self):
        self.write("train.sh", "printf '\\033]0;title\\007\\033[2Jhello\\n'; "
                               "printf '{\"epoch\": 1, \"a\": 1}\\n' >> $BAPI_REPORT\n")
        self.bapi("run", "-q", "--budget", "1 epoch", "--epochs", "1", "--metric", "a", "--policy", "random", "--name",
                  "s", "--", "sh", self.path("train.sh"), "--lr~log(1e-4,1)")  # fmt: skip
        shown = self.bapi("show", "0").stdout
        self.assertIn("\\x1b]0;title\\x07\\x1b[2Jhello", shown)
        self.assertNotIn("\x1b", shown)

    def test_nothing_of_a_message_in_an_old_log_is_obeyed(self):
        """Version 0.1 kept what programs printed as it was, also if it was no UTF-8."""
        self.study(name="s", budget='"6 epochs"')
        self.bapi("run", "-q", "study.yaml")
        database = sqlite3.connect(self.path("s.bapi", "study.db"))
        message = '{"kind": "failed", "version": 1, "trial": 0, "message": {"bytes": "6f1b5b324aff07"}}'  # o ESC [2J ff BEL
        database.execute("UPDATE event SET kind = 'failed', payload = ? WHERE seq = "
                         "(SELECT max(seq) FROM event WHERE kind = 'segment_done' AND trial = 0)", (message,))  # fmt: skip
        database.commit()
        database.close()
        for command in [["show", "0"], ["status"], ["trials"], ["explain"], ["watch"], ["export", "-f", "csv"],
                        ["export", "-f", "json"], ["show", "0", "-f", "json"]]:  # fmt: skip
            done = self.bapi(*command)  # decodes its output
            shown = done.stdout + done.stderr
            self.assertFalse([c for c in shown if (c < " " and c != "\n" and c != "\t") or c == "\x7f"], command)
        self.assertIn("o\\x1b[2J\ufffd\\x07", self.bapi("show", "0").stdout)


if __name__ == "__main__":
    main()

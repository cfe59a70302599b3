"""Small comforts: ls, watch, completion, the manual page, init."""

import os
import shutil
import signal
import subprocess
import unittest

from harness import EndToEnd, main


class Comfort(EndToEnd):
    def test_ls_lists_the_studies_of_directories(self):
        self.assertIn("there is no study here", self.bapi("ls").stderr)
        self.bapi("run", self.study(), "--quiet")
        os.mkdir(self.path("other"))
        rows = self.json("ls")
        self.assertEqual([(row["study"], row["state"], row["spent"], row["path"]) for row in rows],
                         [("mlp", "finished", 40, "mlp.bapi")])  # fmt: skip
        self.assertEqual(rows[0]["best"], self.json("best")["value"])
        self.assertEqual(self.json("ls", "other"), [])
        self.assertIn("there is no study in other; ls looks", self.bapi("ls", "other").stderr)
        self.assertIn("expected a directory", self.bapi("ls", "nowhere", code=2).stderr)
        self.assertIn("mlp", self.bapi("ls").stdout)

    def test_ls_lists_what_it_can_read(self):
        self.bapi("run", self.study(), "--quiet")
        os.mkdir(self.path("broken.bapi"))
        self.write("broken.bapi/study.db", "this is no database")
        result = self.bapi("ls", "-f", "csv", code=3)
        self.assertIn("broken.bapi", result.stderr)
        self.assertIn("mlp,finished", result.stdout)

    def test_watch_follows_a_study_to_its_end(self):
        process = self.start("run", self.study(delay=0.02), "--quiet")
        self.wait_for_reports(1)
        result = self.bapi("watch", "mlp")
        process.wait(20)
        self.assertRegex(result.stdout, r"trial 0 +start, to epoch \d+")
        self.assertIn("finished", result.stdout)
        self.assertIn("40 of 40 epochs spent", result.stdout)

    def test_watching_ends_with_ctrl_c_and_the_study_does_not(self):
        run = self.start("run", self.study(delay=0.1), "--quiet")
        self.wait_for_reports(1)
        watch = self.start("watch", "mlp")
        self.assertTrue(watch.stdout.readline())
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(20), 0)
        self.assertIsNone(run.poll())

    def test_a_study_that_nobody_runs_is_shown_at_once(self):
        self.bapi("run", self.study(), "--quiet")
        self.assertIn("finished: ", self.bapi("watch").stdout)

    def test_completion_knows_every_command_and_option(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.bapi("completion", shell).stdout
            for word in ("what-if", "completion", "format", "budget"):
                self.assertIn(word, script)
            program = shutil.which(shell)
            if program:
                subprocess.run([program, "-n"], input=script, text=True, check=True, stderr=subprocess.PIPE)
        self.assertIn("expected bash, zsh or fish", self.bapi("completion", "csh", code=2).stderr)

    # What is typed before the tab, and what must be among the answers.
    COMPLETED = [
        ("bapi st", ["status", "stop"]),
        ("bapi run --bud", ["--budget"]),
        ("bapi run -p hyperb", ["hyperband"]),
        ("bapi trials -f j", ["json"]),
        ("bapi export -f h", ["html"]),
        ("bapi trials --sort sp", ["spent"]),
        ("bapi completion z", ["zsh"]),
        ("bapi policies hyperb", ["hyperband"]),
        ("bapi show ml", ["mlp.bapi"]),
        ("bapi run stu", ["study.yaml"]),
    ]

    def completed_by(self, shell, *command, line):
        """What a shell offers for the line; its script is in the file `completion`, the line in $LINE."""
        self.write("completion", self.bapi("completion", shell).stdout)
        result = subprocess.run(
            [shell, *command], cwd=self.dir, env={**self.environment(), "LINE": line, "HOME": self.dir}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
        self.assertEqual(result.stderr, "")
        return result.stdout

    @unittest.skipUnless(shutil.which("bash"), "there is no bash")
    def test_bash_completes(self):
        self.bapi("run", self.study(), "--quiet")
        script = (
            "shopt -s extglob; . ./completion\n"
            "read -ra COMP_WORDS <<< \"$LINE\"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bapi\n"
            'printf "%s\\n" "${COMPREPLY[@]}" | sort -u\n'
        )
        for line, expected in self.COMPLETED:
            with self.subTest(line):
                self.assertEqual(self.completed_by("bash", "-c", script, line=line).split(), expected)

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_completes(self):
        self.bapi("run", self.study(), "--quiet")
        script = "source completion; complete -C $LINE"
        for line, expected in self.COMPLETED:
            with self.subTest(line):
                offered = self.completed_by("fish", "--no-config", "-c", script, line=line).splitlines()
                self.assertEqual([answer.split("\t")[0].rstrip("/") for answer in offered], expected)

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_completes(self):
        """In a terminal of its own: zsh completes only where somebody types."""
        self.bapi("run", self.study(), "--quiet")
        script = r"""
zmodload zsh/zpty; zpty -b typed zsh -f -i
zpty -w typed 'PS1=; autoload -Uz compinit; compinit -u -D; . ./completion; print -r -- "rea""dy"'
zpty -r typed said '*ready*'
zpty -n -w typed "$LINE"$'\t\001print -r -- "DO""NE" \n'  # tab; then, at the beginning of the line, what shows it
zpty -r typed said $'*DONE bapi*\n*'
print -r -- "$said"; zpty -d typed
"""
        for line, expected in self.COMPLETED:
            with self.subTest(line):
                offered = self.completed_by("zsh", "-f", "-c", script, line=line)
                for word in expected:
                    self.assertIn(word, offered)

    def test_the_manual_page_has_every_command(self):
        page = self.bapi("man").stdout
        self.assertTrue(page.startswith(".TH BAPI 1"))
        for command in ("init", "run", "what\\-if", "man"):
            self.assertIn(f".SS {command}\n", page)
        self.assertNotRegex(page, r"(?m)^'")
        if shutil.which("groff"):
            result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, text=True, stderr=subprocess.PIPE)
            self.assertEqual(result.stderr, "")

    def test_init_takes_the_command_and_a_name_after_it(self):
        self.bapi("init", "fit.yaml", "--", "python3", "fit.py", "--data", "a b")
        with open(self.path("fit.yaml")) as file:
            text = file.read()
        self.assertIn('command: [python3, fit.py, --data, "a b", "${args}"]', text)
        self.assertIn("name: fit\n", text)

    def test_init_translates_a_sweep(self):
        self.write("sweep.yaml", "program: t.py\nmethod: grid\nmetric: {name: loss, goal: minimize}\n"
                                 "parameters: {lr: {min: 0.001, max: 0.1}}\n")  # fmt: skip
        result = self.bapi("init", "--from-wandb", "sweep.yaml", "--stdout")
        self.assertIn("method: grid has no counterpart", result.stderr)
        self.assertIn("metric: {name: loss, goal: minimize}", result.stdout)
        self.assertIn("  lr: {min: 0.001, max: 0.1}\n", result.stdout)


if __name__ == "__main__":
    main()

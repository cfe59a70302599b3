"""Help, exit codes, listings: what a user types and what comes back."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from harness import BAPI, HERE, EndToEnd, main

COMMANDS = [
    "init", "doctor", "run", "resume", "retry", "pause", "stop", "note", "submit", "add", "ls", "watch", "status", "best", "clean", "trials", "show",
    "ledger", "plot", "export", "dashboard", "policies", "explain", "plan", "what-if", "forecast", "calibration",
    "simulate", "compare", "report", "completion", "man", "database", "worker", "workers", "lead",
]  # fmt: skip


class Help(EndToEnd):
    def test_lists_every_command_and_the_exit_codes(self):
        text = self.bapi("--help").stdout
        listed = re.findall(r"(?m)^  (\S+)", text.split("Commands:\n")[1].split("\n\n")[0])
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        for code in ["0 done", "1 run failed", "2 wrong use", "3 store unavailable", "70 bug", "130 interrupted"]:
            self.assertIn(code, text)

    def test_of_every_command_has_an_example_and_fits_the_screen(self):
        for command in COMMANDS:
            result = self.bapi(command, "--help")
            self.assertIn(f"bapi {command}", result.stdout.split("Examples:")[1], command)
            self.assertEqual(result.stderr, "")
            self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 80], [], command)
            self.assertEqual(self.bapi("help", command).stdout, result.stdout)

    def test_version_is_a_result(self):
        self.assertRegex(self.bapi("--version").stdout, r"^bapi \d+\.\d+\.\d+\n$")


class Documentation(EndToEnd):
    def test_has_the_help_texts_as_they_are(self):
        root = HERE.parent.parent
        page = subprocess.run(
            [sys.executable, str(root / "tools" / "cli_docs.py"), BAPI], capture_output=True, text=True, check=True
        ).stdout
        written = (root / "docs" / "cli.md").read_text()
        for command in COMMANDS:
            self.assertIn(f"\n## bapi {command}\n", written)
        self.assertEqual(page, written, "tools/cli_docs.py build/release/bapi > docs/cli.md")


class Submit(EndToEnd):
    STUDY = "postgresql://ann@db.example/tuning#mlp"

    def test_prints_the_script_that_it_would_submit(self):
        words = ["--workers", "8", "--chain", "3", "--slots", "2", "--dir", "a b", "--program", "/opt/bapi", "--dry-run"]
        script = self.bapi("submit", "slurm", self.STUDY, *words, "--", "--time=1:00:00", "-p", "gpu").stdout
        self.assertEqual(
            script.splitlines(),
            [
                "#!/bin/bash",
                "#SBATCH --job-name=bapi-mlp",
                "#SBATCH --array=1-24%8",
                "#SBATCH --signal=B:USR1@120",
                "#SBATCH --requeue",
                "#SBATCH --open-mode=append",
                "#SBATCH --time=1:00:00",
                "#SBATCH -p gpu",
                f"exec /opt/bapi worker '{self.STUDY}' --slots 2 --dir '{self.path('a b')}'",
            ],
        )

    def test_hands_the_commands_for_checkpoints_to_every_worker_as_they_are(self):
        fetch = 'rclone copy "store:it\'s/$BAPI_TRIAL" $BAPI_CHECKPOINT_DIR'
        push = "rclone copy $BAPI_CHECKPOINT_DIR store:$BAPI_TRIAL; true"
        program = self.path(self.write("program", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"))
        os.chmod(program, 0o755)
        carried = ["--fetch", fetch, "--push", push, "--program", program, "--dry-run"]
        script = self.bapi("submit", "slurm", self.STUDY, *carried).stdout
        run = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout.splitlines(), ["worker", self.STUDY, "--fetch", fetch, "--push", push])
        for words in (["--fetch", "true"], ["--push", "true"], [*carried, "--dir", "x"]):
            self.bapi("submit", "slurm", self.STUDY, *words, code=2)

    def test_refuses_what_workers_elsewhere_cannot_open(self):
        self.bapi("run", self.study(), "--quiet")
        self.assertIn("need one in a database", self.bapi("submit", "slurm", "mlp", code=2).stderr)
        secret = "postgresql://ann:secret@db.example/tuning#mlp"
        refused = self.bapi("submit", "slurm", secret, "--dry-run", code=2).stderr
        self.assertNotIn("secret", refused)
        self.assertIn("expected slurm", self.bapi("submit", "pbs", self.STUDY, code=2).stderr)

    def test_says_what_to_do_where_there_is_no_slurm(self):
        without = {**self.environment(), "PATH": self.dir}
        refused = self.bapi("submit", "slurm", self.STUDY, code=2, env=without).stderr
        self.assertIn("there is no sbatch here", refused)


class WrongUse(EndToEnd):
    def test_without_a_command_shows_help_on_stderr(self):
        result = self.bapi(code=2)
        self.assertEqual(result.stdout, "")
        self.assertIn("doctor", result.stderr)

    def test_unknown_command_names_the_nearest(self):
        self.assertIn("did you mean status?", self.bapi("stauts", code=2).stderr)

    def test_unknown_option_names_the_nearest(self):
        self.assertIn("did you mean --budget?", self.bapi("run", "--bugdet", "3m", code=2).stderr)

    def test_unknown_format_and_study_and_trial(self):
        self.bapi("run", self.study(), "--quiet")
        self.assertIn("table, json, csv", self.bapi("trials", "mlp", "-f", "xml", code=2).stderr)
        self.assertIn("mlp.bapi", self.bapi("status", "mpl.bapi", code=2).stderr)
        self.assertIn("numbered from 0", self.bapi("show", "999", code=2).stderr)
        self.assertIn("number of a trial", self.bapi("show", "mlp", code=2).stderr)

    def test_no_study_here(self):
        self.assertIn("no study in this directory", self.bapi("status", code=2).stderr)

    def test_several_studies_must_be_named(self):
        for name in ["one", "two"]:
            self.bapi("run", self.study(name=name, budget='"2 epochs"'), "--quiet")
        self.assertIn("one.bapi, two.bapi", self.bapi("status", code=2).stderr)

    def test_study_file_errors_say_where(self):
        self.study()
        with open(self.path("study.yaml"), "a") as file:
            file.write("bugdet: 3m\n")
        result = self.bapi("run", "study.yaml", code=2)
        self.assertRegex(result.stderr, r"study\.yaml:\d+:\d+")
        self.assertIn("budget", result.stderr)
        self.assertFalse(os.path.exists(self.path("mlp.bapi")))

    def test_unknown_policy_names_the_nearest(self):
        self.assertIn("hyperband", self.bapi("run", self.study(), "--policy", "hyperbund", code=2).stderr)

    def test_damaged_store_is_unavailable(self):
        self.bapi("run", self.study(), "--quiet")
        for suffix in ["", "-wal", "-shm"]:
            if os.path.exists(self.path("mlp.bapi", "study.db" + suffix)):
                os.remove(self.path("mlp.bapi", "study.db" + suffix))
        self.write("mlp.bapi/study.db", "this is not a database, but long enough to look like a file of some kind\n" * 99)
        self.assertIn("study.db", self.bapi("status", "mlp", code=3).stderr)


class Beginning(EndToEnd):
    def test_says_how_to_watch_the_study(self):
        result = self.bapi("run", self.study())
        self.assertIn("bapi dashboard mlp.bapi", result.stdout + result.stderr)


class Init(EndToEnd):
    def test_writes_a_file_that_the_program_reads_and_never_overwrites(self):
        self.assertEqual(self.bapi("init").stdout, "study.yaml\n")
        self.assertIn("already exists", self.bapi("init", code=2).stderr)
        with open(self.path("study.yaml")) as file:
            self.assertEqual(self.bapi("init", "--stdout").stdout, file.read())
        # The program named in it does not exist, so the doctor gets as far as running it.
        result = self.bapi("doctor", "study.yaml", code=1)
        self.assertIn("lr: 1e-05 to 1, log scale", result.stdout)
        self.assertIn("FAILED", result.stdout)


class Listings(EndToEnd):
    def setUp(self):
        super().setUp()
        self.bapi("run", self.study(), "--quiet")

    def test_status_has_the_promised_shape(self):
        status = self.check_books()
        self.assertEqual(list(status), ["name", "policy", "state", "budget", "trials", "enqueued", "best", "from",
                                        "provenance", "disk", "lockstep", "ahead"])  # fmt: skip
        self.assertEqual(list(status["budget"]), ["total", "spent", "remaining", "unit"])
        self.assertEqual(list(status["trials"]), ["running", "interrupted", "paused", "completed", "stopped", "failed"])
        self.assertEqual(status["state"], "finished")
        self.assertEqual(status["budget"]["total"], 40)
        self.assertLessEqual(status["budget"]["spent"], 40)
        self.assertEqual(status["budget"]["unit"], "epochs")
        self.assertEqual(status["best"], self.json("best", "mlp"))

    def test_best_is_the_best_trial_with_its_checkpoint(self):
        best = self.json("best")
        self.assertEqual(list(best), ["trial", "epoch", "value", "config", "checkpoint", "checkpoint_epoch", "checkpoint_note"])
        # A trial whose first epoch the budget could not pay any more has no best value.
        values = [trial["best"] for trial in self.json("trials") if trial["best"] is not None]
        self.assertEqual(best["value"], max(values))
        self.assertTrue(os.path.exists(os.path.join(best["checkpoint"], "epoch")))

    def test_a_study_is_found_by_directory_name_and_file(self):
        expected = self.json("status")
        for study in ["mlp", "mlp.bapi", "./mlp.bapi/", "study.yaml", self.path("mlp.bapi")]:
            self.assertEqual(self.json("status", study), expected)

    def test_trials_in_all_formats_hold_the_same(self):
        rows = self.json("trials")
        self.assertEqual(list(rows[0]), ["trial", "state", "epochs", "best", "spent", "config"])
        lines = list(csv.DictReader(io.StringIO(self.bapi("trials", "-f", "csv").stdout)))
        self.assertEqual([float(line["best"]) for line in lines], [row["best"] for row in rows])
        self.assertEqual([float(line["config.lr"]) for line in lines], [row["config"]["lr"] for row in rows])
        table = self.bapi("trials").stdout.splitlines()
        self.assertEqual(len(table), len(rows) + 1)
        self.assertRegex(table[0], r"^trial +state +epochs +best accuracy +spent \(epochs\) +config$")

    def test_trials_can_be_sorted_and_cut(self):
        rows = self.json("trials", "--sort", "best", "--limit", "3")
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0]["best"], self.json("best")["value"])
        self.assertGreaterEqual(rows[0]["best"], rows[1]["best"])

    def test_show_tells_the_story_of_a_trial(self):
        best = self.json("best")["trial"]
        shown = self.json("show", str(best))
        self.assertEqual(shown["best"], self.json("best")["value"])
        self.assertEqual(len(shown["curve"]), shown["epochs"])
        self.assertEqual(shown["events"][0]["event"], "start")
        self.assertTrue(shown["events"][0]["why"])
        self.assertEqual(self.json("show", "mlp", str(best)), shown)
        self.assertEqual(self.json("show", str(best), "mlp"), shown)
        text = self.bapi("show", str(best)).stdout
        for part in ["config", "Decisions", "Curve", "Ledger", "checkpoint", "the best of the study"]:
            self.assertIn(part, text)

    def test_export_has_a_line_per_report_and_a_whole_study(self):
        lines = list(csv.DictReader(io.StringIO(self.bapi("export").stdout)))
        self.assertEqual(len(lines), sum(trial["epochs"] for trial in self.json("trials")))
        self.bapi("export", "-f", "json", "--out", "all.json")
        with open(self.path("all.json")) as file:
            document = json.load(file)
        self.assertEqual(document["ledger"], self.json("ledger"))
        self.assertEqual(len(document["trials"]), len(self.json("trials")))

    def test_plots_are_xml_with_a_title(self):
        paths = self.bapi("plot", "--out", "figures").stdout.split()
        plots = [plot["plot"] for plot in self.json("plot")]
        self.assertEqual(plots[:3], ["curves", "incumbent", "budget"])
        self.assertEqual(paths, [f"figures/{plot}.svg" for plot in plots])
        for path in paths:
            root = ElementTree.parse(self.path(path)).getroot()
            self.assertTrue(root.find("{http://www.w3.org/2000/svg}title").text.startswith("mlp: "))

    def test_results_go_to_stdout_and_nothing_else_does(self):
        self.assertEqual(self.bapi("trials").stderr, "")
        self.assertTrue(os.path.exists(self.path("mlp.bapi", "plots", "curves.svg")))

    def test_policies_are_listed_with_their_options(self):
        listed = {policy["name"]: policy for policy in self.json("policies")}
        self.assertIn("hyperband", listed)
        self.assertIn("random", listed)
        self.assertIn("eta", [option["name"] for option in listed["hyperband"]["options"]])

    def test_policies_fit_one_screen_and_one_shows_its_options(self):
        lines = self.bapi("policies").stdout.splitlines()
        self.assertLess(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 80)
        for policy in self.json("policies"):
            details = self.bapi("policies", policy["name"]).stdout
            self.assertLessEqual(max(map(len, details.splitlines())), 80)
            for option in policy["options"]:
                self.assertRegex(details, rf"(?m)^  {option['name']} ")
            self.assertEqual(self.json("policies", policy["name"]), [policy])
        self.assertIn("did you mean hyperband?", self.bapi("policies", "hyperbund", code=2).stderr)


class Report(EndToEnd):
    def test_outside_of_a_trainer_prints_the_line(self):
        environment = {k: v for k, v in self.environment().items() if k != "BAPI_REPORT"}
        result = self.bapi("report", "epoch=3", "accuracy=0.91", "note=good run", env=environment)
        self.assertEqual(json.loads(result.stdout), {"epoch": 3, "accuracy": 0.91, "note": "good run"})
        self.assertIn("BAPI_REPORT", result.stderr)

    def test_inside_appends_a_line(self):
        environment = {**self.environment(), "BAPI_REPORT": self.path("report")}
        for epoch in [1, 2]:
            self.assertEqual(self.bapi("report", f"epoch={epoch}", "loss=1e-3", env=environment).stdout, "")
        with open(self.path("report")) as file:
            self.assertEqual([json.loads(line) for line in file], [{"epoch": e, "loss": 0.001} for e in [1, 2]])

    def test_divergence_can_be_said(self):
        environment = {**self.environment(), "BAPI_REPORT": self.path("report")}
        self.bapi("report", "epoch=1", "loss=nan", "other=-inf", env=environment)
        with open(self.path("report")) as file:
            self.assertEqual(file.read(), '{"epoch": 1, "loss": NaN, "other": -Infinity}\n')

    def test_wrong_use(self):
        self.assertIn("epoch", self.bapi("report", "accuracy=0.91", code=2).stderr)
        self.assertIn("NAME=VALUE", self.bapi("report", "0.91", code=2).stderr)

    def test_a_file_that_cannot_be_written_is_said(self):
        environment = {**self.environment(), "BAPI_REPORT": self.path("missing", "report")}
        self.assertIn("BAPI_REPORT", self.bapi("report", "epoch=1", "a=1", code=3, env=environment).stderr)


if __name__ == "__main__":
    main()

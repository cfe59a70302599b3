"""Hooks: programs that are told what happens, and cannot disturb a study. Other metrics, and where a study was run."""

import json
import os
import pathlib
import socketserver
import struct
import subprocess
import sys
import threading

from harness import EndToEnd, main
from with_database import WithDatabase

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/hooks"

TRAINER = """
import json, os
for epoch in range(int(os.environ["BAPI_FROM_EPOCH"]) + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    with open(os.environ["BAPI_REPORT"], "a") as file:
        file.write(json.dumps({"epoch": epoch, "accuracy": epoch / 10, "loss": 1 / epoch, "note": "text"}) + "\\n")
"""

WITNESS = """
import json, os, sys
facts = {name: value for name, value in os.environ.items() if name.startswith("BAPI_")}
with open("told.jsonl", "a") as file:
    file.write(json.dumps([sys.argv[1], facts]) + "\\n")
"""

STUDY = """
name: hooked
command: ["{python}", train.py]
metric: {{name: accuracy, goal: maximize}}
budget: "9 epochs"
epochs: 3
policy: {policy}
parameters: {{x: {{min: 0.0, max: 1.0}}}}
{more}
"""


class HookStudies(EndToEnd):
    hook_seconds = "60"

    def environment(self):
        return {**super().environment(), "BAPI_HOOK_SECONDS": self.hook_seconds}

    def run_study(self, more="", policy="random"):
        self.write("train.py", TRAINER)
        self.write("witness.py", WITNESS)
        self.write("study.yaml", STUDY.format(python=sys.executable, policy=policy, more=more))
        return self.bapi("run", "study.yaml", "--quiet", *self.storage())

    def storage(self):
        """Words of `bapi run` that say where the study is kept."""
        return []

    def where(self):
        """The study, as commands take it."""
        return "hooked.bapi"

    def told(self):
        with open(self.path("told.jsonl")) as file:
            return [json.loads(line) for line in file]

    def hook(self, *events):
        return "hooks: {" + ", ".join(f'{event}: ["{sys.executable}", witness.py, {event}]' for event in events) + "}"


class Hooks(HookStudies):
    def test_every_event_is_told_in_order(self):
        self.run_study(self.hook("epoch", "best", "trial_end", "study_end"))
        told = self.told()
        self.assertEqual([name for name, _ in told[:7]],
                         ["epoch", "best", "epoch", "best", "epoch", "best", "trial_end"])  # fmt: skip
        self.assertEqual([name for name, _ in told].count("epoch"), 9)
        self.assertEqual(told[-1][0], "study_end")
        name, first = told[0]
        self.assertEqual(first["BAPI_EVENT"], name)
        self.assertEqual((first["BAPI_STUDY"], first["BAPI_TRIAL"], first["BAPI_EPOCH"]), ("hooked", "0", "1"))
        self.assertEqual(json.loads(first["BAPI_METRICS"]), {"accuracy": 0.1, "loss": 1.0})
        self.assertEqual(list(json.loads(first["BAPI_VALUES"])), ["x"])
        self.assertEqual(told[6][1]["BAPI_STATE"], "completed")
        self.assertEqual(told[-1][1]["BAPI_BEST_VALUE"], "0.3")

    def test_a_hook_that_fails_hangs_or_is_missing_changes_nothing(self):
        self.hook_seconds = "0.5"
        self.run_study("hooks: {epoch: [sleep, 1000], best: [no-such-program], study_end: [sh, -c, 'exit 3']}")
        self.assertEqual(self.check_books("hooked")["budget"]["spent"], 9)
        with open(self.path("hooked.bapi", "hooks.log")) as file:
            self.assertIn("are left out", file.read())
        sleeping = subprocess.run(["pgrep", "-f", "^sleep 1000$"], stdout=subprocess.PIPE, text=True).stdout.split()
        here = [pid for pid in sleeping if os.path.exists(f"/proc/{pid}/cwd")
                and os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(self.dir)]  # fmt: skip
        self.assertEqual(here, [])

    def test_arguments_are_never_given_to_a_shell(self):
        self.run_study("hooks: {study_end: [echo, \"$HOME; $(ls) ${x}\"]}")
        with open(self.path("hooked.bapi", "hooks.log")) as file:
            self.assertEqual(file.read(), "$HOME; $(ls) ${x}\n")

    def test_other_metrics_are_kept_and_listed(self):
        self.run_study()
        curve = self.json("show", "hooked", "0")["curve"]
        self.assertEqual([point["metrics"] for point in curve], [{"loss": 1.0}, {"loss": 0.5}, {"loss": 1 / 3}])
        header, first, *_ = self.bapi("export", "hooked", "-f", "csv").stdout.splitlines()
        self.assertEqual(dict(zip(header.split(","), first.split(",")))["metrics.loss"], "1")
        self.assertIn("loss=0.5", self.bapi("show", "hooked", "0").stdout)

    def test_the_study_knows_where_it_was_run(self):
        commands = [["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"]]
        for command in commands:
            subprocess.run(["git", *command], cwd=self.dir, check=True)
        self.run_study()
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.dir, stdout=subprocess.PIPE, text=True).stdout
        provenance = self.json("status", "hooked")["provenance"]
        self.assertEqual(provenance["commit"], commit.strip())
        self.assertEqual(provenance["host"], os.uname().nodename)
        status = self.bapi("status", "hooked").stdout
        self.assertIn(f"commit {commit[:12]}", status)
        self.assertRegex(status, r"(?m)^command +\S")
        # Another commit is noted in the log.
        subprocess.run(["git", *commands[1]], cwd=self.dir, check=True)
        self.bapi("resume", "hooked", "--quiet", "--budget", "12 epochs")
        changed = [row for row in self.json("export", "hooked")["decisions"] if row["event"] == "settings"]
        self.assertIn("provenance.commit", changed[-1]["why"])


# As much of MLflow as the example uses; runs are kept in a file, because every hook is a process of its own.
FAKE_MLFLOW = """
import json, os, sys, types
class Experiment: experiment_id = "7"
def set_experiment(name):
    assert name == "hooked"
    return Experiment
def Metric(name, value, time, epoch): return [name, value, epoch]
def Param(name, value): return [name, value]
sys.modules["mlflow.entities"] = types.SimpleNamespace(Metric=Metric, Param=Param)
def run_of(id, record): return types.SimpleNamespace(info=types.SimpleNamespace(run_id=id), data=types.SimpleNamespace(tags=record["tags"]))
class MlflowClient:
    def __init__(self):
        self.runs = json.load(open("runs.json")) if os.path.exists("runs.json") else {}
    def save(self): json.dump(self.runs, open("runs.json", "w"))
    def search_runs(self, experiments, filter, max_results):
        assert experiments == ["7"]
        return [run_of(id, run) for id, run in self.runs.items() if filter == f"tags.`bapi.trial` = '{run['tags']['bapi.trial']}'"]
    def create_run(self, experiment, tags, run_name):
        id = "run-" + str(len(self.runs))
        self.runs[id] = {"name": run_name, "tags": tags, "params": {}, "metrics": [], "status": "RUNNING"}
        self.save()
        return run_of(id, self.runs[id])
    def log_batch(self, run, metrics=(), params=()):
        self.runs[run]["params"].update(dict(params))
        self.runs[run]["metrics"] += metrics
        self.save()
    def set_tag(self, run, name, value):
        self.runs[run]["tags"][name] = str(value)
        self.save()
    def set_terminated(self, run, status):
        self.runs[run]["status"] = status
        self.save()
"""

FAKE_WANDB = """
import json, os
class Run:
    def __init__(self, facts): self.facts, self.summary = {**facts, "history": []}, {}
    def log(self, metrics, step): self.facts["history"].append([step, metrics])
    def finish(self):
        folder = "wandb/offline-run-20260101_000000-" + self.facts["id"]
        os.makedirs(folder)
        json.dump({**self.facts, "summary": self.summary}, open(folder + "/run.json", "w"))
def Settings(silent): return None
def init(settings, **facts): return Run(facts)
"""


class Examples(HookStudies):
    """The programs of examples/hooks, with modules in the place of those that have to be installed."""

    def setUp(self):
        super().setUp()
        self.write("mlflow.py", FAKE_MLFLOW)
        self.write("wandb.py", FAKE_WANDB)

    def environment(self):
        return {**super().environment(), "PYTHONPATH": self.dir}

    def run_example(self, events, script, *arguments, **options):
        words = ", ".join(json.dumps(word) for word in [sys.executable, str(EXAMPLES / script), *arguments])
        self.run_study("hooks: {" + ", ".join(f"{event}: [{words}]" for event in events) + "}", **options)
        log = self.path("hooked.bapi", "hooks.log")
        if os.path.exists(log):
            with open(log) as file:
                self.assertEqual(file.read(), "")

    def by_hand(self, script):
        program = {"BAPI_PROGRAM": self.environment()["BAPI"]}
        subprocess.run(
            [sys.executable, str(EXAMPLES / script), self.where()], cwd=self.dir, check=True,
            env={**self.environment(), **program},
        )  # fmt: skip

    def read(self, *path):
        with open(self.path(*path)) as file:
            return json.load(file)

    def trained(self):
        return {f"hooked-{trial['trial']:04}": trial for trial in self.json("trials", self.where()) if trial["epochs"]}

    def check_runs(self, runs):
        trained = self.trained()
        self.assertEqual({run["name"] for run in runs.values()}, set(trained))
        for run in runs.values():
            trial = trained[run["name"]]
            self.assertEqual(run["params"], {"x": str(trial["config"]["x"])})
            self.assertEqual(
                sorted(run["metrics"]),
                sorted([name, value, epoch] for epoch in range(1, trial["epochs"] + 1)
                       for name, value in (("accuracy", epoch / 10), ("loss", 1 / epoch))),
            )  # fmt: skip
            self.assertEqual((run["tags"]["bapi.state"], run["status"]), (trial["state"], "FINISHED"))

    def test_mlflow_gets_every_trial_once(self):
        self.run_example(["trial_end", "study_end"], "to_mlflow.py")
        self.check_runs(self.read("runs.json"))
        before = self.read("runs.json")
        self.by_hand("to_mlflow.py")
        self.assertEqual(self.read("runs.json"), before)

    def test_mlflow_gets_the_epochs_while_a_trial_trains(self):
        self.run_example(["epoch", "trial_end"], "to_mlflow.py")
        self.check_runs(self.read("runs.json"))

    def test_trials_that_are_paused_in_the_end_are_logged_too(self):
        self.run_example(["study_end"], "to_mlflow.py", policy="hyperband")
        self.assertIn("paused", {trial["state"] for trial in self.trained().values()})
        self.check_runs(self.read("runs.json"))

    def test_wandb_gets_offline_runs(self):
        self.run_example(["study_end"], "to_wandb.py")
        self.by_hand("to_wandb.py")
        folders = os.listdir(self.path("wandb"))
        self.assertEqual(len(folders), len(self.trained()))
        run = self.read("wandb", "offline-run-20260101_000000-hooked-0000-epoch-3", "run.json")
        self.assertEqual((run["project"], run["name"], run["mode"]), ("hooked", "hooked-0000", "offline"))
        self.assertEqual(run["history"][1], [2, {"accuracy": 0.2, "loss": 0.5}])
        self.assertEqual(run["summary"], {"state": "completed"})

    def test_tensorboard_gets_event_files(self):
        self.run_example(["study_end"], "to_tensorboard.py")
        self.assertEqual(set(os.listdir(self.path("hooked.bapi", "tensorboard"))), set(self.trained()))
        with open(self.path("hooked.bapi", "tensorboard", "hooked-0000", "events.out.tfevents.0.bapi"), "rb") as file:
            data = file.read()
        records = []
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            records.append(data[12 : 12 + length])
            data = data[16 + length :]
        self.assertIn(b"brain.Event:2", records[0])
        self.assertEqual(len(records), 1 + 2 * 3)
        self.assertTrue(records[1].endswith(b"\x0a\x08accuracy\x15" + struct.pack("<f", 0.1)), records[1])

    def test_mail_is_sent(self):
        received = []

        class Server(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(b"220 here\r\n")
                body = False
                for line in self.rfile:
                    received.append(line)
                    if body:
                        if line == b".\r\n":
                            body = False
                            self.wfile.write(b"250 ok\r\n")
                        continue
                    body = line.strip().lower() == b"data"
                    if line.strip().lower() == b"quit":
                        self.wfile.write(b"221 bye\r\n")
                        return
                    self.wfile.write(b"354 go\r\n" if body else b"250 ok\r\n")

        with socketserver.TCPServer(("127.0.0.1", 0), Server) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            os.environ["SMTP_HOST"], os.environ["SMTP_PORT"] = "127.0.0.1", str(server.server_address[1])
            self.run_example(["study_end"], "to_mail.py", "me@example.org")
            server.shutdown()
        text = b"".join(received).decode()
        self.assertIn("Subject: hooked: ", text)
        self.assertIn("Best accuracy: 0.3, trial 0, epoch 3", text)


class ExamplesInDatabase(WithDatabase, Examples):
    """The same programs for a study in a database."""

    # There is no lockstep: the program of these tests has reported all epochs before it is told to pause.
    test_trials_that_are_paused_in_the_end_are_logged_too = None

    def setUp(self):
        super().setUp()
        self.database.sql("DELETE FROM bapi.study" if "hooked" in self.database.bapi("ls", self.url).stdout else "")

    def storage(self):
        return ["--storage", self.url]

    def where(self):
        return f"{self.url}#hooked"

    def test_a_hook_can_ask_for_the_study(self):
        asked = json.dumps(["sh", "-c", '"$BAPI_PROGRAM" status "$BAPI_STUDY_PLACE" -f json > asked.json'])
        self.run_study(f"hooks: {{study_end: {asked}}}")
        self.assertEqual(self.read("asked.json")["name"], "hooked")
        self.assertEqual(self.read("asked.json")["budget"]["spent"], 9.0)



if __name__ == "__main__":
    main()

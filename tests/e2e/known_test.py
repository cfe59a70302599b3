"""Configurations that the user asks for: `try` in the study file and `bapi add`."""

import signal

from harness import EndToEnd, main

POLICIES = ["bapi", "random", "hyperband", "bohb", "freeze-thaw"]


class Known(EndToEnd):
    def study_with(self, tries, **options):
        file = self.study(**options)
        with open(self.path(file), "a") as text:
            text.write(f"try: {tries}\n")
        return file

    def configs(self, study="mlp"):
        return [trial["config"] for trial in self.json("trials", study)]

    def test_the_study_files_configurations_come_first_with_every_policy(self):
        for policy in POLICIES:
            with self.subTest(policy=policy):
                name = f"first-{policy}"
                file = self.study_with("[{lr: 0.5, units: 100}, {lr: 0.25}]", name=name, policy=policy, file=f"{name}.yaml")
                self.bapi("run", file, "--quiet")
                first, second, *others = self.configs(name)
                self.assertEqual(first, {"lr": 0.5, "units": 100})
                self.assertEqual(second["lr"], 0.25)
                self.assertNotIn(0.25, [config["lr"] for config in others])
                self.check_books(name)

    def test_explain_says_who_asked(self):
        self.bapi("run", self.study_with("[{lr: 0.5}]"), "--quiet")
        text = self.bapi("explain", "mlp", "0").stdout
        self.assertIn("requested by the study file", text.lower())
        self.assertIn("units was not given: the policy's value", text)
        first = self.json("explain", "mlp", "0")[0]
        self.assertEqual(first["rule"], "enqueued")
        self.assertEqual(first["reason"]["wish"]["left_open"], ["units"])
        self.assertEqual(first["assignment"]["wish"], 0)

    def test_a_study_is_the_same_twice(self):
        for name in ("one", "two"):
            self.bapi("run", self.study_with("[{lr: 0.5}]", name=name, file=f"{name}.yaml"), "--quiet")
        self.assertEqual(self.configs("one"), self.configs("two"))

    def test_configurations_added_to_the_file_later_are_tried(self):
        self.bapi("run", self.study_with("[{lr: 0.5}]"), "--quiet")
        before = len(self.configs())
        self.study_with("[{lr: 0.5}, {lr: 0.75}]", budget='"80 epochs"')
        self.bapi("run", "study.yaml", "--quiet")
        rates = [config["lr"] for config in self.configs()]
        self.assertEqual(rates.count(0.5), 1)
        self.assertEqual(rates[before:].count(0.75), 1)

    def test_add_to_a_study_that_rests(self):
        self.bapi("run", self.study(), "--quiet")
        before = len(self.configs())
        said = self.bapi("add", "mlp", "lr=0.125", "units=17").stdout
        self.assertIn("lr=0.125 units=17", said)
        self.assertEqual(self.json("status", "mlp")["enqueued"], 1)
        self.assertIn("lr=0.125 units=17", self.bapi("status", "mlp").stdout)
        self.bapi("resume", "mlp", "--quiet", "--budget", "80 epochs")
        self.assertEqual(self.configs()[before], {"lr": 0.125, "units": 17})
        self.assertEqual(self.json("status", "mlp")["enqueued"], 0)
        self.assertIn("requested by bapi add", self.bapi("explain", "mlp", str(before)).stdout.lower())

    def test_add_to_a_study_that_is_running(self):
        process = self.start("run", self.study(delay=0.05, budget='"300 epochs"', policy="random"), "--quiet")
        self.wait_for_reports(1)
        self.assertIn("running", self.bapi("add", "lr=0.125").stdout)
        self.wait_for(lambda: any(config["lr"] == 0.125 for config in self.configs()), "the configuration to be tried")
        process.send_signal(signal.SIGINT)
        process.wait(20)
        self.assertEqual([config["lr"] for config in self.configs()].count(0.125), 1)
        self.check_books()

    def test_a_request_survives_a_controller_that_is_killed(self):
        process = self.start("run", self.study(delay=0.3, budget='"60 epochs"', policy="random"), "--quiet")
        self.wait_for_reports(1)
        self.bapi("add", "lr=0.125")
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        self.study(delay=0.0, budget='"60 epochs"', policy="random")
        self.bapi("run", "study.yaml", "--quiet")
        self.assertEqual([config["lr"] for config in self.configs()].count(0.125), 1)
        self.check_books()

    def test_what_does_not_fit_is_refused(self):
        self.bapi("run", self.study(), "--quiet")
        for words, message in [
            (["lr=7"], "lr: found 7, expected a number from 0.0001 to 1"),
            (["rate=0.1"], "there is no parameter rate"),
            (["units=20.5"], "units: found 20.5, expected a whole number from 16 to 256"),
            (["mlp"], "found no value"),
            (["lr=0.1", "mlp"], "mlp: expected NAME=VALUE"),
            (["lr=0.1", "lr=0.2"], "lr: given twice"),
        ]:
            self.assertIn(message, self.bapi("add", *words, code=2).stderr)
        result = self.bapi("run", self.study_with("[{lr: 7}]", name="bad", file="bad.yaml"), code=2)
        self.assertIn("bad.yaml:", result.stderr)
        self.assertIn("try[0]: lr: found 7", result.stderr)


if __name__ == "__main__":
    main()

"""Studies that start from earlier ones: `from` in the study file and `--from`."""

import os
import shutil

from harness import EndToEnd, main

POLICIES = ["bapi", "random", "hyperband", "bohb", "ei"]


class WarmStart(EndToEnd):
    def old(self, **options):
        self.bapi("run", self.study(name="old", file="old.yaml", budget='"60 epochs"', **options), "--quiet")

    def new(self, sources="[old.bapi]", edit=lambda text: text, **options):
        file = self.study(name=options.pop("name", "new"), file="new.yaml", **options)
        with open(self.path(file)) as text:
            study = edit(text.read())
        return self.write(file, f"{study}from: {sources}\n")

    def configs(self, study="new"):
        return [trial["config"] for trial in self.json("trials", study)]

    def test_the_best_of_the_earlier_study_is_tried_first_with_every_policy(self):
        self.old()
        best = self.json("best", "old")["config"]
        for policy in POLICIES:
            with self.subTest(policy=policy):
                self.bapi("run", self.new(name=f"new-{policy}", policy=policy), "--quiet")
                self.assertEqual(self.configs(f"new-{policy}")[0], best)
                self.check_books(f"new-{policy}")

    def test_it_says_where_configurations_come_from(self):
        self.old()
        said = self.bapi("run", self.new(policy="bapi")).stderr
        trials = len(self.json("trials", "old"))
        self.assertIn(f"warm start from old.bapi: {trials} trials", said)
        self.assertIn("requested by the warm start: the best of old", self.bapi("explain", "new", "0").stdout.lower())
        self.assertIn("weight of the earlier study", self.bapi("explain", "new", "-v").stdout.lower())
        self.assertIn(f"old.bapi: {trials} trials", self.bapi("status", "new").stdout)
        source = self.json("status", "new")["from"][0]
        self.assertTrue(source["study"].endswith("/old.bapi"))
        self.assertEqual((source["trials"], source["left_out"]), (trials, 0))
        self.assertEqual(self.json("status", "old")["from"], [])

    def test_it_resumes_without_the_earlier_study(self):
        self.old()
        for name in ("one", "two"):
            self.bapi("run", self.new(name=name, policy="bapi", budget='"20 epochs"'), "--quiet")
        self.bapi("run", self.new(name="one", policy="bapi", budget='"40 epochs"'), "--quiet")
        shutil.rmtree(self.path("old.bapi"))
        self.bapi("run", self.new(name="two", policy="bapi", budget='"40 epochs"'), "--quiet")
        self.assertEqual(self.configs("one"), self.configs("two"))
        self.bapi("resume", "two", "--quiet", "--budget", "50 epochs")

    def test_from_on_the_command_line(self):
        self.old()
        self.bapi("run", self.study(name="new", file="new.yaml"), "--from", "old.bapi", "--quiet")
        self.assertEqual(self.configs()[0], self.json("best", "old")["config"])

    def test_other_ranges_and_parameters(self):
        self.old()
        def edit(text):
            return text.replace("units: {min: 16, max: 256, type: int}", "units: {values: [1000, 2000]}\n  depth: {min: 1, max: 3}")
        said = self.bapi("run", self.new(edit=edit), code=2).stderr
        self.assertIn("all of its", said)
        self.assertIn("widen the ranges", said)
        self.assertFalse(os.path.exists(self.path("new.bapi")))
        def wider(text):
            return text.replace("max: 256, type: int}", "max: 512, type: int}\n  depth: {min: 1, max: 3}")
        said = self.bapi("run", self.new(edit=wider), code=0).stderr
        self.assertIn("nothing is known of depth", said)
        best = self.json("best", "old")["config"]
        first = self.configs()[0]
        self.assertEqual({name: first[name] for name in best}, best)
        self.assertIn("depth was not given: the policy's value", self.bapi("explain", "new", "0").stdout)

    def test_what_cannot_be_used_is_refused(self):
        self.old()
        for sources, message in [
            ("[none.bapi]", "there is no study none.bapi"),
            ("[new.bapi]", "there is no study new.bapi"),
            ("[{study: old.bapi, metric: loss}]", "metric: found loss, but the metric of old.bapi is accuracy"),
            ("[{path: old.bapi}]", "unknown key 'path'"),
            ("[[old.bapi]]", "expected a study such as old.bapi"),
        ]:
            with self.subTest(sources=sources):
                self.assertIn(message, self.bapi("run", self.new(sources), code=2).stderr)
        said = self.bapi("run", self.new(edit=lambda text: text.replace("goal: maximize", "goal: minimize")), code=2).stderr
        self.assertIn("from: [{study: old.bapi, metric: accuracy}]", said)
        self.bapi("run", self.new(), "--quiet")
        itself = self.write("again.yaml", open(self.path("new.yaml")).read().replace("[old.bapi]", "[new.bapi]"))
        self.assertIn("this study itself", self.bapi("doctor", itself, code=2).stderr)

    def test_doctor_lists_what_was_read(self):
        self.old()
        said = self.bapi("doctor", self.new()).stdout
        self.assertRegex(said, r"starts from +old.bapi: \d+ trials")

    def test_simulations_and_comparisons(self):
        table, old = "synthetic:power-law,rows=60,epochs=12", "synthetic:power-law,rows=60,epochs=12,noise=0.01"
        plain = self.json("simulate", table, "-b", "2full")
        warm = self.json("simulate", table, "-b", "2full", "--from", old, "--from-budget", "5full")
        self.assertNotEqual(plain["trajectory"], warm["trajectory"])
        self.old()
        self.bapi("simulate", "old.bapi", "-b", "2full", "--from", "old.bapi")
        ranks = self.json("compare", "-t", table, "-p", "bapi,random", "-s", "2", "-b", "2full", "--from", old, "--out", "c")
        policies = {row["policy"] for row in ranks[0]["ranks"]}
        self.assertEqual(policies, {"bapi", "bapi+from", "random", "random+from"})
        other = self.bapi("compare", "-t", table, "-p", "bapi,random", "-s", "2", "-b", "2full", "--from", table, "--out", "c", code=2)
        self.assertIn("give another label or another --out", other.stderr)


if __name__ == "__main__":
    main()

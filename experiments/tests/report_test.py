#!/usr/bin/env python3
"""The report of the replay: ranks, tests and the page, on a log made up here."""

import collections
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

REPORT = pathlib.Path(__file__).resolve().parents[1] / "report"
sys.path[:0] = [str(REPORT), str(REPORT.parent)]

import live  # noqa: E402
from cost_growth import Growth, effect, equalise, flatten, read  # noqa: E402
from rank_figure import groups  # noqa: E402
from rank_tests import chi_squared_tail, critical_difference, friedman, jackknife, t_quantile  # noqa: E402
from live_runs import live_table  # noqa: E402
from replay import EXPERIMENTS, Replay, Run, ranks_of, task_of  # noqa: E402
from statements import EIGHT, Finding, Statements  # noqa: E402

TABLES = ("logreg-mnist", "mlp-olivetti", "a2c-reacher-0", "a2c-reacher-1", "ddqn-cartpole-0")
POLICIES = EIGHT + ("bapi-8", "bapi-4-l", "bapi-4-nm", "bapi-4-agents", "bapi", "asha", "top-k", "one-epoch", "glasses", "random")
INDEX_HEAD = "table,metric,goal,best,seconds_per_training\n"
PAGE = "".join(f"<!-- results: {name} -->\nold\n<!-- end of results -->\n"
               for name in ("ranks", "panels", "eight", "variants", "ablations", "settings", "statements", "live"))


def run_record(policy, table, seed, budget, final):
    return {"run": {"policy": policy, "table": table, "seed": seed, "budget": budget, "normalised_regret": final,
                    "regret": 0.5 * final, "trajectory": [[0.1, final + 0.4], [0.6, final]]}}


def write_comparison(directory, final, budgets=("5full", "20full")):
    """final(policy, table, seed) is the regret at the end."""
    records = [run_record(policy, table, seed, budget, final(policy, table, seed))
               for policy in POLICIES for table in TABLES for seed in range(2) for budget in budgets]
    (directory / "runs.log").write_text("".join(json.dumps(r) + "\n" for r in [{"bapi comparison": 1}, *records]))
    (directory / "INDEX.csv").write_text(INDEX_HEAD + "".join(f"{table}.csv,error,minimize,0.25,2\n" for table in TABLES))


def scratch_directory(case):
    """Of one test."""
    scratch = tempfile.TemporaryDirectory()
    case.addCleanup(scratch.cleanup)
    return pathlib.Path(scratch.name)


class RankTests(unittest.TestCase):
    def test_ties_share_the_mean_of_their_ranks(self):
        self.assertEqual(ranks_of([0.3, 0.1, 0.3, 0.2]), [3.5, 1, 3.5, 2])

    def test_chi_squared_tail_matches_the_closed_form_of_two_degrees(self):
        for x in (0.0, 0.5, 3.0, 20.0):
            self.assertAlmostEqual(chi_squared_tail(x, 2), math.exp(-x / 2), places=12)

    def test_friedman_without_ties_is_the_textbook_formula(self):
        rows = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3]]
        n, k = 4, 3
        means = [statistics.fmean(row[j] for row in rows) for j in range(k)]
        expected = 12 * n / (k * (k + 1)) * (sum(m * m for m in means) - k * (k + 1) ** 2 / 4)
        self.assertAlmostEqual(friedman(rows)[0], expected)

    def test_critical_difference_of_eight_methods_on_thirteen_experiments(self):
        self.assertAlmostEqual(critical_difference(8, 13), 2.91, places=2)  # Demšar's formula by hand

    def test_bars_join_the_longest_groups_within_the_critical_difference(self):
        self.assertEqual(groups([1.0, 2.0, 3.5, 4.0, 7.0], 2.1), [(0, 1), (1, 3)])
        self.assertEqual(groups([1.0, 4.0], 2.0), [])
        self.assertEqual(groups([1.0, 1.5, 2.0], 2.0), [(0, 2)])

    def test_jackknife_of_a_mean_is_its_standard_error(self):
        values = [1.0, 4.0, 2.5, 7.0]
        estimate, error = jackknife(statistics.fmean, values)
        self.assertAlmostEqual(estimate, statistics.fmean(values))
        self.assertAlmostEqual(error, statistics.stdev(values) / 2)


class Statement(unittest.TestCase):
    def test_students_t_decides(self):
        for estimate, verdict in ((2.8, "confirmed"), (2.7, "not confirmed"), (-2.7, "not confirmed"), (-2.8, "reversed")):
            self.assertEqual(Finding("", "", estimate, 1.0, 5).verdict, verdict)   # 2.776 for 4 degrees of freedom

    def test_quantile_continues_the_table(self):
        self.assertAlmostEqual(t_quantile(12), 2.179, delta=0.02)
        self.assertAlmostEqual(t_quantile(29), 2.045, delta=0.02)

    def test_one_budget_says_nothing_of_its_growth(self):
        directory = scratch_directory(self)
        write_comparison(directory, lambda policy, table, seed: 0.3, budgets=("5full",))
        findings = Statements(Replay(directory / "runs.log", directory / "INDEX.csv")).findings()
        self.assertEqual([f.verdict for f in findings if "ranks lost from 5full" in f.measure], ["no data"])

    def test_one_experiment_decides_nothing(self):
        self.assertEqual(Finding("", "", 5.0, 0.0, 1).verdict, "no data")


class Replays(unittest.TestCase):
    def test_regret_is_a_step_function_of_the_budget(self):
        run = Run("t", 0.1, [0.2, 0.5], [0.7, 0.1], 1.0)
        self.assertEqual([run.regret_at(share) for share in (0.0, 0.2, 0.49, 0.5, 1.0)], [0.7, 0.7, 0.7, 0.1, 0.1])

    def test_tables_of_one_agent_are_one_experiment(self):
        directory = scratch_directory(self)
        write_comparison(directory, lambda policy, table, seed: 0.1 * EIGHT.index(policy) if policy in EIGHT else 1)
        replay = Replay(directory / "runs.log", directory / "INDEX.csv")
        self.assertEqual(replay.experiments(EIGHT, "5full"),
                         ["logreg-mnist", "mlp-olivetti", "ddqn-cartpole", "a2c-reacher"])
        self.assertEqual(len(replay.of("a2c-reacher", "ei", "5full")), 4)
        self.assertEqual(replay.ranks("a2c-reacher", EIGHT, "5full")["ms-ei"], 2)

    def without(self, policy, table, seed):
        """The replay of a comparison in which one run is missing."""
        directory = scratch_directory(self)
        write_comparison(directory, lambda policy, table, seed: 0.3 + 0.1 * seed, budgets=("5full",))
        lines = (directory / "runs.log").read_text().splitlines(keepends=True)
        missing = json.dumps(run_record(policy, table, seed, "5full", 0.3 + 0.1 * seed)) + "\n"
        self.assertIn(missing, lines)
        (directory / "runs.log").write_text("".join(line for line in lines if line != missing))
        return Replay(directory / "runs.log", directory / "INDEX.csv")

    def test_seeds_that_one_of_the_eight_has_not_run_are_left_out_for_all(self):
        replay = self.without("ei", "logreg-mnist", 1)
        self.assertEqual(len(replay.of("logreg-mnist", "bohb", "5full")), 2)
        self.assertEqual(replay.keep_finished(EIGHT), [])
        self.assertEqual(replay.seeds("logreg-mnist", EIGHT, "5full"), {0})
        self.assertEqual(len(replay.of("logreg-mnist", "bohb", "5full")), 1)
        self.assertEqual(replay.seeds("mlp-olivetti", EIGHT, "5full"), {0, 1})

    def test_a_variant_with_fewer_seeds_is_compared_on_those(self):
        replay = self.without("bapi-8", "logreg-mnist", 1)
        self.assertEqual(replay.keep_finished(EIGHT), [])
        self.assertEqual(len(replay.of("logreg-mnist", "bapi-4", "5full")), 2)
        regrets = replay.regrets("logreg-mnist", ["bapi-4", "bapi-8"], "5full")
        self.assertEqual(regrets, {"bapi-4": 0.3, "bapi-8": 0.3})   # without the 0.4 of the other seed
        self.assertEqual(replay.ranks("logreg-mnist", ["bapi-4", "bapi-8"], "5full"), {"bapi-4": 1.5, "bapi-8": 1.5})

    def test_thirteen_experiments_are_ten_tasks(self):
        self.assertEqual(len(EXPERIMENTS), 13)
        self.assertEqual(len({task_of(name) for name in EXPERIMENTS}), 10)

    def test_values_come_back_from_normalised_regret(self):
        directory = scratch_directory(self)
        write_comparison(directory, lambda policy, table, seed: 0.3)
        table = Replay(directory / "runs.log", directory / "INDEX.csv").tables["logreg-mnist"]
        self.assertAlmostEqual(table.value(0.3), 0.25 + 0.15)


class CostGrowth(unittest.TestCase):
    """On trials whose values grow by their number in every epoch, at a cost of 2 + the value."""

    def setUp(self):
        self.table = scratch_directory(self) / "table.csv"
        rows = [f"{trial},{epoch},{trial * epoch},{2 + trial * epoch}\n" for trial in range(20) for epoch in range(1, 51)]
        self.table.write_text("# metric: {name: score, goal: maximize}\nlr,epoch,score,cost\n" + "".join(rows))

    def test_a_line_in_the_value_forecasts_what_a_constant_rate_underestimates(self):
        growth = Growth(self.table)
        self.assertAlmostEqual(growth.explained, 1.0)
        for curve in growth.curves:
            self.assertAlmostEqual(growth.by_value(curve), 1.0)
        self.assertEqual([curve[-1][0] for curve in growth.best_tenth], [19 * 50, 18 * 50])
        self.assertGreater(growth.median(growth.by_mean, growth.best_tenth), 3.0)

    def test_flattened_trials_cost_the_same_at_a_constant_rate(self):
        flat = self.table.with_name("flat.csv")
        flatten(self.table, flat)
        for before, after in zip(Growth(self.table).curves, Growth(flat).curves):
            self.assertAlmostEqual(sum(c for _, c in before), sum(c for _, c in after))
            self.assertEqual(len({c for _, c in after}), 1)
        self.assertEqual(read(flat)[:2], read(self.table)[:2])

    def test_equalised_epochs_cost_their_mean_over_all_trials(self):
        equal = self.table.with_name("equal.csv")
        equalise(self.table, equal)
        costs = [float(row[-1]) for trial in read(self.table)[2] for row in trial]
        self.assertEqual({float(row[-1]) for trial in read(equal)[2] for row in trial}, {statistics.fmean(costs)})

    def test_the_effect_is_over_pairs_of_runs(self):
        recorded, flat = self.table.with_name("recorded"), self.table.with_name("flat")
        for directory, more in ((recorded, 0.2), (flat, 0.0)):
            directory.mkdir()
            write_comparison(directory, lambda policy, table, seed, more=more: 0.1 * seed + more, budgets=("5full",))
        lines = [line for line in effect(recorded, flat) if "CartPole" in line and "`ei`" in line]
        self.assertEqual(lines, ["| 11 dueling double DQN, CartPole | 5full | `ei` | 0.250 ± 0.050 | 0.050 ± 0.050 | "
                                 "0.200 ± 0.000 | 2 |"])


class Live(unittest.TestCase):
    """Against a replay whose values are 0.25 + 0.05 times the place of the policy."""

    def setUp(self):
        directory = scratch_directory(self)
        write_comparison(directory, lambda policy, table, seed: 0.1 * POLICIES.index(policy), budgets=("5full", "10full"))
        self.replay = Replay(directory / "runs.log", directory / "INDEX.csv")
        self.file = directory / "live.csv"

    def write(self, values, fulls=10, mode="w"):
        """values[policy] are those of the seeds."""
        rows = [f"logreg-mnist,{policy},{seed},{fulls},{value},9,3\n"
                for policy, of_policy in values.items() for seed, value in enumerate(of_policy)]
        with self.file.open(mode) as file:
            file.writelines(["experiment,policy,seed,fulls,best,seconds,trials\n"] * (mode == "w") + rows)

    def test_the_same_order_has_a_correlation_of_one_and_the_opposite_of_minus_one(self):
        for values, correlation in (((0.1, 0.2, 0.3), "+1.0"), ((0.3, 0.2, 0.1), "-1.0"), ((0.2, 0.2, 0.2), "+0.0")):
            self.write({policy: [value] for policy, value in zip(("bapi-4", "ms-ei", "bohb"), values)})
            self.assertTrue(live_table(self.replay, self.file)[2].endswith(f"| {correlation} |"), values)

    def test_means_of_the_seeds_stand_next_to_the_replay(self):
        self.write({"bapi-4": [0.2, 0.4], "ms-ei": [0.1, 0.1]})
        self.write({"bapi-4": [0.3], "ms-ei": [0.5]}, fulls=5, mode="a")
        lines = live_table(self.replay, self.file)
        self.assertEqual(lines[2], "| 1 logistic regression, MNIST | 10full | 2 | 0.3 (0.25) | 0.1 (0.3) | -1.0 |")
        self.assertEqual(lines[3], "| 1 logistic regression, MNIST | 5full | 1 | 0.3 (0.25) | 0.5 (0.3) | +1.0 |")
        self.assertEqual(lines[4], "| average rank |  |  | 1.50 (1.00) | 1.50 (2.00) | +0.0 |")

    def test_a_budget_that_was_not_replayed_is_refused(self):
        self.write({"bapi-4": [0.2]}, fulls=7)
        with self.assertRaisesRegex(SystemExit, "7full.*make experiments-compare"):
            live_table(self.replay, self.file)

    def test_results_are_added_in_the_order_of_experiments_budgets_and_seeds(self):
        def line(experiment, seed, fulls, policy):
            return dict(zip(live.COLUMNS, (experiment, policy, seed, fulls, "1", "9", "3")))
        for experiment, seed, fulls in (("a2c-pendulum", "1", "10"), ("logreg-mnist", "0", "10"), ("a2c-pendulum", "0", "5"),
                                        ("a2c-pendulum", "0", "10")):
            live.add_results(self.file, [line(experiment, seed, fulls, policy) for policy in ("ei", "bapi-4")])
        self.assertEqual([row.split(",")[:4] for row in self.file.read_text().splitlines()[1:]],
                         [[experiment, policy, seed, fulls] for experiment, seed, fulls in
                          (("logreg-mnist", "0", "10"), ("a2c-pendulum", "0", "5"), ("a2c-pendulum", "0", "10"),
                           ("a2c-pendulum", "1", "10")) for policy in ("ei", "bapi-4")])

    def test_a_live_study_is_the_recording_with_checkpoints_and_another_policy(self):
        for experiment, recording in live.RECORDINGS.items():
            recorded = (live.HERE / "studies/record" / f"{recording}.yaml").read_text()
            text = live.live_study(recorded, "one", "ei", 7, 12.5)
            self.assertIn("policy: ei\nseed: 7\nbudget: {limit: 12.5, unit: cpu}\n", text)
            self.assertIn("\nparameters:\n", text)
            self.assertIn("experiments/train_", text)
            for left in ("checkpoint", "CHECKPOINT", "policy: random", "seed: 0", "workers: 2"):
                self.assertNotIn(left, text, experiment)


class Page(unittest.TestCase):
    def setUp(self):
        self.directory = scratch_directory(self)
        self.page = self.directory / "README.md"
        self.page.write_text(PAGE)

    def report(self):
        return subprocess.run([sys.executable, REPORT, self.directory, "--tables", self.directory, "--page", self.page,
                               "--live", self.directory / "live.csv"], capture_output=True, text=True)

    def written(self):
        """The page after the report, and what the report said."""
        answer = self.report()
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return self.page.read_text(), answer.stdout

    def test_page_and_panels_are_written(self):
        draw = random.Random(1)
        write_comparison(self.directory, lambda policy, table, seed: draw.random() + (policy != "bapi-4"))
        text, _ = self.written()
        self.assertNotIn("old", text)
        self.assertIn("| `bapi-4` | 2.90 ± 0.51 | 1.00 ± 0.00 | 1.00 ± 0.00 |", text)
        self.assertIn("Nothing was run live", text)
        xml.etree.ElementTree.parse(self.directory / "panels-5full.svg")
        figure = xml.etree.ElementTree.parse(self.directory / "ranks.svg")
        labels = [text.text for text in figure.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([label for label in labels if label.startswith("bapi-4 ")], ["bapi-4 2.9", "bapi-4 1.0", "bapi-4 1.0"])

    def test_variants_stand_next_to_bapi_4_and_verdicts_are_counted(self):
        def regret(policy, table, seed):
            of_table = 0.5 + 0.1 * TABLES.index(table)
            if policy == "bapi-4-agents":
                return of_table + 0.02 * (1 + seed)
            if policy == "bapi-8":
                return of_table + (0.1 if table in ("logreg-mnist", "mlp-olivetti") else -0.05)
            return of_table

        write_comparison(self.directory, regret)
        text, _ = self.written()
        # Means of 0.5 and 0.6 and, for the agents, of (0.7 + 0.8) / 2 and 0.9.
        self.assertIn("| `bapi-4` | 0.550 ± 0.050 | 0.825 ± 0.075 | 0.550 ± 0.050 | 0.825 ± 0.075 |", text)
        self.assertIn("| `bapi-8` | +0.100 ± 0.000 | -0.050 ± 0.000 | +0.100 ± 0.000 | -0.050 ± 0.000 |", text)
        self.assertIn("With 2 seeds at 5full, 2 seeds at 20full.", text)
        self.assertEqual(text.count("\nWith 2 seeds.\n"), 2)   # below the tables of the eight and of the variants
        # Two runs of the dueling network, and two on each of two tables of the arm; nothing was run of the third agent.
        self.assertIn("CartPole | 0.900 ± 0.000 | +0.030 ± 0.010 | 0.900 ± 0.000 | +0.030 ± 0.010 |", text)
        self.assertIn("Reacher | 0.750 ± 0.029 | +0.030 ± 0.006 | 0.750 ± 0.029 | +0.030 ± 0.006 |", text)
        self.assertIn("InvertedPendulum | - | - | - | - |", text)
        verdicts = re.findall(r"\| \*([a-z ]+)\* \|$", text, re.MULTILINE)
        total, counts = re.search(r"^(\d+) statements: (.*)\.$", text, re.MULTILINE).groups()
        self.assertEqual(int(total), len(verdicts))
        self.assertEqual({verdict: int(number) for number, verdict in re.findall(r"(\d+) \*([a-z ]+)\*", counts)},
                         dict(collections.Counter(verdicts)))

    def test_a_budget_that_is_not_finished_is_left_out(self):
        write_comparison(self.directory, lambda policy, table, seed: 0.1 * seed, budgets=("5full",))
        with (self.directory / "runs.log").open("a") as log:
            log.write(json.dumps(run_record("ei", "logreg-mnist", 0, "20full", 0.2)) + "\n")
        text, said = self.written()
        self.assertIn("20full is left out", said)
        self.assertIn("`glasses`", text)
        self.assertNotIn("20full", text)

    def test_a_comparison_without_a_whole_experiment_is_refused(self):
        (self.directory / "INDEX.csv").write_text(INDEX_HEAD + "logreg-mnist.csv,error,minimize,0.25,2\n")
        (self.directory / "runs.log").write_text(json.dumps(run_record("ei", "logreg-mnist", 0, "5full", 0.2)) + "\n")
        answer = self.report()
        self.assertEqual(answer.returncode, 1)
        self.assertIn("make experiments-compare", answer.stderr)
        self.assertEqual(self.page.read_text(), PAGE)


if __name__ == "__main__":
    unittest.main()

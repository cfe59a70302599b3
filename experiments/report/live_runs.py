"""What experiments/live.py found, next to the replay of the same policies."""

import collections
import csv
import dataclasses
import statistics

from replay import EXPERIMENTS, experiment_of, ranks_of


def read_live(path):
    """{(experiment, budget): {policy: [best value of each seed]}}."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            found[line["experiment"], f"{line['fulls']}full"][line["policy"]].append(float(line["best"]))
    return found


def rank_correlation(first, second):
    """Spearman's; 0 where all values of a list are the same."""
    a, b = ranks_of(first), ranks_of(second)
    return statistics.correlation(a, b) if len(set(a)) > 1 and len(set(b)) > 1 else 0.0


@dataclasses.dataclass
class Comparison:
    """Means of each policy, live and replayed, so that smaller is better."""

    live: list
    replayed: list

    def line(self, head, show):
        cells = [*map(str, head), *(f"{show(a)} ({show(b)})" for a, b in zip(self.live, self.replayed))]
        return "| " + " | ".join([*cells, f"{rank_correlation(self.live, self.replayed):+.1f}"]) + " |"


def replayed_values(replay, experiment, policy, budget):
    runs = replay.of(experiment, policy, budget)
    if not runs:
        raise SystemExit(f"{experiment} was run live at {budget}, but {policy} was not replayed there; "
                         "finish the comparison with make experiments-compare")
    return [replay.tables[run.table].value(run.regret) for run in runs]


def sign_of(replay, experiment):
    """-1 where larger values are better."""
    goals = {table.goal for name, table in replay.tables.items() if experiment_of(name) == experiment}
    return -1 if goals == {"maximize"} else 1


def live_table(replay, path):
    if not path.exists():
        return ["Nothing was run live; `make experiments-live DATA=dir` does."]
    found = read_live(path)
    policies = list(next(iter(found.values())))
    titles = ["live (replayed)", "budget", "seeds", *(f"`{policy}`" for policy in policies), "rank correlation"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    ranks = []
    for (experiment, budget), values in found.items():
        sign = sign_of(replay, experiment)
        means = Comparison([sign * statistics.fmean(values[policy]) for policy in policies],
                           [sign * statistics.fmean(replayed_values(replay, experiment, policy, budget))
                            for policy in policies])
        seeds = len(values[policies[0]])
        lines.append(means.line([EXPERIMENTS[experiment], budget, seeds], lambda value, sign=sign: f"{sign * value:.4g}"))
        ranks.append((ranks_of(means.live), ranks_of(means.replayed)))
    average = Comparison(*([statistics.fmean(column) for column in zip(*rows)] for rows in zip(*ranks)))
    return [*lines, average.line(["average rank", "", ""], lambda value: f"{value:.2f}")]

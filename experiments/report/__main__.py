"""Writes the results of `make experiments-compare` into experiments/README.md, and the figures next to it.

  experiments/report COMPARISON [--tables experiments/tables] [--page experiments/README.md]

COMPARISON is the directory of `bapi compare`. A table of the page stands between the lines `<!-- results: NAME -->` and
`<!-- end of results -->`; everything between them is replaced.
"""

import argparse
import collections
import pathlib
import re
import statistics

import panels
import rank_figure
from live_runs import live_table
from rank_tests import critical_difference, friedman
from replay import AGENTS, EXPERIMENTS, Replay, task_of
from statements import EIGHT, PAPER_RANKS, Statements

ABLATIONS = ("bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm")
VARIANTS = ABLATIONS + ("bapi",)
VERDICTS = ("confirmed", "not confirmed", "reversed", "no data")
PAPER_SETTINGS = {"bapi-4-svhn": ("cnn-svhn-25", "cnn-svhn-50"), "bapi-4-agents": AGENTS}
OTHERS = ("asha", "top-k", "one-epoch", "glasses", "random")


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*cells):
    return [row(*cells), "|" + "---|" * len(cells)]


def with_error(estimate, error):
    return f"{estimate:.2f} ± {error:.2f}"


def seeds_of(replay, budget, policies):
    """How many all of the policies share, on each experiment that they share."""
    counts = sorted({len(replay.seeds(name, policies, budget)) for name in replay.experiments(policies, budget)})
    if not counts:
        return "no seeds"
    numbers = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{numbers} seed{'s' if numbers != '1' else ''}"


def task_means(names, rows):
    """Mean ranks of each task, of which one or two experiments were run."""
    tasks = {}
    for name, ranks in zip(names, rows):
        tasks.setdefault(task_of(name), []).append(ranks)
    return [[statistics.fmean(column) for column in zip(*group)] for group in tasks.values()]


def ranks_by_experiment(replay, budget):
    """Experiments, and for each of them the ranks of the eight methods."""
    names = replay.experiments(EIGHT, budget)
    return names, [[replay.ranks(name, EIGHT, budget)[method] for method in EIGHT] for name in names]


def rank_table(replay):
    """Of the experiments; then of the tasks, where these are fewer."""
    budgets = replay.budgets()
    by_experiment, by_task, notes = {}, {}, []   # by_task has the budgets at which two experiments share a task
    for budget in budgets:
        names, rows = ranks_by_experiment(replay, budget)
        tasks = task_means(names, rows)
        by_experiment[budget] = mean_ranks(rows)
        if len(tasks) < len(names):
            by_task[budget] = mean_ranks(tasks)
        chi_squared, p = friedman(rows)
        notes.append(f"{budget}: {len(names)} experiments, {len(tasks)} tasks, {seeds_of(replay, budget, EIGHT)}, "
                     f"Friedman chi² {chi_squared:.1f}, p {p:.2g}, critical difference "
                     f"{critical_difference(len(EIGHT), len(names)):.1f} ranks")
    lines = head("method", "paper", *budgets, *(f"{budget}, tasks" for budget in by_task))
    for j, method in enumerate(EIGHT):
        ranks = [means[j] for means in (*by_experiment.values(), *by_task.values())]
        lines.append(row(f"`{method}`", *(with_error(*rank) for rank in [PAPER_RANKS[method], *ranks])))
    return [*lines, "", *(f"- {note}." for note in notes), "", "![Critical differences](ranks.svg)"]


def rank_diagrams(replay):
    """The paper's ranks and those at each budget, as rank_figure.draw takes them."""
    diagrams = [("paper", {method: rank for method, (rank, _) in PAPER_RANKS.items()}, len(EXPERIMENTS))]
    for budget in replay.budgets():
        names, rows = ranks_by_experiment(replay, budget)
        means = {method: mean for method, (mean, _) in zip(EIGHT, mean_ranks(rows))}
        diagrams.append((budget, means, len(names)))
    return diagrams


def mean_ranks(rows):
    """(mean, standard error) of each method."""
    return [panels.mean_and_error(column) for column in zip(*rows)]


def experiment_table(replay, candidates):
    """Normalised regret at the middle budget of those candidates that were run there."""
    budgets = replay.budgets()
    budget = budgets[len(budgets) // 2]
    policies = [policy for policy in candidates if replay.experiments(["bapi-4", policy], budget)]
    lines = head(f"experiment, {budget}", *(f"`{policy}`" for policy in policies))
    columns = []
    for name in replay.experiments(policies, budget):
        runs = replay.paired(name, policies, budget)
        cells = [panels.mean_and_error([run.regret for run in runs[policy]]) for policy in policies]
        columns.append([mean for mean, _ in cells])
        lines.append(row(EXPERIMENTS[name], *best_in_bold(cells)))
    if columns:
        means = [panels.mean_and_error(column) for column in zip(*columns)]
        lines.append(row("mean ± s.e. over experiments", *best_in_bold(means)))
    return [*lines, "", f"With {seeds_of(replay, budget, policies)}."]


def ablation_table(replay):
    """Mean regret of BAPI-4 over networks and over agents at each budget; for each variant the difference from it, over
    the experiments that both were run on."""
    budgets = replay.budgets()
    kinds = {"networks": lambda name: name not in AGENTS, "agents": lambda name: name in AGENTS}
    lines = head("policy", *(f"{budget}, {kind}" for budget in budgets for kind in kinds))
    for policy in ABLATIONS:
        cells = []
        for budget in budgets:
            shared = replay.experiments(["bapi-4", policy], budget)
            for is_of_kind in kinds.values():
                cells.append(ablation_cell(replay, policy, budget, [name for name in shared if is_of_kind(name)]))
        lines.append(row(f"`{policy}`", *cells))
    seeds = (f"{seeds_of(replay, budget, ABLATIONS)} at {budget}" for budget in budgets)
    return [*lines, "", f"With {', '.join(seeds)}."]


def ablation_cell(replay, policy, budget, names):
    if not names:
        return "-"
    pairs = [replay.regrets(name, ["bapi-4", policy], budget) for name in names]
    if policy == "bapi-4":
        return "{:.3f} ± {:.3f}".format(*panels.mean_and_error([regrets[policy] for regrets in pairs]))
    return "{:+.3f} ± {:.3f}".format(*panels.mean_and_error([regrets[policy] - regrets["bapi-4"] for regrets in pairs]))


def settings_table(replay):
    """Regret of bapi-4 where the paper gives it other settings, and how much more it has with those, over pairs of runs."""
    budgets = replay.budgets()
    lines = head("experiment", *(f"{budget}{what}" for budget in budgets for what in ("", ", settings of the paper")))
    for policy, names in PAPER_SETTINGS.items():
        for name in names:
            cells = [cell for budget in budgets for cell in pair_cells(replay, name, policy, budget)]
            lines.append(row(EXPERIMENTS[name], *cells))
    return lines


def pair_cells(replay, name, policy, budget):
    runs = replay.paired(name, ["bapi-4", policy], budget)
    if not runs:
        return "-", "-"
    first, second = ([run.regret for run in of_policy] for of_policy in runs.values())
    return ("{:.3f} ± {:.3f}".format(*panels.mean_and_error(first)),
            "{:+.3f} ± {:.3f}".format(*panels.mean_and_error([b - a for a, b in zip(first, second)])))


def best_in_bold(cells):
    least = min(mean for mean, _ in cells)
    return [f"**{m:.3f}** ± {e:.3f}" if m == least else f"{m:.3f} ± {e:.3f}" for m, e in cells]


def statement_table(replay):
    statements = Statements(replay)
    rows = []
    for finding in statements.findings():
        number = f"{finding.estimate:+.2f} ± {finding.error:.2f} (n = {finding.count})" if finding.count > 1 else "-"
        rows.append((finding.statement, finding.measure, number, finding.verdict))
    rows.append(("With a large budget most methods end with comparable results",
                 f"of the eight, within the critical difference of the best, {statements.large}",
                 *comparable_at_the_end(statements)))
    verdicts = collections.Counter(verdict for *_, verdict in rows)
    counts = ", ".join(f"{verdicts[verdict]} *{verdict}*" for verdict in VERDICTS if verdicts[verdict])
    return [*head("the paper says", "measured", "number", "verdict"),
            *(row(*cells, f"*{verdict}*") for *cells, verdict in rows), "", f"{len(rows)} statements: {counts}."]


def comparable_at_the_end(statements):
    """Number and verdict."""
    if statements.large == statements.tight:
        return "-", "no data"
    count = statements.comparable_at_the_end()
    return count, "confirmed" if count > len(EIGHT) / 2 else "not confirmed"


def panel_links(budgets):
    return [line for budget in budgets for line in (f"![Best value against seconds, {budget}](panels-{budget}.svg)", "")]


def put_into(page, tables):
    text = page.read_text()
    for name, lines in tables.items():
        pattern = re.compile(rf"(<!-- results: {name} -->\n).*?(<!-- end of results -->)", re.DOTALL)
        text, count = pattern.subn(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], text)
        if count != 1:
            raise SystemExit(f"{page}: {count} tables with the name {name}, expected 1")
    page.write_text(text)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparison", type=pathlib.Path, help="Directory of bapi compare")
    parser.add_argument("--tables", type=pathlib.Path, default=here / "tables", help="Directory of the recorded tables")
    parser.add_argument("--page", type=pathlib.Path, default=here / "README.md", help="Page to write the results into")
    parser.add_argument("--live", type=pathlib.Path, default=here / "live.csv", help="Results of experiments/live.py")
    arguments = parser.parse_args()
    replay = Replay(arguments.comparison / "runs.log", arguments.tables / "INDEX.csv")
    unfinished = replay.keep_finished(EIGHT)
    if not replay.budgets():
        raise SystemExit(f"{arguments.comparison}: fewer than two experiments have the runs of all methods at any budget; "
                         "finish the comparison with make experiments-compare")
    for budget in unfinished:
        print(f"{budget} is left out: fewer than two experiments have the runs of all methods")
    put_into(arguments.page, {"ranks": rank_table(replay), "panels": panel_links(replay.budgets()),
                              "eight": experiment_table(replay, EIGHT),
                              "variants": experiment_table(replay, VARIANTS + OTHERS),
                              "ablations": ablation_table(replay), "settings": settings_table(replay),
                              "statements": statement_table(replay),
                              "live": live_table(replay, arguments.live)})
    (arguments.page.parent / "ranks.svg").write_text(rank_figure.draw(rank_diagrams(replay)))
    for budget in replay.budgets():
        (arguments.page.parent / f"panels-{budget}.svg").write_text(panels.draw(replay, budget))


if __name__ == "__main__":
    main()

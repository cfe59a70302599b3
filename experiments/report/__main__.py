"""Writes the results of `make experiments-compare` into experiments/README.md, and the panels next to it.

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
from live_runs import live_table
from rank_tests import critical_difference, friedman
from replay import AGENTS, EXPERIMENTS, Replay, task_of
from statements import EIGHT, PAPER_RANKS, Statements

ABLATIONS = ("bapi-4", "bapi-8", "bapi-4-l", "bapi-4-nm")
VARIANTS = ABLATIONS + ("bapi",)
VERDICTS = ("confirmed", "not confirmed", "reversed", "no data")
OTHERS = ("asha", "top-k", "one-epoch", "glasses", "random")


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*cells):
    return [row(*cells), "|" + "---|" * len(cells)]


def with_error(estimate, error):
    return f"{estimate:.2f} ± {error:.2f}"


def seeds_of(replay, budget, names):
    counts = sorted({len(replay.seeds(name, "bapi-4", budget)) for name in names})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def task_means(names, rows):
    """Mean ranks of each task, of which one or two experiments were run."""
    tasks = {}
    for name, ranks in zip(names, rows):
        tasks.setdefault(task_of(name), []).append(ranks)
    return [[statistics.fmean(column) for column in zip(*group)] for group in tasks.values()]


def rank_table(replay):
    """Of the experiments; then of the tasks, where these are fewer."""
    budgets = replay.budgets()
    by_experiment, by_task, notes = {}, {}, []   # by_task has the budgets at which two experiments share a task
    for budget in budgets:
        names = replay.experiments(EIGHT, budget)
        rows = [[replay.ranks(name, EIGHT, budget)[method] for method in EIGHT] for name in names]
        tasks = task_means(names, rows)
        by_experiment[budget] = mean_ranks(rows)
        if len(tasks) < len(names):
            by_task[budget] = mean_ranks(tasks)
        chi_squared, p = friedman(rows)
        notes.append(f"{budget}: {len(names)} experiments, {len(tasks)} tasks, {seeds_of(replay, budget, names)} seeds, "
                     f"Friedman chi² {chi_squared:.1f}, p {p:.2g}, critical difference "
                     f"{critical_difference(len(EIGHT), len(names)):.1f} ranks")
    lines = head("method", "paper", *budgets, *(f"{budget}, tasks" for budget in by_task))
    for j, method in enumerate(EIGHT):
        ranks = [means[j] for means in (*by_experiment.values(), *by_task.values())]
        lines.append(row(f"`{method}`", *(with_error(*rank) for rank in [PAPER_RANKS[method], *ranks])))
    return [*lines, "", *(f"- {note}." for note in notes)]


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
        cells = [panels.mean_and_error([run.regret for run in replay.of(name, policy, budget)]) for policy in policies]
        columns.append([mean for mean, _ in cells])
        lines.append(row(EXPERIMENTS[name], *best_in_bold(cells)))
    if columns:
        means = [panels.mean_and_error(column) for column in zip(*columns)]
        lines.append(row("mean ± s.e. over experiments", *best_in_bold(means)))
    return lines


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
    seeds = (f"{seeds_of(replay, budget, replay.experiments(['bapi-4'], budget))} seeds at {budget}" for budget in budgets)
    return [*lines, "", f"With {', '.join(seeds)}."]


def ablation_cell(replay, policy, budget, names):
    if not names:
        return "-"
    regrets = [replay.regret(name, policy, budget) for name in names]
    if policy == "bapi-4":
        return "{:.3f} ± {:.3f}".format(*panels.mean_and_error(regrets))
    differences = [regret - replay.regret(name, "bapi-4", budget) for name, regret in zip(names, regrets)]
    return "{:+.3f} ± {:.3f}".format(*panels.mean_and_error(differences))


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
    unfinished = replay.keep_finished((*EIGHT, "bapi", "random"))
    if not replay.budgets():
        raise SystemExit(f"{arguments.comparison}: fewer than two experiments have the runs of all methods at any budget; "
                         "finish the comparison with make experiments-compare")
    for budget in unfinished:
        print(f"{budget} is left out: fewer than two experiments have the runs of all methods")
    put_into(arguments.page, {"ranks": rank_table(replay), "panels": panel_links(replay.budgets()),
                              "eight": experiment_table(replay, EIGHT),
                              "variants": experiment_table(replay, VARIANTS + OTHERS),
                              "ablations": ablation_table(replay),
                              "statements": statement_table(replay),
                              "live": live_table(replay, arguments.live)})
    for budget in replay.budgets():
        (arguments.page.parent / f"panels-{budget}.svg").write_text(panels.draw(replay, budget))


if __name__ == "__main__":
    main()

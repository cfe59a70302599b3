"""What the paper says of its results, each as a number that is positive where the statement holds."""

import dataclasses
import math
import statistics

from rank_tests import critical_difference, jackknife, t_quantile
from replay import AGENTS

# The paper's table of average ranks, with their errors.
PAPER_RANKS = {"bapi-4": (2.9, 0.51), "ms-ei": (3.4, 0.50), "bohb": (3.6, 0.67), "bms-ei": (4.2, 0.73),
               "binoculars": (4.3, 0.38), "ei": (4.9, 0.53), "hyperband": (6.1, 0.51), "boil": (6.3, 0.63)}
EIGHT = tuple(PAPER_RANKS)
HALVING = ("hyperband", "bohb")
FULL_PLANNERS = ("binoculars", "ms-ei")
BASELINES = EIGHT[1:]
LATE, MIDDLE, EARLY = 1.0, 0.5, 0.1  # shares of the budget


@dataclasses.dataclass
class Finding:
    statement: str
    measure: str
    estimate: float = math.nan
    error: float = math.inf
    count: int = 0            # experiments, or pairs of runs

    @property
    def verdict(self):
        """By Student's t at 5 %, two-sided."""
        if self.count < 2:
            return "no data"
        least = t_quantile(self.count - 1) * self.error
        if self.estimate > least:
            return "confirmed"
        return "reversed" if self.estimate < -least else "not confirmed"


class Statements:
    """Findings at a tight, a middle and a large budget."""

    def __init__(self, replay):
        self.replay = replay
        budgets = replay.budgets()
        self.tight, self.middle, self.large = budgets[0], budgets[len(budgets) // 2], budgets[-1]

    def mean_rank(self, experiments, methods, budget, share=LATE, among=EIGHT):
        ranks = [self.replay.ranks(name, among, budget, share) for name in experiments]
        return statistics.fmean(row[method] for row in ranks for method in methods)

    def lead(self, methods, budget, share=LATE, among=EIGHT):
        """By how many ranks the methods are ahead of the others."""
        rest = [method for method in among if method not in methods]
        return lambda names: (self.mean_rank(names, rest, budget, share, among)
                              - self.mean_rank(names, methods, budget, share, among))

    def over_experiments(self, statement, measure, statistic, budgets, among=EIGHT, which=lambda name: True):
        if len(set(budgets)) < len(budgets):   # a comparison with one budget says nothing of its growth
            return Finding(statement, measure)
        names = [name for name in self.replay.experiments(among, budgets[0]) if which(name)]
        for budget in budgets[1:]:
            names = [name for name in names if name in self.replay.experiments(among, budget)]
        if len(names) < 2:
            return Finding(statement, measure, count=len(names))
        estimate, error = jackknife(statistic, names)
        return Finding(statement, measure, estimate, error, len(names))

    def over_runs(self, statement, measure, experiment, better, worse, budget):
        """How much more regret `worse` has than `better`, over pairs of runs with the same seed."""
        pairs = list(zip(*self.replay.paired(experiment, [better, worse], budget).values()))
        if len(pairs) < 2:
            return Finding(statement, measure)
        estimate, error = jackknife(lambda some: statistics.fmean(b.regret - a.regret for a, b in some), pairs)
        return Finding(statement, measure, estimate, error, len(pairs))

    def regret_gap(self, better, worse, budget):
        def gap(name):
            regrets = self.replay.regrets(name, [better, worse], budget)
            return regrets[worse] - regrets[better]
        return lambda names: statistics.fmean(gap(name) for name in names)

    def more_epochs(self, method, budget):
        """Ranks that the method loses from 25 to 50 epochs."""
        def lost(names):
            return statistics.fmean(self.mean_rank([name], [method], budget)
                                    - self.mean_rank([name.replace("-50", "-25")], [method], budget) for name in names)
        return lost

    def agents_minus_networks(self, methods, budget):
        def difference(names):
            agents = [name for name in names if name in AGENTS]
            networks = [name for name in names if name not in AGENTS]
            return self.mean_rank(agents, methods, budget) - self.mean_rank(networks, methods, budget)
        return difference

    def spread_of(self, method, budget):
        """How much more the method's ranks vary between experiments than those of the others do on average."""
        def more(names):
            def sd(one):
                return statistics.stdev(self.replay.ranks(name, EIGHT, budget)[one] for name in names)
            return sd(method) - statistics.fmean(sd(other) for other in EIGHT if other != method)
        return more

    def findings(self):
        tight, middle, large = self.tight, self.middle, self.large
        over, lead = self.over_experiments, self.lead
        with_l, with_nm = ("bapi-4-l", *BASELINES), ("bapi-4-nm", *BASELINES)

        def is_agent(name):
            return name in AGENTS

        def has_pair(name):
            return name.endswith("-50")

        return [
            over("BAPI finds better candidates at less cost than the baselines (limited budget)",
                 f"ranks ahead of the other seven, {tight}", lead(["bapi-4"], tight), [tight]),
            over("BAPI stays competitive with higher budgets", f"ranks ahead of the other seven, {large}",
                 lead(["bapi-4"], large), [large, tight]),
            over("BAPI becomes less competitive when the budget grows", f"ranks lost from {tight} to {large}",
                 lambda names: (self.mean_rank(names, ["bapi-4"], large) - self.mean_rank(names, ["bapi-4"], tight)),
                 [tight, large]),
            over("BAPI becomes less competitive with more epochs", f"ranks lost from t_max 25 to 50, {middle}",
                 self.more_epochs("bapi-4", middle), [middle], which=has_pair),
            self.over_runs("Horizon 8 is worse than 4 on logistic regression", f"regret of 8 minus that of 4, {middle}",
                           "logreg-mnist", "bapi-4", "bapi-8", middle),
            self.over_runs("Horizon 8 is better than 4 on Olivetti", f"regret of 4 minus that of 8, {middle}",
                           "mlp-olivetti", "bapi-8", "bapi-4", middle),
            over("BAPI does well everywhere, the baselines are inconsistent",
                 f"mean s.d. of the others' ranks minus that of its own, {middle}",
                 lambda names: -self.spread_of("bapi-4", middle)(names), [middle]),
            over("BMS-EI is unstable", f"s.d. of its ranks minus the others' mean, {middle}",
                 self.spread_of("bms-ei", middle), [middle]),
            over("HB and BOHB are faster than most in the beginning", f"ranks ahead after 10 % of {large}",
                 lead(HALVING, large, EARLY), [large]),
            over("HB and BOHB slow down in the middle", f"ranks lost from 10 % to 50 % of {large}",
                 lambda names: (self.mean_rank(names, HALVING, large, MIDDLE)
                                - self.mean_rank(names, HALVING, large, EARLY)), [large]),
            over("HB does not always converge to good results", f"ranks behind the others, {large}",
                 lambda names: -lead(["hyperband"], large)(names), [large]),
            over("BOHB catches up with longer search", f"ranks won from 50 % to the end of {large}",
                 lambda names: (self.mean_rank(names, ["bohb"], large, MIDDLE)
                                - self.mean_rank(names, ["bohb"], large)), [large]),
            over("HB and BOHB degrade on the agents", f"rank on agents minus rank on networks, {middle}",
                 self.agents_minus_networks(HALVING, middle), [middle]) if self.has_both(middle)
            else Finding("HB and BOHB degrade on the agents", "rank on agents minus rank on networks"),
            over("BOHB is stronger with more epochs", f"ranks won from t_max 25 to 50, {middle}",
                 lambda names: -self.more_epochs("bohb", middle)(names), [middle], which=has_pair),
            over("With more epochs BOHB drops earlier than all others", f"ranks ahead after 10 % of {large}, t_max 50",
                 lead(["bohb"], large, EARLY), [large], which=has_pair),
            over("BINOCULARS and MS-EI are slower in the beginning", f"ranks behind after 10 % of {large}",
                 lambda names: -self.lead(FULL_PLANNERS, large, EARLY)(names), [large]),
            over("BINOCULARS and MS-EI are competitive at the end", f"ranks ahead of the others, {large}",
                 lead(FULL_PLANNERS, large), [large]),
            over("BOIL is worse than most", f"ranks behind the others, {middle}",
                 lambda names: -lead(["boil"], middle)(names), [middle]),
            over("GLASSES and random search perform poorly", f"ranks behind the eight, {middle}",
                 lambda names: -lead(["glasses", "random"], middle, among=EIGHT + ("glasses", "random"))(names),
                 [middle], among=EIGHT + ("glasses", "random")),
            over("BAPI is better than or similar to the baselines on the agents", f"ranks ahead, {middle}",
                 lead(["bapi-4"], middle), [middle], which=is_agent),
            over("BAPI-4-L is competitive", f"ranks ahead of the seven baselines, {middle}",
                 lead(["bapi-4-l"], middle, among=with_l), [middle], among=with_l),
            over("BAPI-4-L is sometimes better on networks", f"regret of BAPI-4 minus that of -L, {middle}",
                 self.regret_gap("bapi-4-l", "bapi-4", middle), [middle], among=("bapi-4", "bapi-4-l"),
                 which=lambda name: not is_agent(name)),
            over("BAPI-4-L makes up for large budgets", f"regret of BAPI-4 minus that of -L, {large}",
                 self.regret_gap("bapi-4-l", "bapi-4", large), [large, tight], among=("bapi-4", "bapi-4-l")),
            over("BAPI-4-L is worse than BAPI-4 on the agents", f"regret of -L minus that of BAPI-4, {middle}",
                 self.regret_gap("bapi-4", "bapi-4-l", middle), [middle], among=("bapi-4", "bapi-4-l"), which=is_agent),
            over("Without monotonicity (BAPI-4-NM) BAPI is worse", f"regret of -NM minus that of BAPI-4, {middle}",
                 self.regret_gap("bapi-4", "bapi-4-nm", middle), [middle], among=("bapi-4", "bapi-4-nm")),
            over("BAPI-4-NM is still competitive", f"ranks ahead of the seven baselines, {middle}",
                 lead(["bapi-4-nm"], middle, among=with_nm), [middle], among=with_nm),
        ]

    def has_both(self, budget):
        """Enough of both kinds that one experiment can be left out."""
        names = self.replay.experiments(EIGHT, budget)
        agents = sum(name in AGENTS for name in names)
        return agents >= 2 and len(names) - agents >= 2

    def comparable_at_the_end(self):
        """How many of the eight are within the critical difference of the best at the largest budget."""
        names = self.replay.experiments(EIGHT, self.large)
        means = [self.mean_rank(names, [method], self.large) for method in EIGHT]
        return sum(mean - min(means) < critical_difference(len(EIGHT), len(names)) for mean in means)

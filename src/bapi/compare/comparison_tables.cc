#include "bapi/compare/comparison_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "bapi/report/text.h"

namespace bapi {
namespace {

std::string verdict(const Duel& duel) { return duel.adjusted_p < 0.05 ? "yes" : "no"; }

const Duel* duel_with(const Ranking& ranking, const std::string& policy) {
  for (const Duel& duel : ranking.duels) {
    if (duel.rival == policy) return &duel;
  }
  return nullptr;
}

std::string heading(const Ranking& ranking) {
  return fmt::format("budget {}, {}: {}, {}",
                     ranking.budget,
                     plural(ranking.workers, "worker"),
                     plural(ranking.tables, "table"),
                     plural(ranking.seeds, "seed"));
}

}  // namespace

std::string with_error(const MeanAndError& value, int decimals) {
  if (std::isnan(value.error)) return fmt::format("{:.{}f}", value.mean, decimals);
  return fmt::format("{:.{}f} ± {:.{}f}", value.mean, decimals, value.error, decimals);
}

std::string p_text(double p) { return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p); }

std::string tests_text(const Ranking& ranking) {
  if (ranking.duels.empty()) return "";
  const FriedmanTest& friedman = ranking.friedman;
  // Where all tables agree, F is infinite however few they are: it says nothing then.
  const bool known = std::isfinite(friedman.f);
  return fmt::format(
      "Friedman chi² {:.2f} on {:.0f}, p {}; Iman-Davenport F {} on ({:.0f}, {:.0f}), p {}; Nemenyi critical "
      "difference {:.2f} ranks",
      friedman.chi_squared,
      friedman.degrees,
      p_text(friedman.p),
      known ? fmt::format("{:.2f}", friedman.f) : "–",
      friedman.degrees,
      friedman.f_degrees,
      known ? p_text(friedman.f_p) : "–",
      ranking.critical_difference);
}

Table runs_table(std::span<const RunRecord> records) {
  Table table({"table",
               "policy",
               "seed",
               "budget",
               "workers",
               "final",
               "regret",
               "normalised_regret",
               "spent",
               "decisions",
               "overhead_seconds"});
  for (const RunRecord& run : records) {
    table.add({run.key.table,
               run.key.policy,
               run.key.seed,
               run.key.budget,
               run.key.workers,
               run.final ? Cell(*run.final) : Cell(),
               run.regret,
               run.normalised_regret,
               run.spent,
               run.decisions,
               run.overhead_seconds});
  }
  return table;
}

Table ranks_table(std::span<const Ranking> rankings) {
  Table table({"budget",
               "workers",
               "policy",
               "rank",
               "rank_error",
               "seed_rank",
               "seed_rank_error",
               "normalised_regret",
               "normalised_regret_error",
               "tables",
               "seeds"});
  for (const Ranking& ranking : rankings) {
    for (const PolicyStanding& s : ranking.standings) {
      table.add({ranking.budget,
                 ranking.workers,
                 s.policy,
                 s.rank.mean,
                 s.rank.error,
                 s.seed_rank.mean,
                 s.seed_rank.error,
                 s.regret.mean,
                 s.regret.error,
                 ranking.tables,
                 ranking.seeds});
    }
  }
  return table;
}

Table curves_table(std::span<const AnytimeCurve> curves) {
  Table table({"table", "policy", "budget", "workers", "fraction", "normalised_regret", "normalised_regret_error"});
  const std::vector<double> grid = anytime_grid();
  for (const AnytimeCurve& curve : curves) {
    for (std::size_t i = 0; i < grid.size(); ++i) {
      table.add({curve.table.empty() ? "all" : curve.table,
                 curve.policy,
                 curve.budget,
                 curve.workers,
                 grid[i],
                 curve.regret[i].mean,
                 curve.regret[i].error});
    }
  }
  return table;
}

Table duels_table(std::span<const Ranking> rankings) {
  Table table({"budget", "workers", "best", "rival", "wins", "ties", "losses", "p", "adjusted_p"});
  for (const Ranking& ranking : rankings) {
    for (const Duel& duel : ranking.duels) {
      table.add({ranking.budget,
                 ranking.workers,
                 ranking.standings.front().policy,
                 duel.rival,
                 duel.wins,
                 duel.ties,
                 duel.losses,
                 duel.test.p,
                 duel.adjusted_p});
    }
  }
  return table;
}

std::string summary_text(std::span<const Ranking> rankings) {
  std::string text;
  for (const Ranking& ranking : rankings) {
    Table table(
        {"policy", "rank", "seed rank", "normalised regret", "ms/decision", "best wins", "p (Holm)", "differs"});
    for (const PolicyStanding& s : ranking.standings) {
      const Duel* duel = duel_with(ranking, s.policy);
      table.add({s.policy,
                 with_error(s.rank, 2),
                 with_error(s.seed_rank, 2),
                 with_error(s.regret, 4),
                 short_number(1000.0 * s.seconds_per_decision),
                 duel ? Cell(fmt::format("{}/{}/{}", duel->wins, duel->ties, duel->losses)) : Cell(),
                 duel ? Cell(p_text(duel->adjusted_p)) : Cell(),
                 duel ? Cell(verdict(*duel)) : Cell()});
    }
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", heading(ranking), render(table, Format::table));
    if (!ranking.duels.empty()) text += tests_text(ranking) + "\n";
  }
  return text;
}

Cell summary_cell(std::span<const Ranking> rankings) {
  std::vector<Cell> list;
  for (const Ranking& ranking : rankings) {
    const std::span<const Ranking> one(&ranking, 1);
    list.emplace_back(Fields{{"budget", ranking.budget},
                             {"workers", ranking.workers},
                             {"tables", ranking.tables},
                             {"seeds", ranking.seeds},
                             {"ranks", list_of(ranks_table(one))},
                             {"duels", list_of(duels_table(one))},
                             {"friedman",
                              Fields{{"chi_squared", ranking.friedman.chi_squared},
                                     {"p", ranking.friedman.p},
                                     {"f", ranking.friedman.f},
                                     {"f_p", std::isfinite(ranking.friedman.f) ? Cell(ranking.friedman.f_p) : Cell()}}},
                             {"critical_difference", ranking.critical_difference}});
  }
  return Cell(std::move(list));
}

}  // namespace bapi

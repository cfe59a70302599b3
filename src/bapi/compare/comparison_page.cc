#include "bapi/compare/comparison_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "bapi/base/error.h"
#include "bapi/compare/assets.h"
#include "bapi/compare/comparison_figures.h"
#include "bapi/compare/comparison_tables.h"
#include "bapi/compare/critical_difference.h"
#include "bapi/report/svg.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

// Tables beyond this many are folded away until they are asked for.
constexpr std::size_t kMostOpenTables = 8;

// `page` with what stands for each {{name}}. Nothing is looked for in the texts themselves.
std::string filled(std::string_view page, const std::map<std::string_view, std::string_view>& texts) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    out += texts.at(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
}

std::string html(std::string_view text) { return xml_escaped(text); }

std::string heading_of(const std::string& budget, int workers) {
  return html(fmt::format("Budget {}, {}", budget, plural(workers, "worker")));
}

class Report {
 public:
  Report(const Comparison& comparison, std::span<const Ranking> rankings, std::span<const AnytimeCurve> curves)
      : comparison_(comparison), rankings_(rankings), strokes_(policy_strokes(rankings)) {
    for (const AnytimeCurve& curve : curves) curves_[{curve.budget, curve.workers, curve.table}].push_back(&curve);
  }

  std::string page() const {
    std::string body = introduction();
    for (const Ranking& ranking : rankings_) body += section_of(ranking);
    body += tables_section() + reading();
    return filled(compare_asset("report.html"),
                  {{"style", compare_asset("report.css")}, {"script", compare_asset("report.js")}, {"body", body}});
  }

 private:
  std::string introduction() const {
    std::string text = fmt::format(
        "<h1>Comparison of policies</h1>\n<p>{} on {} with {}, {}.</p>\n",
        comparison_.policies.size() == 1 ? "1 policy" : fmt::format("{} policies", comparison_.policies.size()),
        plural(static_cast<int>(comparison_.tables.size()), "table"),
        plural(comparison_.seeds, "seed"),
        charge() + (comparison_.checkpoint == Checkpoint::none ? ", without checkpoints" : ""));
    text += "<ul>\n";
    for (const Ranking& ranking : rankings_) text += fmt::format("<li>{}</li>\n", verdict_of(ranking));
    text += "</ul>\n";
    return text + specifications();
  }

  std::string charge() const {
    switch (comparison_.overhead) {
      case OverheadCharge::none:
        return "decisions free of charge";
      case OverheadCharge::measured:
        return "decisions charged the time they took, where cost is in seconds";
      case OverheadCharge::modelled:
        return "decisions charged where cost is in seconds, by the number n of trials";
    }
    throw LogicError("unknown charge of overheads");
  }

  // What labels stand for, where they are not the policy itself, and what decisions are charged by.
  std::string specifications() const {
    std::string items;
    for (const auto& [label, model] : comparison_.models) {
      items += fmt::format("<li>a decision of {} costs {}</li>\n", html(label), to_text(model));
    }
    for (const ComparedPolicy& policy : comparison_.policies) {
      const std::string meaning = to_text(policy.spec);
      if (meaning != policy.label) items += fmt::format("<li>{} is {}</li>\n", html(policy.label), html(meaning));
    }
    if (const std::vector<std::string> names = comparison_.free_tables(); !names.empty()) {
      items += fmt::format("<li>decisions are free of charge on {}, whose cost is not in seconds</li>\n",
                           html(fmt::format("{}", fmt::join(names, ", "))));
    }
    return items.empty() ? "" : "<ul class=\"note\">\n" + items + "</ul>\n";
  }

  static std::string verdict_of(const Ranking& ranking) {
    const PolicyStanding& best = ranking.standings.front();
    std::string beaten;
    for (const Duel& duel : ranking.duels) {
      if (duel.adjusted_p < 0.05) beaten += (beaten.empty() ? "" : ", ") + duel.rival;
    }
    const std::string against = ranking.duels.empty() ? ""
                                : beaten.empty()      ? "; no rival is significantly behind"
                                                      : "; significantly ahead of " + html(beaten);
    return fmt::format("{}: <strong>{}</strong> has the best average rank, {}{}.",
                       heading_of(ranking.budget, ranking.workers),
                       html(best.policy),
                       with_error(best.rank, 2),
                       against);
  }

  std::string section_of(const Ranking& ranking) const {
    std::string text = fmt::format("<h2>{}</h2>\n", heading_of(ranking.budget, ranking.workers));
    text += rank_table(ranking);
    if (ranking.standings.size() >= 2) {
      text += fmt::format(
          "<h3>Which differences are significant</h3>\n<figure class=\"true-size\">{}</figure>\n"
          "<p class=\"note\">{}</p>\n",
          critical_difference_diagram(ranking, FigureStyle::of_page(500.0, 0.0), Surroundings::page),
          html(tests_text(ranking)));
    }
    text += "<h3>Anytime performance</h3>\n" + legend();
    text += anytime_figure(curves_.at({ranking.budget, ranking.workers, ""}), 500.0, 340.0, "");
    return text + calibration_table(ranking);
  }

  static std::string rank_table(const Ranking& ranking) {
    std::string rows;
    for (std::size_t i = 0; i < ranking.standings.size(); ++i) {
      const PolicyStanding& s = ranking.standings[i];
      const Duel* duel = i == 0 ? nullptr : &ranking.duels[i - 1];
      rows += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          i == 0 ? " class=\"best\"" : "",
                          html(s.policy),
                          with_error(s.rank, 2),
                          with_error(s.seed_rank, 2),
                          with_error(s.regret, 4),
                          duel ? fmt::format("{} / {} / {}", duel->wins, duel->ties, duel->losses) : "",
                          duel ? html(p_text(duel->adjusted_p)) : "",
                          short_number(1000.0 * s.seconds_per_decision));
    }
    return fmt::format(
        "<div class=\"wide\"><table>\n<thead><tr><th>policy</th><th>rank</th><th>rank by seed</th>"
        "<th>normalised regret</th><th>best wins / ties / losses</th><th>p (Holm)</th><th>ms per decision</th></tr>"
        "</thead>\n<tbody>\n{}</tbody></table></div>\n",
        rows);
  }

  static std::string calibration_table(const Ranking& ranking) {
    std::string rows;
    const auto add = [&](const std::string& policy, const char* what, const Coverage& c) {
      if (c.count == 0) return;
      rows +=
          fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.0f} %</td><td>{:.0f} %</td><td>{:.0f} %</td></tr>\n",
                      html(policy),
                      what,
                      c.count,
                      100.0 * c.within_50,
                      100.0 * c.within_80,
                      100.0 * c.within_95);
    };
    for (const PolicyStanding& s : ranking.standings) {
      add(s.policy, "value", s.value_coverage);
      add(s.policy, "cost", s.cost_coverage);
    }
    if (rows.empty()) return "";
    return fmt::format(
        "<h3>Did the forecasts come true?</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>policy</th><th>of</th>"
        "<th>forecasts</th><th>within 50 %</th><th>within 80 %</th><th>within 95 %</th></tr></thead>\n<tbody>\n{}"
        "</tbody></table></div>\n<p class=\"note\">Share of outcomes inside the central 50, 80 and 95 % intervals of "
        "the "
        "forecasts stored with the decisions; ideal are 50, 80 and 95 %.</p>\n",
        rows);
  }

  std::string legend() const {
    std::string items;
    for (const PolicyStroke& line : strokes_) {
      items += fmt::format(
          "<li><svg width=\"26\" height=\"8\" aria-hidden=\"true\"><line x1=\"0\" y1=\"4\" x2=\"26\" y2=\"4\" "
          "stroke=\"{}\" stroke-width=\"3\" stroke-dasharray=\"{}\"/></svg>{}</li>\n",
          line.stroke.color,
          line.stroke.dash.empty() ? "none" : line.stroke.dash,
          html(line.policy));
    }
    return "<ul class=\"legend\">\n" + items + "</ul>\n";
  }

  std::string anytime_figure(const std::vector<const AnytimeCurve*>& curves,
                             double width,
                             double height,
                             const std::string& caption) const {
    const std::string title = caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>", html(caption));
    return fmt::format(
        "<figure>{}{}</figure>\n", title, bapi::anytime_figure(curves, strokes_, FigureStyle::of_page(width, height)));
  }

  std::string tables_section() const {
    if (comparison_.tables.size() < 2) return "";
    std::string text = "<h2>Table by table</h2>\n";
    const char* open = comparison_.tables.size() <= kMostOpenTables ? " open" : "";
    for (const Ranking& ranking : rankings_) {
      text += fmt::format("<details{}><summary>{}</summary>\n", open, heading_of(ranking.budget, ranking.workers));
      text += legend() + "<div class=\"figures\">\n";
      for (const CurveTable& table : comparison_.tables) {
        text += anytime_figure(curves_.at({ranking.budget, ranking.workers, table.name}), 400.0, 290.0, table.name);
      }
      text += "</div>\n</details>\n";
    }
    return text;
  }

  static std::string reading() {
    return fmt::format(
        "<h2>How to read this</h2>\n<ul>\n"
        "<li><strong>Normalised regret</strong> is the table's best value less the best value found, over the table's "
        "best less the median of its last values: 0 is the best possible, 1 a typical full training. Means cap every "
        "run "
        "at {}, the value of a run before its first result. ± is the standard error over the seeds for these tables; "
        "so are the bands around the curves.</li>\n"
        "<li><strong>Rank</strong>: on each table the policies are ranked by their mean over the seeds, ties get the "
        "mean of their ranks; shown are mean and standard error over the tables. <strong>Rank by seed</strong> ranks "
        "within every seed instead.</li>\n"
        "<li><strong>p (Holm)</strong>: exact signed-rank test of the best policy against this one over the tables, "
        "adjusted for the number of rivals. The best was chosen by the same data, so take values near 0.05 with "
        "care.</li>\n"
        "<li><strong>Critical difference</strong>: policies under one bar are not significantly different at the level "
        "0.05.</li>\n"
        "<li><strong>ms per decision</strong> is the processor time of the policy alone.</li>\n</ul>\n",
        kRegretCap);
  }

  const Comparison& comparison_;
  std::span<const Ranking> rankings_;
  std::vector<PolicyStroke> strokes_;
  std::map<std::tuple<std::string, int, std::string>, std::vector<const AnytimeCurve*>> curves_;
};

}  // namespace

std::string comparison_page(const Comparison& comparison,
                            std::span<const Ranking> rankings,
                            std::span<const AnytimeCurve> curves) {
  return Report(comparison, rankings, curves).page();
}

}  // namespace bapi

#include "bapi/studies/compare_policies.h"

#include <fmt/format.h>

#include <map>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/compare/comparison_figures.h"
#include "bapi/compare/comparison_page.h"
#include "bapi/compare/comparison_tables.h"
#include "bapi/studies/policy_input.h"
#include "bapi/studies/table_input.h"

namespace bapi {
namespace {

std::vector<CurveTable> load_tables(const ComparisonInput& input) {
  std::vector<CurveTable> tables;
  std::vector<std::string> sources;
  std::map<std::string, int> bearers;
  for (const std::string& text : input.tables) {
    for (const std::string& source : table_names(text)) {
      tables.push_back(load_table(source, {.draw = input.draw}));
      sources.push_back(source);
      ++bearers[tables.back().name];
    }
  }
  // Studies and files in different directories may have the same name; where they come from tells them apart.
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (bearers[tables[i].name] > 1) tables[i].name = sources[i];
  }
  return tables;
}

// What the files of a finished comparison hold, by their names.
std::vector<std::pair<std::string, std::string>> files_of(const Comparison& comparison,
                                                          const ComparisonResult& result) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"runs.csv", render(runs_table(result.records), Format::csv)},
      {"ranks.csv", render(ranks_table(result.rankings), Format::csv)},
      {"curves.csv", render(curves_table(result.curves), Format::csv)},
      {"report.html", comparison_page(comparison, result.rankings, result.curves)}};
  int number = 0;
  for (const ComparisonFigures& figures : comparison_figures(result.rankings, result.curves)) {
    const std::string suffix = ++number == 1 ? "" : fmt::format("-{}", number);
    if (!figures.ranks.empty()) files.emplace_back(fmt::format("ranks{}.svg", suffix), figures.ranks);
    files.emplace_back(fmt::format("anytime{}.svg", suffix), figures.anytime);
  }
  return files;
}

}  // namespace

Comparison comparison_of(const ComparisonInput& input) {
  Comparison comparison;
  for (const std::string& text : input.policies) {
    comparison.policies.push_back(parse_compared_policy(text));
    if (input.from.empty()) continue;
    ComparedPolicy warm = comparison.policies.back();
    warm.label += "+from";
    warm.warm = true;
    comparison.policies.push_back(std::move(warm));
  }
  comparison.from = earlier_tables(input.from, input.from_budget, {.draw = input.draw});
  comparison.seeds = input.seeds;
  comparison.first_seed = input.first_seed;
  for (const std::string& text : input.budgets) comparison.budgets.push_back(parse_table_budget(text));
  comparison.workers = input.workers;
  const bool measured = input.charge == ComparisonInput::Charge::measured;
  require(
      !measured || input.overhead_from.empty(),
      "compare: --charge-overhead charges what decisions take now, --overhead-from what they took before; give one");
  comparison.checkpoint = input.checkpoint;
  if (measured) comparison.overhead = OverheadCharge::measured;
  if (!input.overhead_from.empty()) {
    comparison.overhead = OverheadCharge::modelled;
    comparison.models = overhead_models(input.overhead_from, comparison.policies);
  }
  comparison.tables = load_tables(input);
  comparison.validate();
  return comparison;
}

ComparisonResult compare_policies(const Comparison& comparison,
                                  const std::filesystem::path& directory,
                                  const RunComparisonOptions& options) {
  RunLog log(directory, comparison);
  ComparisonResult result;
  result.end = run_comparison(comparison, log, options);
  result.finished = static_cast<int>(log.finished().size());
  if (result.end == ComparisonEnd::interrupted) return result;
  result.records = records_of(comparison, log);
  result.rankings = rankings_of(comparison, result.records);
  result.curves = anytime_curves(comparison, result.records);
  for (const auto& [name, text] : files_of(comparison, result)) {
    replace_file(directory / name, text);
    result.files.push_back(directory / name);
  }
  return result;
}

}  // namespace bapi

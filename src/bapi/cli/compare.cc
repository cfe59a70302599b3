#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <thread>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/comparison_view.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/listing.h"
#include "bapi/compare/comparison_tables.h"
#include "bapi/compare/html_report.h"
#include "bapi/compare/run_comparison.h"
#include "bapi/studies/policy_input.h"
#include "bapi/studies/table_input.h"

namespace bapi {
namespace {

struct CompareArguments {
  std::vector<std::string> tables;
  std::vector<std::string> policies;
  std::optional<int> seeds;
  std::vector<std::string> budgets;
  std::vector<std::string> workers;
  std::optional<int> jobs;
  std::optional<int> draw;
  bool no_checkpoints = false;
  bool charge_overhead = false;
  std::string overhead_from;
  bool quiet = false;
  std::string out;
  std::string format = "table";
};

// "a,b" "c" are three words.
std::vector<std::string> separated(const std::vector<std::string>& lists) {
  std::vector<std::string> words;
  for (const std::string& list : lists) {
    for (std::string& word : split(list, ',')) words.push_back(std::move(word));
  }
  return words;
}

std::vector<CurveTable> load_tables(const CompareArguments& arguments) {
  TableInputOptions options;
  options.draw = arguments.draw.value_or(options.draw);
  std::vector<CurveTable> tables;
  std::vector<std::string> sources;
  std::map<std::string, int> bearers;
  for (const std::string& text : arguments.tables) {
    for (const std::string& source : table_names(text)) {
      tables.push_back(load_table(source, options));
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

int parse_workers(const std::string& text) {
  constexpr std::uint64_t kMostWorkers = 1'000'000;
  return static_cast<int>(parse_whole_number(text, 1, kMostWorkers, "--workers"));
}

Comparison comparison_of(const CompareArguments& arguments) {
  Comparison comparison;
  for (const std::string& text : separated(arguments.policies)) {
    comparison.policies.push_back(parse_compared_policy(text));
  }
  comparison.seeds = arguments.seeds.value_or(comparison.seeds);
  for (const std::string& text : separated(arguments.budgets)) comparison.budgets.push_back(parse_table_budget(text));
  if (!arguments.workers.empty()) comparison.workers.clear();
  for (const std::string& text : separated(arguments.workers)) comparison.workers.push_back(parse_workers(text));
  require(
      !arguments.charge_overhead || arguments.overhead_from.empty(),
      "compare: --charge-overhead charges what decisions take now, --overhead-from what they took before; give one");
  if (arguments.no_checkpoints) comparison.checkpoint = Checkpoint::none;
  if (arguments.charge_overhead) comparison.overhead = OverheadCharge::measured;
  if (!arguments.overhead_from.empty()) {
    comparison.overhead = OverheadCharge::modelled;
    comparison.models = overhead_models(arguments.overhead_from, comparison.policies);
  }
  comparison.tables = load_tables(arguments);
  comparison.validate();
  return comparison;
}

std::string rendered(std::span<const Ranking> rankings, Format format) {
  switch (format) {
    case Format::json:
      return to_json(summary_cell(rankings)) + "\n";
    case Format::csv:
      return render(ranks_table(rankings), Format::csv);
    case Format::table:
      break;
  }
  return summary_text(rankings);
}

void require_all(const CompareArguments& arguments) {
  std::vector<std::string> missing;
  if (arguments.tables.empty()) missing.emplace_back("--tables PATH...");
  if (arguments.policies.empty()) missing.emplace_back("--policies NAME,...");
  if (arguments.out.empty()) missing.emplace_back("--out DIR");
  require(missing.empty(), fmt::format("bapi compare needs {} (bapi compare --help)", fmt::join(missing, " and ")));
}

// A charge that silently does nothing would be taken for a result.
void note_free_tables(const Comparison& comparison) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<std::string> names = comparison.free_tables();
  if (names.empty()) return;
  const auto named = std::span(names).first(std::min(names.size(), kMostNamed));
  note(fmt::format("decisions are not charged on {} of {} tables, whose cost is not in seconds: {}{}",
                   names.size(),
                   comparison.tables.size(),
                   fmt::join(named, ", "),
                   names.size() > kMostNamed ? ", ..." : ""));
}

int compare(const CompareArguments& arguments) {
  const Format format = parse_format(arguments.format);
  require_all(arguments);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int jobs = arguments.jobs.value_or(cores);
  require(jobs >= 1, fmt::format("--jobs {}: must be at least 1", jobs));
  const Comparison comparison = comparison_of(arguments);

  note_free_tables(comparison);
  RunLog log(arguments.out, comparison);
  const InterruptFlag interrupt;
  const SystemClock clock;
  ComparisonEnd end{};
  {
    ComparisonView view(clock, terminal_style());
    end = run_comparison(
        comparison,
        log,
        {.jobs = jobs, .interrupt = interrupt.flag(), .observer = [&](const ComparisonProgress& progress) {
           if (!arguments.quiet) view.update(progress);
         }});
  }
  if (end == ComparisonEnd::interrupted) {
    note(fmt::format("interrupted; {} finished runs are kept, the same command goes on from there",
                     log.finished().size()));
    return kInterrupted;
  }

  const std::vector<RunRecord> records = records_of(comparison, log);
  const std::vector<Ranking> rankings = rankings_of(comparison, records);
  const std::vector<AnytimeCurve> curves = anytime_curves(comparison, records);
  const std::filesystem::path out(arguments.out);
  replace_file(out / "runs.csv", render(runs_table(records), Format::csv));
  replace_file(out / "ranks.csv", render(ranks_table(rankings), Format::csv));
  replace_file(out / "curves.csv", render(curves_table(curves), Format::csv));
  replace_file(out / "report.html", html_report(comparison, rankings, curves));
  print(rendered(rankings, format));
  return kDone;
}

}  // namespace

Command compare_command() {
  return {
      .name = "compare",
      .summary = "Compares policies on recorded learning curves: ranks, tests, anytime curves, a report",
      .examples =
          "Examples:\n"
          "  bapi compare --tables synthetic:crossing synthetic:power-law --policies bapi,hyperband,random --out c\n"
          "  bapi compare --tables runs/*.bapi --policies bapi,far=bapi-4:horizon=8 --seeds 5 --out mine\n"
          "  bapi compare --tables data/INDEX.csv --policies bapi,bohb,asha --budgets 5full,20full --out all\n\n"
          "Writes runs.csv, ranks.csv, curves.csv and report.html to DIR. Killed or interrupted at any time, the\n"
          "same command goes on where it was; tables, policies, seeds, budgets and workers may be added to it.\n"
          "A policy is [LABEL=]NAME[:OPTION=VALUE]...; a budget is as `bapi simulate` takes it.\n"
          "JSON: [{budget, workers, tables, seeds, ranks: [...], duels: [...], friedman: {chi_squared, p, f, f_p},\n"
          "critical_difference}], one per budget and number of workers; ranks as in ranks.csv, duels of the best\n"
          "policy with each other one: {best, rival, wins, ties, losses, p, adjusted_p}.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<CompareArguments>();
        arguments.words("-t,--tables", parsed->tables, std::string("Required. ") + kTablesHelp);
        arguments.words("-p,--policies", parsed->policies, "Required. Separated by commas; see `bapi policies`");
        arguments.option("-s,--seeds", parsed->seeds, "Runs of each; default 10");
        arguments.words("-b,--budgets", parsed->budgets, "Separated by commas; default 5full,20full");
        arguments.words("-w,--workers", parsed->workers, "Trials at a time, separated by commas; default 1");
        arguments.option("-j,--jobs", parsed->jobs, "Runs at a time; default: one per processor");
        arguments.option("--draw", parsed->draw, "Configurations drawn from surrogate networks; default 1500");
        arguments.flag("--no-checkpoints", parsed->no_checkpoints, kNoCheckpointsHelp);
        arguments.flag("--charge-overhead",
                       parsed->charge_overhead,
                       "Let decisions cost the time that they take, where a table's cost is in seconds");
        arguments.option("--overhead-from",
                         parsed->overhead_from,
                         "The same, reproducibly: by a + b n^c seconds for n trials, fitted to what decisions of each "
                         "policy took in the comparison that was written to this directory");
        arguments.option("--out", parsed->out, "Required. Directory of the results");
        arguments.flag("-q,--quiet", parsed->quiet, "No progress on standard error");
        arguments.option("-f,--format", parsed->format, "Of the summary: table, json or csv");
        return [parsed] {
          if (parsed->budgets.empty()) parsed->budgets = {"5full", "20full"};
          return compare(*parsed);
        };
      }};
}

}  // namespace bapi

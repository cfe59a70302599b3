#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <thread>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/comparison_view.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/listing.h"
#include "bapi/compare/comparison_tables.h"
#include "bapi/studies/compare_policies.h"
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

int parse_workers(const std::string& text) {
  constexpr std::uint64_t kMostWorkers = 1'000'000;
  return static_cast<int>(parse_whole_number(text, 1, kMostWorkers, "--workers"));
}

ComparisonInput input_of(const CompareArguments& arguments) {
  ComparisonInput input;
  input.tables = arguments.tables;
  input.policies = separated(arguments.policies);
  input.seeds = arguments.seeds.value_or(input.seeds);
  if (!arguments.budgets.empty()) input.budgets = separated(arguments.budgets);
  if (!arguments.workers.empty()) input.workers.clear();
  for (const std::string& text : separated(arguments.workers)) input.workers.push_back(parse_workers(text));
  input.draw = arguments.draw.value_or(input.draw);
  if (arguments.no_checkpoints) input.checkpoint = Checkpoint::none;
  if (arguments.charge_overhead) input.charge = ComparisonInput::Charge::measured;
  input.overhead_from = arguments.overhead_from;
  return input;
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

ComparisonResult run_in_view(const Comparison& comparison, const CompareArguments& arguments, int jobs) {
  const InterruptFlag interrupt;
  const SystemClock clock;
  ComparisonView view(clock, terminal_style());
  return compare_policies(
      comparison,
      arguments.out,
      {.jobs = jobs, .interrupt = interrupt.flag(), .observer = [&](const ComparisonProgress& progress) {
         if (!arguments.quiet) view.update(progress);
       }});
}

int compare(const CompareArguments& arguments) {
  const Format format = parse_format(arguments.format);
  require_all(arguments);
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int jobs = arguments.jobs.value_or(cores);
  require(jobs >= 1, fmt::format("--jobs {}: must be at least 1", jobs));
  const Comparison comparison = comparison_of(input_of(arguments));
  note_free_tables(comparison);
  const ComparisonResult result = run_in_view(comparison, arguments, jobs);
  if (result.end == ComparisonEnd::interrupted) {
    note(fmt::format("interrupted; {} finished runs are kept, run the same command to continue", result.finished));
    return kInterrupted;
  }
  print(rendered(result.rankings, format));
  return kDone;
}

}  // namespace

Command compare_command() {
  return {
      .name = "compare",
      .summary = "Compare policies on recorded learning curves: ranks, tests, anytime curves, a report",
      .examples =
          "Examples:\n"
          "  bapi compare --tables synthetic:crossing synthetic:power-law --policies bapi,hyperband,random --out c\n"
          "  bapi compare --tables runs/*.bapi --policies bapi,far=bapi-4:horizon=8 --seeds 5 --out mine\n"
          "  bapi compare --tables data/INDEX.csv --policies bapi,bohb,asha --budgets 5full,20full --out all\n\n"
          "Writes runs.csv, ranks.csv, curves.csv, report.html and its figures over all tables, ranks.svg and\n"
          "anytime.svg (numbered for further budgets and workers), to DIR. Killed or interrupted at any time, the\n"
          "same command continues where it stopped; tables, policies, seeds, budgets and workers may be added to it.\n"
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
        arguments.option("-f,--format", parsed->format, "Output format of the summary: table, json or csv");
        return [parsed] { return compare(*parsed); };
      }};
}

}  // namespace bapi

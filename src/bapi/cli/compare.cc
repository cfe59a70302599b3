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
  std::vector<std::string> from;
  std::optional<std::string> from_budget;
  std::optional<int> seeds;
  std::optional<std::uint64_t> first_seed;
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
  input.from = arguments.from;
  input.from_budget = arguments.from_budget.value_or(input.from_budget);
  input.seeds = arguments.seeds.value_or(input.seeds);
  input.first_seed = arguments.first_seed.value_or(input.first_seed);
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
  require(missing.empty(), fmt::format("compare needs {} (bapi compare --help)", fmt::join(missing, " and ")));
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
    note(fmt::format("interrupted; {} results are kept. Continue with the same command", result.finished));
    return kInterrupted;
  }
  print(rendered(result.rankings, format));
  return kDone;
}

}  // namespace

Command compare_command() {
  return {
      .name = "compare",
      .summary = "Compare policies on recorded learning curves",
      .examples =
          "Examples:\n"
          "  bapi compare -t synthetic:crossing -p bapi,hyperband,random --out shapes\n"
          "  bapi compare -t studies/*.bapi -p bapi,far=bapi-4:horizon=8 -s 5 --out mine\n"
          "  bapi compare -t data/INDEX.csv -p bapi,bohb,asha -b 5full,20full --out all\n"
          "  bapi compare -t new.csv -p bapi -b 3full,8full --from old.bapi --out warm\n\n"
          "Writes runs.csv, ranks.csv, curves.csv, report.html and its figures ranks.svg and anytime.svg (numbered "
          "for\n"
          "further budgets and workers) to DIR. After an interruption or a crash, the same command continues where it\n"
          "stopped; tables, policies, seeds, budgets and workers may be added. A run is one policy on one table with\n"
          "one seed, budget and number of workers.\n"
          "With --from, every policy is compared with its warm start, LABEL+from (docs/warm-start.md).\n"
          "A policy is [LABEL=]NAME[:OPTION=VALUE]...; a budget is as `bapi simulate` takes it.\n"
          "JSON: [{budget, workers, tables, seeds, ranks: [...], duels: [...], friedman: {chi_squared, p, f, f_p},\n"
          "critical_difference}], one per budget and number of workers; ranks as in ranks.csv, duels of the best\n"
          "policy with each other one: {best, rival, wins, ties, losses, p, adjusted_p}.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<CompareArguments>();
        arguments.words("-t,--tables", parsed->tables, std::string("Required. ") + kTablesHelp);
        arguments.words(
            "-p,--policies", parsed->policies, "Required. Policies, separated by commas (see bapi policies)");
        arguments.words("--from", parsed->from, kFromTableHelp);
        arguments.option("--from-budget", parsed->from_budget, kFromBudgetHelp);
        arguments.option("-s,--seeds", parsed->seeds, "Number of seeds: runs of each policy on each table; default 10");
        arguments.option("--first-seed",
                         parsed->first_seed,
                         "The first of them; default 0. What was chosen on some seeds is judged on others");
        arguments.words("-b,--budgets", parsed->budgets, "Budgets, separated by commas; default 5full,20full");
        arguments.words(
            "-w,--workers", parsed->workers, "Numbers of simulated workers, separated by commas; default 1");
        arguments.option("-j,--jobs", parsed->jobs, "Number of runs at the same time; default: one per processor");
        arguments.option(
            "--draw", parsed->draw, "Number of configurations drawn from surrogate networks; default 1500");
        arguments.flag("--no-checkpoints", parsed->no_checkpoints, kNoCheckpointsHelp);
        arguments.flag("--charge-overhead",
                       parsed->charge_overhead,
                       "Charge decisions the time they take, on tables whose cost is in seconds");
        arguments.option(
            "--overhead-from",
            parsed->overhead_from,
            "The same, reproducibly: a + b n^c seconds for n trials, fitted for each policy to the decision "
            "times in the comparison in this directory");
        arguments.option("--out", parsed->out, "Required. Directory for the results");
        arguments.flag("-q,--quiet", parsed->quiet, "Print no progress");
        arguments.option("-f,--format", parsed->format, "Output format of the summary: table, json or csv");
        return [parsed] { return compare(*parsed); };
      }};
}

}  // namespace bapi

#include <fmt/format.h>

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

std::string totals(const StudyView& study) {
  const Spending sums = spending(ledger(study.events));
  std::string out = fmt::format("\nspent {}", short_cost(study.history.budget().spent(), study.spec().budget));
  const char* separator = ": ";
  for (const CostKind kind : kCostKinds) {
    const Cost sum = sums[static_cast<std::size_t>(kind)];
    if (sum == 0.0) continue;
    out += fmt::format("{}{} {}", separator, word(kind), short_cost(sum, study.spec().budget));
    separator = ", ";
  }
  return out + "\n";
}

int show_ledger(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  const StudyView study = study_to_show(arguments.study);
  print(render(ledger_table(study.events).head("cost", with_unit("cost", study.spec().budget)), format));
  if (format == Format::table) print(totals(study));
  return kDone;
}

}  // namespace

Command ledger_command() {
  return {
      .name = "ledger",
      .summary = "List every charge to the budget",
      .examples =
          "Examples:\n"
          "  bapi ledger mlp\n"
          "  bapi ledger mlp -f json\n\n"
          "JSON: [{seq, trial, epoch, kind, cost}]. Kinds: epoch (a point on a curve), ahead (the same, trained past "
          "what\nhad been decided), start-up, repeat (epochs trained again), unfinished (an epoch in progress when\n"
          "its process was ended), grace (from then until the process was gone), failed, unreported (an epoch that "
          "was\n"
          "saved and never reported), snapshot (copying the best model), lost (with a worker that vanished). Added up "
          "in this order, the costs are "
          "budget.spent "
          "of bapi status to the last bit.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<ListingArguments>();
        parsed->declare(arguments);
        return [parsed] { return show_ledger(*parsed); };
      }};
}

}  // namespace bapi

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/space_plots.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/direction.h"

namespace bapi {

namespace {

struct TrialsArguments {
  ListingArguments listing;
  std::string sort = "trial";
  std::optional<int> limit;
};

using Row = std::vector<Cell>;

// Best values and greatest costs first; trials without a report last.
void sort_rows(std::vector<Row>& rows, const std::string& key, const Metric& metric) {
  require(key == "trial" || key == "best" || key == "spent",
          fmt::format("--sort {}: expected trial, best or spent", key));
  if (key == "trial") return;
  const std::size_t column = key == "best" ? 3 : 4;
  const auto score = [&](const Row& row) {
    const double value = row[column].get<double>();
    return key == "best" ? oriented(value, metric.goal) : value;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a[column].is_null() || b[column].is_null()) return !a[column].is_null() && b[column].is_null();
    return score(a) > score(b);
  });
}

int trials(const TrialsArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  require(!arguments.limit || *arguments.limit >= 1,
          fmt::format("--limit {}: expected at least 1", arguments.limit.value_or(0)));
  const StudyView study = study_to_show(arguments.listing.study);
  const Table all = trials_table(study.history, study.controller);
  std::vector<Row> rows = all.rows();
  sort_rows(rows, arguments.sort, study.spec().metric);
  if (arguments.limit) rows.resize(std::min(rows.size(), static_cast<std::size_t>(*arguments.limit)));
  Table table(all.columns());
  table.head("best", result_name(study.spec().metric)).head("spent", with_unit("spent", study.spec().budget));
  for (Row& row : rows) table.add(std::move(row));
  print(render(table, format));
  return kDone;
}

}  // namespace

Command trials_command() {
  return {.name = "trials",
          .summary = "List trials with state, epochs, best value and cost",
          .examples =
              "Examples:\n"
              "  bapi trials mlp --sort best --limit 5\n"
              "  bapi trials mlp -f csv > trials.csv\n\n"
              "JSON: [{trial, state, epochs, best, spent, config}]. In CSV every parameter has a column config.NAME.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<TrialsArguments>();
            parsed->listing.declare(arguments);
            arguments.option("-s,--sort", parsed->sort, "Sort by trial, best or spent; default: trial");
            arguments.option("-l,--limit", parsed->limit, "Number of rows to show; default: all");
            return [parsed] { return trials(*parsed); };
          }};
}

}  // namespace bapi

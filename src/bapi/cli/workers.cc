#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bapi/cli/cluster_commands.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/text.h"
#include "bapi/studies/study_workers.h"

namespace bapi {

namespace {

struct WorkersArguments {
  ListingArguments listing;
  bool all = false;
};

// For people: no numbers of processes, and times that can be read.
Table for_people(const Workforce& workforce) {
  Table table({"worker", "host", "job", "state", "slots", "trials", "lease", "failures", "idle"});
  const Table whole = workers_table(workforce);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(whole.columns(), name) - whole.columns().begin());
  };
  for (const std::vector<Cell>& row : whole.rows()) {
    std::vector<Cell> shown;
    for (const std::string& name : table.columns()) shown.push_back(row.at(column(name)));
    const double idle = row.at(column("idle")).get<double>();
    shown.back() = fmt::format("{:.0f} %", 100.0 * idle);
    const Cell& lease = row.at(column("lease"));
    shown.at(6) = lease.is_null() ? Cell() : Cell(short_duration(std::max(0.0, lease.get<double>())));
    table.add(std::move(shown));
  }
  return table;
}

int workers(const WorkersArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  const StudyPlace place = database_place(arguments.listing.study);
  Workforce workforce = workforce_of(place.database());
  if (!arguments.all) workforce = present_of(std::move(workforce));
  print(render(format == Format::table ? for_people(workforce) : workers_table(workforce), format));
  if (format == Format::table && workforce.workers.empty()) {
    note(fmt::format("no worker trains this study; start one with: bapi worker '{}'", place.shown()));
  }
  return kDone;
}

}  // namespace

Command workers_command() {
  return {.name = "workers",
          .summary = "List the workers of a study in a database",
          .examples =
              "Examples:\n"
              "  bapi workers postgresql://ann@db/tuning#mlp\n"
              "  bapi workers mlp --all -f json     with $BAPI_STORAGE; also gone and lost ones\n\n"
              "JSON: [{worker, host, pid, job, state, slots, trials, lease, failures, idle, joined}]. state is live,\n"
              "set aside (three trials in a row failed there before their first epoch, while others trained: it gets\n"
              "no more trials), leaving, gone or lost. lease is the time in seconds after which a worker that\n"
              "says nothing counts as lost, idle the share of its slots' time in which it trained nothing.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<WorkersArguments>();
            parsed->listing.declare(arguments);
            arguments.flag("-a,--all", parsed->all, "Include workers that are gone or lost");
            return [parsed] { return workers(*parsed); };
          }};
}

}  // namespace bapi

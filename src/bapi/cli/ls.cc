#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

namespace fs = std::filesystem;

struct LsArguments {
  std::vector<std::string> folders;
  std::string format = "table";
};

std::vector<std::string> studies_in(const std::string& folder) {
  if (DatabaseUrl::is_one(folder)) {
    const DatabaseStudy there = parse_database_study(folder);
    if (!there.name.empty()) return {folder};
    std::vector<std::string> found;
    for (const StudyPlace& place : studies_of(there.database)) found.push_back(place.shown());
    return found;
  }
  std::error_code error;
  require(fs::is_directory(folder, error), fmt::format("{}: expected a directory with studies", folder));
  std::vector<std::string> found;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() == ".bapi" && is_study(StudyDir(entry->path())))
      found.push_back(entry->path().lexically_normal().string());
  }
  require(!error, fmt::format("{}: cannot be read: {}", folder, error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Cell> row_of(const std::string& place) {
  const StudyView study = open_study(place);
  const Budget budget = study.history.budget();
  const std::optional<Best> found = best(study.history);
  return {study.spec().name,
          study_state(study.history, study.controller),
          std::ssize(study.history.trials()),
          study.spec().metric.name,
          found ? Cell(found->value) : Cell(),
          budget.spent(),
          budget.total(),
          study.spec().budget.unit,
          study.spec().policy.name,
          study.shown()};
}

int ls(const LsArguments& arguments) {
  const Format format = parse_format(arguments.format);
  Table table({"study", "state", "trials", "metric", "best", "spent", "budget", "unit", "policy", "path"});
  std::vector<std::string> folders = arguments.folders;
  if (folders.empty()) folders.emplace_back(".");
  bool unreadable = false;
  for (const std::string& folder : folders) {
    for (const std::string& place : studies_in(folder)) {
      try {
        table.add(row_of(place));
      } catch (const StoreError& error) {
        note(error.what());
        unreadable = true;
      }
    }
  }
  if (format != Format::table || !table.rows().empty()) {
    print(render(table, format));
  } else {
    note(arguments.folders.empty()
             ? "there is no study here (create one with bapi init and bapi run)"
             : fmt::format("there is no study in {}; ls looks for NAME.bapi in it, not in the directories below",
                           fmt::join(arguments.folders, ", ")));
  }
  return unreadable ? kStoreUnavailable : kDone;
}

}  // namespace

Command ls_command() {
  return {.name = "ls",
          .summary = "List the studies of a directory or database",
          .examples =
              "Examples:\n"
              "  bapi ls\n"
              "  bapi ls ~/studies old -f json\n"
              "  bapi ls postgresql://ann@db/tuning\n\n"
              "JSON: [{study, state, trials, metric, best, spent, budget, unit, policy, path}].\n"
              "Exit codes: 0 done, 2 no such directory, 3 a study cannot be read; the others are listed.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<LsArguments>();
            arguments.optional_positionals(
                "DIRECTORY", parsed->folders, "Directories or databases to look in; default: this directory");
            arguments.option("-f,--format", parsed->format, "Output format: table, json or csv");
            return [parsed] { return ls(*parsed); };
          }};
}

}  // namespace bapi

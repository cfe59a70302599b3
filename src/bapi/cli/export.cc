#include "bapi/report/export.h"

#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

struct ExportArguments {
  std::string study;
  std::string format = "csv";
  std::string out;
};

int export_study(const ExportArguments& arguments) {
  const Format format = parse_format(arguments.format);
  require(format != Format::table, "export writes csv or json; bapi trials has a table");
  const StudyView study = study_to_show(arguments.study);
  const std::string text =
      format == Format::csv
          ? export_csv(study.history, study.events, study.controller)
          : export_json(study.history, study.events, study.controller, best_checkpoint(study.dir, study.history));
  if (arguments.out.empty()) {
    print(text);
    return kDone;
  }
  std::ofstream file(arguments.out, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw StoreError(fmt::format("{}: cannot be written", arguments.out));
  return kDone;
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "Export all reports as CSV, or the whole study as JSON",
          .examples =
              "Examples:\n"
              "  bapi export mlp > reports.csv\n"
              "  bapi export mlp -f json --out mlp.json\n\n"
              "CSV has a line per report: trial, epoch, value, cost, spent (by the study until then), at (Unix time), "
              "state,\nconfig.NAME. JSON has {study, status, trials with their curves, decisions with their reasons, "
              "ledger}.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ExportArguments>();
            arguments.optional_positional("STUDY", parsed->study, kStudyHelp);
            arguments.option("-f,--format", parsed->format, "csv or json; default: csv");
            arguments.option("-o,--out", parsed->out, "File to write; default: standard output");
            return [parsed] { return export_study(*parsed); };
          }};
}

}  // namespace bapi

#include "bapi/report/export.h"

#include <fcntl.h>

#include <memory>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/dashboard/html_report.h"
#include "bapi/studies/best_model.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

struct ExportArguments {
  std::string study;
  std::string format = "csv";
  std::string out;
  bool no_logs = false;
};

std::string text_of(const ExportArguments& arguments) {
  if (arguments.format == "html") {
    const StudyView study = study_to_show(arguments.study);
    return html_report(study, {.logs = !arguments.no_logs}, SystemClock().now());
  }
  const Format format = parse_format(arguments.format);
  require(format != Format::table, "export writes csv, json or html; bapi trials has a table");
  const StudyView study = study_to_show(arguments.study);
  if (format == Format::csv) return export_csv(study.history, study.events, study.controller);
  return export_json(study.history, study.events, study.controller, best_model(study.dir, study.history));
}

int export_study(const ExportArguments& arguments) {
  const std::string text = text_of(arguments);
  if (arguments.out.empty()) {
    print(text);
    return kDone;
  }
  write_all(open_file(arguments.out, O_WRONLY | O_CREAT | O_TRUNC), text, arguments.out);
  return kDone;
}

}  // namespace

Command export_command() {
  return {
      .name = "export",
      .summary = "Export all reports as CSV, the whole study as JSON, or a report as one web page",
      .examples =
          "Examples:\n"
          "  bapi export mlp > reports.csv\n"
          "  bapi export mlp -f json --out mlp.json\n"
          "  bapi export mlp -f html --out mlp.html\n\n"
          "CSV has one line per report: trial, epoch, value, cost, spent (by the study so far), at (Unix time), "
          "state,\nconfig.NAME. JSON has {study, status, trials with their curves, decisions with their reasons, "
          "ledger}. HTML is the page of bapi dashboard with its data inside: one file that opens without a network.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<ExportArguments>();
        arguments.optional_positional("STUDY", parsed->study, kStudyHelp);
        arguments.option("-f,--format", parsed->format, "Output format: csv, json or html; default: csv");
        arguments.option("-o,--out", parsed->out, "File to write; default: standard output");
        arguments.flag("--no-logs", parsed->no_logs, "HTML without the ends of the logs of failed trials");
        return [parsed] { return export_study(*parsed); };
      }};
}

}  // namespace bapi

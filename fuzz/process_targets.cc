#include <stdlib.h>

#include <filesystem>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/control/report_parser.h"
#include "bapi/process/ahead.h"
#include "bapi/process/failure_text.h"
#include "bapi/process/process_file.h"
#include "bapi/process/report_reader.h"
#include "bapi/process/script.h"
#include "bapi/store/snapshot.h"
#include "fuzz/scratch.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
// A directory for the life of the program.
const std::filesystem::path& scratch() {
  struct Scratch {
    std::filesystem::path path;
    Scratch() {
      std::string name = (std::filesystem::temp_directory_path() / "bapi-fuzz-XXXXXX").string();
      path = ::mkdtemp(name.data());
    }
    ~Scratch() { std::filesystem::remove_all(path); }
  };
  static const Scratch directory;
  return directory.path;
}

void read_report_line(std::string_view input) {
  parse_report(input, "accuracy");
  if (const auto tagged = tagged_report(input)) parse_report(*tagged, "accuracy");
}

// What is read is written as it was read.
void read_process_file(std::string_view input) {
  const std::filesystem::path file = scratch() / "process";
  replace_file(file, input);
  if (const auto content = bapi::read_process_file(file)) write_process_file(file, *content);
}

// The report file up to a line "--", then the output of the program; read in the pieces in which they may have come.
void read_report_file(std::string_view input) {
  const TrialDir dir{scratch() / "reports"};
  dir.create();
  constexpr std::string_view kOutput = "\n--\n";
  const std::size_t end = std::min(input.find(kOutput), input.size());
  replace_file(dir.report(), input.substr(0, end));
  replace_file(dir.log(), input.substr(std::min(end + kOutput.size(), input.size())));
  const std::size_t once = ReportReader(dir, 0, 0, "accuracy").read_rest().reports.size();
  ReportReader reader(dir, 0, 0, "accuracy");
  std::size_t twice = 0;
  for (ReportReader::Batch batch = reader.read(); !batch.reports.empty() || batch.more; batch = reader.read()) {
    twice += batch.reports.size();
  }
  check(twice + reader.read_rest().reports.size() == once, "a report is read twice, or not at all");
  replace_file(dir.ahead(), input.substr(0, end));
  Epoch last = 2;
  for (const EpochReport& report : reports_ahead(dir, "accuracy", last)) {
    check(report.epoch > last, "reports that wait are not in order");
    last = report.epoch;
  }
  failure_headline(failure_text(input.substr(0, end), input));
}

// The first line of a program, which may name its interpreter.
void read_script(std::string_view input) {
  const std::filesystem::path file = scratch() / "script";
  replace_file(file, input);
  script_mistake(file.string(), {file.string()});
  script_mistake(file.string(), {"bash", file.string()});
}

// What a snapshot says of itself, beside files of two bytes.
void read_snapshot(std::string_view input) {
  const TrialDir dir{scratch() / "snapshots"};
  const std::filesystem::path snapshot = dir.best() / "epoch-7";
  std::filesystem::create_directories(snapshot / "checkpoint");
  replace_file(snapshot / "checkpoint" / "model", "ab");
  replace_file(snapshot / "about", input);
  replace_file(dir.best() / "missed", input);
  replace_file(dir.root / "checkpoint-epoch", input);
  if (const auto found = newest_snapshot(dir)) {
    check(found->label.epoch == 7 && found->bytes == 2, "a snapshot is not what it says");
    improves(found, 0.5, Metric{});
  }
  missed_snapshot(dir);
}

}  // namespace bapi::fuzz

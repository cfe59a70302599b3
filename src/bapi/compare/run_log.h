#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "bapi/compare/comparison.h"
#include "bapi/run/file_descriptor.h"
#include "bapi/store/study_lock.h"

namespace bapi {

// The runs of a comparison on disk: DIR/runs.log, one line of JSON each, only ever appended to. A line that a kill has
// torn is dropped when the log is opened again, so that every finished run but this one is kept. Lines deleted by hand
// make their runs be done again.
//
// Besides the runs it says what they were made of: the settings, the contents of every table and the options of every
// label. A comparison that would give any of these another meaning is refused; tables, policies, seeds, budgets and
// workers may be added.
class RunLog {
 public:
  // Makes DIR if it is not there, and locks it. Throws InvalidInput that names what differs, StoreError if it cannot be
  // read or written or another comparison holds it.
  RunLog(const std::filesystem::path& directory, const Comparison& comparison);

  const std::map<RunKey, RunRecord>& finished() const { return finished_; }

  // In the log when it returns: safe from a kill of this process.
  void append(const RunRecord& record);

 private:
  void read();
  void declare(const Comparison& comparison);
  void write_line(const std::string& line);

  std::filesystem::path file_;
  StudyLock lock_;
  FileDescriptor out_;
  std::optional<std::string> overhead_;
  std::map<std::string, std::string> tables_;    // name -> fingerprint
  std::map<std::string, std::string> policies_;  // label -> policy with options
  std::map<RunKey, RunRecord> finished_;
};

// Changes when anything that a simulation reads from the table changes.
std::string fingerprint(const CurveTable& table);

}  // namespace bapi

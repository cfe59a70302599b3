#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "bapi/base/file.h"
#include "bapi/compare/comparison.h"
#include "bapi/compare/logged_runs.h"
#include "bapi/store/study_lock.h"

namespace bapi {

// What decisions of each of `policies` took in the runs of a comparison that was written to `directory` before, under
// whatever labels it had there. Throws InvalidInput that names a policy without runs there.
std::map<std::string, OverheadModel> overhead_models(const std::filesystem::path& directory,
                                                     std::span<const ComparedPolicy> policies);

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

  const std::map<RunKey, RunRecord>& finished() const { return logged_.finished; }

  // In the log when it returns: safe from a kill of this process.
  void append(const RunRecord& record);

 private:
  void declare(const Comparison& comparison);
  void write_line(const std::string& line);

  std::filesystem::path file_;
  StudyLock lock_;
  FileDescriptor out_;
  LoggedRuns logged_;
};

// Changes when anything that a simulation reads from the table changes.
std::string fingerprint(const CurveTable& table);

}  // namespace bapi

#pragma once

#include <string>
#include <vector>

#include "bapi/control/report_parser.h"
#include "bapi/process/file_tail.h"
#include "bapi/store/study_dir.h"

namespace bapi {

// Follows what one process of a trial reports, in the report file or among its output.
//
// A process reports its epochs in one way: the first that it uses. What it says in the other as well is passed over, so
// that a program that prints what it also writes to the file is not heard twice.
class ReportReader {
 public:
  // From these places of the report file and of the log on.
  ReportReader(const TrialDir& dir, std::int64_t report_offset, std::int64_t log_offset, std::string metric);

  struct Batch {
    std::vector<ReportLine> reports;  // without NoReport
    int unreadable = 0;               // lines that were meant as reports and are no JSON
    double written_at = 0.0;          // when the last of the reports was written, or later
    bool to_file = false;             // they were written to the report file, not printed
    bool more = false;                // there is more to read at once
  };

  // What has been written since the last call, a bounded amount.
  Batch read();

  // Whether something was written since.
  bool has_more() const { return !file_.stamp().all_read || !output_.stamp().all_read; }

  bool to_file() const { return channel_ == Channel::file; }  // they are written to the report file, not printed

  // Why reports are not read, or not any further; empty if they are.
  const std::string& problem() const { return file_.problem().empty() ? output_.problem() : file_.problem(); }

  // All that is left, when nobody writes any more, up to a gigabyte: also a last line without its newline.
  Batch read_rest();

 private:
  enum class Channel { unknown, file, output };

  void hear(std::string_view json, Channel channel, Batch& batch);
  void hear_output(std::string_view line, Batch& batch);
  bool read_some(Batch& batch);
  void stamp(Batch& batch) const;

  std::string metric_;
  FileTail file_;
  FileTail output_;
  Channel channel_ = Channel::unknown;
};

}  // namespace bapi

#include "bapi/process/report_reader.h"

#include <algorithm>

namespace bapi {
namespace {

constexpr std::int64_t kBytesAtOnce = 1 << 20;
constexpr std::int64_t kBytesOfRest = 1 << 30;  // of each file

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

ReportReader::ReportReader(const TrialDir& dir, std::int64_t report_offset, std::int64_t log_offset, std::string metric)
    : metric_(std::move(metric)), file_(dir.report(), report_offset), output_(dir.log(), log_offset) {}

ReportReader::Batch ReportReader::read() {
  Batch batch;
  batch.more = read_some(batch);
  return batch;
}

ReportReader::Batch ReportReader::read_rest() {
  Batch batch;
  for (std::int64_t read = 0; read < kBytesOfRest && read_some(batch); read += kBytesAtOnce) {
  }
  hear(file_.take_rest(), Channel::file, batch);
  hear_output(output_.take_rest(), batch);
  stamp(batch);
  return batch;
}

bool ReportReader::read_some(Batch& batch) {
  const bool more_in_file = file_.read([&](std::string_view line) { hear(line, Channel::file, batch); }, kBytesAtOnce);
  const bool more_output = output_.read([&](std::string_view line) { hear_output(line, batch); }, kBytesAtOnce);
  stamp(batch);
  return more_in_file || more_output;
}

// Of the file that is known to hold the reports, or of the later one.
void ReportReader::stamp(Batch& batch) const {
  batch.to_file = channel_ == Channel::file;
  if (batch.reports.empty()) return;
  const double in_file = channel_ != Channel::output ? file_.stamp().modified_at : 0.0;
  const double in_output = channel_ != Channel::file ? output_.stamp().modified_at : 0.0;
  batch.written_at = std::max(in_file, in_output);
}

void ReportReader::hear_output(std::string_view line, Batch& batch) {
  if (const std::optional<std::string_view> json = tagged_report(line)) hear(*json, Channel::output, batch);
}

void ReportReader::hear(std::string_view json, Channel channel, Batch& batch) {
  if (is_blank(json)) return;
  ReportLine report = parse_report(json, metric_);
  if (std::holds_alternative<NoReport>(report)) {
    ++batch.unreadable;
    return;
  }
  if (!std::holds_alternative<ReadyReport>(report)) {
    if (channel_ == Channel::unknown) channel_ = channel;
    if (channel_ != channel) return;
  }
  batch.reports.push_back(std::move(report));
}

}  // namespace bapi

#include "bapi/process/ahead.h"

#include "bapi/base/file.h"
#include "bapi/base/file_tree.h"
#include "bapi/process/file_tail.h"

namespace bapi {
namespace {

constexpr std::int64_t kMostBytesAhead = 1 << 24;

}  // namespace

void keep_ahead(const TrialDir& dir, std::span<const ReportLine> reports, const std::string& metric) {
  std::string lines;
  for (const ReportLine& report : reports) {
    if (std::holds_alternative<WrongReport>(report)) break;  // the next process says it again
    if (const auto* epoch = std::get_if<EpochReport>(&report)) lines += report_line(*epoch, metric) + "\n";
  }
  if (!lines.empty()) replace_file(dir.ahead(), lines);
}

std::vector<EpochReport> reports_ahead(const TrialDir& dir, const std::string& metric, Epoch last) {
  std::vector<EpochReport> reports;
  if (!is_anything_at(dir.ahead())) return reports;
  FileTail(dir.ahead(), 0)
      .read(
          [&](std::string_view line) {
            const ReportLine read = parse_report(line, metric);
            const auto* epoch = std::get_if<EpochReport>(&read);
            if (epoch && epoch->epoch == last + 1) {
              reports.push_back(*epoch);
              last = epoch->epoch;
            }
          },
          kMostBytesAhead);
  return reports;
}

}  // namespace bapi

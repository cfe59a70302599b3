#include "bapi/cli/patient.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "bapi/base/file.h"
#include "bapi/base/match.h"
#include "bapi/base/split.h"
#include "bapi/control/report_parser.h"
#include "bapi/report/text.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestLog = std::size_t{1} << 24;  // of two epochs

std::vector<std::string> lines_of(const fs::path& file) {
  return split(read_whole_file(file, kLargestLog).value_or(""), '\n');
}

}  // namespace

Patient::Patient(const StudySpec& spec, const fs::path& scratch, double timeout)
    : spec_(spec), dir_(scratch / "study"), evaluator_(spec, dir_, clock_), timeout_(timeout) {
  dir_.create();
}

Attempt Patient::train(const Config& config, Epoch from, Epoch until) {
  Attempt attempt;
  const double start = clock_.now();
  evaluator_.start({.trial = TrialId{0},
                    .config = config,
                    .from = from,
                    .until = until,
                    .max_epoch = until,
                    .budget_left = spec_.budget.limit,
                    .usual_epoch = usual_epoch_cost(curve_)});
  bool released = false;
  while (!evaluator_.live().empty() || !released) {
    const std::size_t known = attempt.measured.size();
    for (const Event& fact : evaluator_.wait(0.1)) note(fact, clock_.now() - start, attempt);
    const bool trained = std::ssize(attempt.measured) >= until - from;
    const bool done = trained || attempt.failure || attempt.ended_by_itself;
    const bool late = clock_.now() - start > timeout_;
    if (!released && known == 0 && done && !attempt.failure)
      attempt.gone_with_its_reports = ends_by_itself(start, attempt);
    if (late && !done) attempt.failure = fmt::format("no report within {}", short_duration(timeout_));
    if (interrupt_.flag()->load()) attempt.failure = "interrupted";
    if (!released && (done || late || interrupt_.flag()->load())) {
      evaluator_.release(TrialId{0});
      released = true;
    }
  }
  for (const Measurement& m : attempt.measured) curve_.append(m);
  return attempt;
}

// A program whose reports come when it ends is gone a moment later.
bool Patient::ends_by_itself(double start, Attempt& attempt) {
  constexpr double kMoment = 0.3;  // seconds
  const double until = clock_.now() + kMoment;
  while (!evaluator_.live().empty() && clock_.now() < until) {
    for (const Event& fact : evaluator_.wait(0.02)) note(fact, clock_.now() - start, attempt);
  }
  return evaluator_.live().empty();
}

void Patient::note(const Event& fact, double seconds, Attempt& attempt) const {
  std::visit(Match{[&](const Measured& e) {
                     attempt.measured.push_back(e.measurement);
                     attempt.seconds.push_back(seconds);
                   },
                   [&](const TrialFailed& e) {
                     attempt.failure = e.message;
                     attempt.cause = e.cause;
                   },
                   [&](const ProgramEnded&) { attempt.ended_by_itself = true; },
                   [&](const Overhead& e) {
                     if (e.kind == OverheadKind::start_up) attempt.start_up += e.cost;
                     if (e.kind == OverheadKind::repeat) attempt.repeated += e.cost;
                   },
                   [](const auto&) {}},
             fact);
}

CheckpointFiles Patient::checkpoint() const {
  CheckpointFiles found;
  const fs::path root = files().checkpoint();
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(root, error); entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (error) break;
    struct stat status = {};
    if (::lstat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    found[entry->path().lexically_relative(root).string()] = {.inode = status.st_ino,
                                                              .written = entry->last_write_time(error)};
  }
  return found;
}

std::vector<ReportLine> Patient::reports() const {
  std::vector<ReportLine> reports;
  for (const std::string& line : lines_of(files().report())) reports.push_back(parse_report(line, spec_.metric.name));
  for (const std::string& line : lines_of(files().log())) {
    if (const auto json = tagged_report(line)) reports.push_back(parse_report(*json, spec_.metric.name));
  }
  return reports;
}

bool Patient::prints_its_reports() const {
  std::error_code error;
  return fs::file_size(files().report(), error) == 0 && !error;
}

}  // namespace bapi

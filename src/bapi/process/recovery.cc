#include "bapi/process/recovery.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "bapi/process/failure_text.h"
#include "bapi/process/process_file.h"
#include "bapi/process/training_process.h"

namespace bapi {
namespace {

constexpr double kSlack = 1e-9;              // sums of costs are compared with this relative tolerance
constexpr double kNegligibleSeconds = 1e-6;  // of the difference of two instants

double modified_at(const std::filesystem::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return 0.0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

const EpochReport* as_epoch(const ReportLine& report) { return std::get_if<EpochReport>(&report); }

// The process as the log knows it: what it has reported, and up to when it was charged.
struct Known {
  std::size_t reports = 0;  // how many of the first reports are in the log
  Epoch reported = 0;
  bool training = false;
};

// Reports are recorded in order. The last one that is in the log: that of the trial's last epoch, if this process
// trained it; and, where reports have a price, the last that the trial's charges since the start pay for.
Known known_part(const std::vector<ReportLine>& reports,
                 const ProcessFile& file,
                 const Trial& trial,
                 const ProcessAccount& account) {
  const Cost charged = trial.spent() - file.spent_before;
  Known known;
  Cost sum = 0.0;
  Epoch before = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const EpochReport* report = as_epoch(reports[i]);
    if (!report || report->epoch == before || report->epoch < 1) continue;
    if (before == 0 && report->epoch == file.from) continue;  // marks the end of start-up
    before = report->epoch;
    sum += account.price(*report);
    const bool on_curve = report->epoch == trial.curve.last_epoch() && report->epoch > file.recorded;
    const bool paid = account.price(*report) > 0.0 && sum <= charged + kSlack * trial.spent();
    if (on_curve || paid) known = {.reports = i + 1, .reported = report->epoch, .training = true};
  }
  return known;
}

// Without the process file (a power cut may tear it), only what is new beyond doubt counts.
ProcessFile torn_file(const Trial& trial, const StudySpec& spec, double now) {
  return {.identity = {},
          .started_at = now,
          .spent_before = trial.spent(),
          .recorded = trial.curve.last_epoch(),
          .from = trial.curve.last_epoch(),
          .until = spec.epochs.max,
          .max_epoch = spec.epochs.max};
}

void drop_recorded_epochs(std::vector<ReportLine>& reports, Epoch last) {
  std::erase_if(reports, [&](const ReportLine& report) {
    const EpochReport* epoch = as_epoch(report);
    return !epoch || epoch->epoch <= last;
  });
}

// What a dead controller left of a process.
struct Remains {
  ProcessFile file;
  std::vector<ReportLine> reports;
  double charged_until = 0.0;  // its time up to here is in the log
  double written_at = 0.0;     // when the last report was written
  double gone = 0.0;           // when it ended, as far as can be told
};

Remains inspect(const StudySpec& spec, const TrialDir& dir, const Trial& trial, const Clock& clock) {
  const std::optional<ProcessFile> found = read_process_file(dir.process());
  ProcessFile file = torn_file(trial, spec, clock.now());
  if (found) file = *found;
  if (found && end_leftovers(file.identity, "BAPI_DIR=" + dir.root.string()) == Leftovers::ended) {
    ::utimensat(AT_FDCWD, dir.process().c_str(), nullptr, 0);  // it lived until now
  }
  ReportReader::Batch batch = ReportReader(dir, file.report_offset, file.log_offset, spec.metric.name).read_rest();
  if (!found) drop_recorded_epochs(batch.reports, trial.curve.last_epoch());

  const double gone = std::min(clock.now(), std::max(modified_at(dir.process()), batch.written_at));
  const double charged = std::max(0.0, spec.budget.to_seconds(trial.spent() - file.spent_before));
  const double charged_until = std::max(file.started_at, std::min(gone, file.started_at + charged));
  return {.file = file,
          .reports = std::move(batch.reports),
          .charged_until = charged_until,
          .written_at = std::clamp(batch.written_at, charged_until, std::max(charged_until, gone)),
          .gone = gone};
}

// The account as it was when the controller died; what it holds already is taken off the reports.
ProcessAccount reopen(const StudySpec& spec, const Trial& trial, Remains& remains) {
  ProcessAccount::Opening opening = {.trial = trial.id,
                                     .last_epoch = trial.curve.last_epoch(),
                                     .usual_epoch = usual_epoch_cost(trial.curve),
                                     .spent = trial.spent(),
                                     .from = remains.file.from,
                                     .max_epoch = remains.file.max_epoch,
                                     .charged_until = remains.charged_until};
  const Known known = known_part(remains.reports, remains.file, trial, ProcessAccount(spec, opening));
  opening.reported = known.reported;
  opening.training = known.training || trial.spent() > remains.file.spent_before;
  remains.reports.erase(remains.reports.begin(), remains.reports.begin() + static_cast<std::ptrdiff_t>(known.reports));
  return ProcessAccount(spec, opening);
}

}  // namespace

std::vector<Event> recover_process(const StudySpec& spec, const Trial& trial, const TrialDir& dir, const Clock& clock) {
  Remains remains = inspect(spec, dir, trial, clock);
  ProcessAccount account = reopen(spec, trial, remains);
  const bool failed = trial.state == TrialState::failed;
  if (failed) remains.reports.clear();

  std::vector<Event> facts;
  std::optional<Epoch> until = trial.stage().until;  // of the open segment
  for (const TimedReport& timed : spread(std::move(remains.reports), remains.charged_until, remains.written_at)) {
    const Reading reading = account.take(timed.report, timed.at);
    facts.insert(facts.end(), reading.facts.begin(), reading.facts.end());
    if (until && account.last_epoch() >= *until) {
      facts.emplace_back(SegmentDone{.trial = trial.id});
      until.reset();
    }
    if (reading.kind == Reading::Kind::failure && until && account.last_epoch() < remains.file.until) {
      facts.emplace_back(TrialFailed{.trial = trial.id, .message = failure_text(reading.message, "")});
    }
    if (reading.kind == Reading::Kind::failure || reading.kind == Reading::Kind::beyond) break;
  }
  if (remains.gone - account.charged_until() > kNegligibleSeconds) {
    for (const Event& fact : account.close(failed ? OverheadKind::failed : OverheadKind::grace, remains.gone)) {
      facts.push_back(fact);
    }
  }
  return facts;
}

}  // namespace bapi

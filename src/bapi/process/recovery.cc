#include "bapi/process/recovery.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/process/ahead.h"
#include "bapi/process/failure_text.h"
#include "bapi/process/process_file.h"
#include "bapi/process/process_table.h"
#include "bapi/process/training_process.h"

namespace bapi {
namespace {

constexpr double kSlack = 1e-9;              // sums of costs are compared with this relative tolerance
constexpr double kNegligibleSeconds = 1e-6;  // of the difference of two instants

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
    const Epoch unreported = before == 0 ? std::max(0, report->epoch - std::max(file.recorded, file.paid) - 1) : 0;
    before = report->epoch;
    sum += account.price(*report) * (1 + unreported);
    const bool on_curve = report->epoch == trial.curve.last_epoch() && report->epoch > file.recorded;
    const bool paid = account.price(*report) > 0.0 && sum <= charged + kSlack * trial.spent();
    if (on_curve || paid) known = {.reports = i + 1, .reported = report->epoch, .training = true};
  }
  return known;
}

// Without the process file (a power cut may tear it), only what is new beyond doubt counts.
ProcessFile torn_file(const Trial& trial, const StudySpec& spec) {
  return {.identity = {},
          .spent_before = trial.spent(),
          .recorded = trial.curve.last_epoch(),
          .paid = trial.paid_epoch(),
          .continued = true,
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

// What a dead controller left of a process. Instants are seconds of training since it was started.
struct Remains {
  ProcessFile file;
  std::vector<ReportLine> reports;
  double charged_until = 0.0;  // its time up to here is in the log
  double gone = 0.0;           // when it ended, as far as is known
};

// The guardian of the dead controller ends its programs and writes down how long they trained; it gets a while for it.
void wait_for_guardian(const ProcessFile& file, const TrialDir& dir) {
  constexpr int kAttempts = 500;
  constexpr timespec kBetweenLooks = {.tv_sec = 0, .tv_nsec = 10'000'000};
  if (file.dir != dir.root.string()) return;  // a copy of the study: the guardian is the original's
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::optional<ProcessEntry> guardian = process_entry(file.guardian.pid);
    if (identify(file.guardian.pid) != file.guardian || !guardian || guardian->parent == ::getpid()) return;
    if (guardian->stopped()) ::kill(file.guardian.pid, SIGCONT);  // or it would never end them
    ::nanosleep(&kBetweenLooks, nullptr);
  }
  throw StoreError(
      fmt::format("{}: another controller still runs its training program (guardian process {}). End that "
                  "controller, then run again",
                  dir.root.string(),
                  file.guardian.pid));
}

void end_remains(const ProcessFile& file, const TrialDir& dir) {
  std::vector<std::string> marks = {"BAPI_DIR=" + dir.root.string()};
  if (!file.mark.empty()) marks.push_back(file.mark);
  end_leftovers(file.identity, marks);
}

// The file as the controller and its guardian left it, when nothing of the process is left.
std::optional<ProcessFile> final_file(const TrialDir& dir) {
  const std::optional<ProcessFile> found = read_process_file(dir.process());
  if (!found) return std::nullopt;
  wait_for_guardian(*found, dir);
  end_remains(*found, dir);
  return read_process_file(dir.process());
}

Remains inspect(const StudySpec& spec, const TrialDir& dir, const Trial& trial) {
  const std::optional<ProcessFile> found = final_file(dir);
  const ProcessFile file = found ? *found : torn_file(trial, spec);
  ReportReader::Batch batch = ReportReader(dir, file.report_offset, file.log_offset, spec.metric.name).read_rest();
  if (!found) drop_recorded_epochs(batch.reports, trial.curve.last_epoch());
  const double charged = spec.budget.to_seconds(trial.spent() - file.spent_before);
  return {.file = file,
          .reports = std::move(batch.reports),
          .charged_until = std::clamp(charged, 0.0, file.lived),
          .gone = file.lived};
}

// How far the new reports reach: evenly up to the end, but none of them longer than the trial's longest epoch. The rest
// is the epoch that was not finished any more.
double last_report_at(const Remains& remains, const Trial& trial, const StudySpec& spec) {
  if (trial.curve.empty()) return remains.gone;
  Cost longest = 0.0;
  for (const Measurement& point : trial.curve.points()) longest = std::max(longest, point.cost);
  const double reach = spec.budget.to_seconds(longest) * static_cast<double>(remains.reports.size());
  return std::min(remains.gone, remains.charged_until + reach);
}

// The account as it was when the controller died; what it holds already is taken off the reports.
ProcessAccount reopen(const StudySpec& spec, const Trial& trial, Remains& remains) {
  ProcessAccount::Opening opening = {.trial = trial.id,
                                     .last_epoch = trial.curve.last_epoch(),
                                     .paid = trial.paid_epoch(),
                                     .usual_epoch = usual_epoch_cost(trial.curve),
                                     .spent = trial.spent(),
                                     .from = remains.file.from,
                                     .continued = remains.file.continued,
                                     .max_epoch = remains.file.max_epoch,
                                     .charged_until = remains.charged_until};
  const Known known = known_part(remains.reports, remains.file, trial, ProcessAccount(spec, opening));
  opening.reported = known.reported;
  opening.training = known.training || trial.spent() > remains.file.spent_before;
  remains.reports.erase(remains.reports.begin(), remains.reports.begin() + static_cast<std::ptrdiff_t>(known.reports));
  return ProcessAccount(spec, opening);
}

}  // namespace

void end_abandoned_process(const TrialDir& dir) {
  const std::optional<ProcessFile> found = read_process_file(dir.process());
  if (!found || identify(found->guardian.pid) == found->guardian) return;
  end_remains(*found, dir);
  std::error_code ignored;
  std::filesystem::remove(dir.process(), ignored);
}

std::vector<Event> recover_process(const StudySpec& spec, const Trial& trial, const TrialDir& dir, PastSegment past) {
  Remains remains = inspect(spec, dir, trial);
  ProcessAccount account = reopen(spec, trial, remains);
  const bool failed = trial.state == TrialState::failed;
  if (failed) remains.reports.clear();

  std::vector<Event> facts;
  bool open = trial.stage().until.has_value();
  const Epoch until = trial.stage().until.value_or(0);  // of the open segment
  const double last_report = last_report_at(remains, trial, spec);
  std::vector<ReportLine> kept;
  for (const TimedReport& timed : spread(std::move(remains.reports), remains.charged_until, last_report)) {
    if (past == PastSegment::kept && !open) {
      kept.push_back(timed.report);
      continue;
    }
    const Reading reading = account.take(timed.report, timed.at);
    facts.insert(facts.end(), reading.facts.begin(), reading.facts.end());
    if (open && account.last_epoch() >= until) {
      facts.emplace_back(SegmentDone{.trial = trial.id});
      open = false;
    }
    if (reading.kind == Reading::Kind::failure && open && account.last_epoch() < remains.file.until) {
      facts.emplace_back(
          TrialFailed{.trial = trial.id, .message = failure_text(reading.message, ""), .cause = reading.cause});
    }
    if (reading.kind == Reading::Kind::failure || reading.kind == Reading::Kind::beyond) break;
  }
  if (spec.checkpoint == Checkpoint::kept) keep_ahead(dir, kept, spec.metric.name);
  if (remains.gone - account.charged_until() > kNegligibleSeconds) {
    for (const Event& fact : account.close(failed ? OverheadKind::failed : OverheadKind::unfinished, remains.gone)) {
      facts.push_back(fact);
    }
  }
  return facts;
}

}  // namespace bapi

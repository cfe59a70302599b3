#include "bapi/process/model_keeper.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "bapi/study/direction.h"

namespace bapi {
namespace {

constexpr double kNoInstant = std::numeric_limits<double>::infinity();
constexpr int kMostNotes = 5;  // per process

// An epoch that is shorter says nothing about the order of saving and reporting: file systems may count time in steps
// of some milliseconds.
constexpr double kTellingEpoch = 0.05;  // seconds

// An epoch is trained either between a report and the save after it, or between a save and the report after it. A
// machine that keeps the program waiting can lengthen either time, but shorten neither: the gap that holds the training
// is never short, the other one is short sooner or later. So the shortest ones are compared, and must differ by this
// factor.
constexpr double kFarShorter = 4.0;
constexpr int kEnoughGaps = 3;
constexpr double kFarShorterAtOnce = 9.0;  // where there are fewer

// Of the time of a process that copies may take that are not of the best value of the study.
constexpr double kShareOfCopies = 0.05;

constexpr const char* kNoTime = "copying it would have taken more than a twentieth of the training time";

constexpr const char* kOrderUnknown =
    "it was not yet known whether the program saves before or after it reports the epoch";

constexpr double kLookForSave = 0.02;  // seconds, at a program that will save
constexpr double kRest = 0.1;          // seconds without a change: it has saved
constexpr double kLongRest = 1.0;      // the same, while a file is missing that it has always written so far

double modified_at(const std::filesystem::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return 0.0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

TreeState state_of(const std::filesystem::path& directory) {
  auto scanned = scan_tree(directory);
  auto* state = std::get_if<TreeState>(&scanned);
  return state ? std::move(*state) : TreeState{};
}

}  // namespace

// A copy that is being made, or the last one being written to the disk.
class ModelKeeper::Job {
 public:
  Job(SnapshotRequest request, int wake) : request_(std::move(request)), wake_(wake), thread_([this] { take(); }) {}
  Job(const TrialDir& dir, int wake) : request_{.dir = dir, .label = {}}, wake_(wake), thread_([this] { settle(); }) {}
  ~Job() { wait(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const SnapshotLabel& label() const { return request_.label; }
  bool copied() const { return copied_.load(); }
  bool done() const { return done_.load(); }
  bool only_settles() const { return request_.label.epoch == 0; }
  SnapshotResult& result() { return result_; }
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(wake_, &one, sizeof one);
  }

  void take() {
    request_.copied = [this] {
      copied_.store(true);
      wake();
    };
    result_ = take_snapshot(request_);
    done_.store(true);
    wake();
  }

  void settle() {
    copied_.store(true);
    settle_snapshots(request_.dir);
    done_.store(true);
    wake();
  }

  SnapshotRequest request_;
  int wake_;
  SnapshotResult result_;
  std::atomic<bool> copied_ = false;
  std::atomic<bool> done_ = false;
  std::thread thread_;  // the last member: it uses the others
};

ModelKeeper::ModelKeeper(TrialDir dir, Metric metric, const Clock& clock, int wake)
    : dir_(std::move(dir)),
      metric_(std::move(metric)),
      clock_(clock),
      wake_(wake),
      kept_(newest_snapshot(dir_)),
      synced_at_(clock.now()) {}

ModelKeeper::~ModelKeeper() {
  ended_ = true;
  look();
  while (job_) {
    job_->wait();
    look();
  }
}

void ModelKeeper::process_begins() {
  seen_ = state_of(dir_.checkpoint());
  began_empty_ = seen_.empty();
  reported_at_ = modified_at(dir_.log());  // bapi has just written to it
  reports_ = 0;
  order_ = Order::unknown;
  gaps_ = {};
  saved_before_first_report_ = false;
  saved_ahead_ = false;
  left_out_.reset();
  lost_.reset();
  began_at_ = clock_.now();
  stopped_ = 0.0;
  writes_.follow(dir_);
  ended_ = false;
  noted_ = 0;
}

// Of two reports, the second before the first.
bool ModelKeeper::counts_more(double later, double earlier) const {
  return metric_.of == ValueOf::last || oriented(later, metric_.goal) > oriented(earlier, metric_.goal);
}

// Mostly known without a look at the directory: a program may never save.
bool ModelKeeper::still_without_files() {
  writes_.read();
  if (!seen_.empty()) return false;
  std::error_code ignored;
  return writes_.saved_nothing() || std::filesystem::is_empty(dir_.checkpoint(), ignored);
}

bool ModelKeeper::has_time_for(BestOf best_of) const {
  return best_of == BestOf::study || stopped_ <= kShareOfCopies * (clock_.now() - began_at_);
}

bool ModelKeeper::wants_stop(double value, BestOf best_of) {
  if (order_ == Order::reports_first || still_without_files()) return false;
  if (job_ && !job_->only_settles() && !counts_more(value, job_->label().value)) return false;
  return improves(kept_, value, metric_) && has_time_for(best_of);
}

// What the times of a report and of the newest save tell; which of them came first where both have the same time, the
// kernel's events do.
void ModelKeeper::measure_gaps(const Report& report, double saved_at, Saved saved) {
  const double interval = report.written_at - reported_at_;
  const bool first = reports_ == 1;
  if (!report.alone || (interval < kTellingEpoch && !first)) return;
  const auto add_epoch = [&](double saved_before) {
    gaps_.after_report = std::min(gaps_.after_report, saved_before - reported_at_);
    gaps_.before_report = std::min(gaps_.before_report, report.written_at - saved_before);
    ++gaps_.count;
  };
  if (saved == Saved::after) {
    gaps_.after_report = std::min(gaps_.after_report, std::max(0.0, saved_at - report.written_at));
    const double seen_before = seen_.newest_content();  // when the last report was looked at
    if (!first && seen_before >= reported_at_ && seen_before <= report.written_at) add_epoch(seen_before);
  } else if (saved_at > reported_at_ || (saved_at == reported_at_ && writes_.saved_between(report.channel))) {
    add_epoch(saved_at);
  } else if (!first) {
    gaps_.epoch_without_save = true;
  }
}

void ModelKeeper::learn(const Report& report) {
  // One that saves some epochs, and validates for long before it reports them, saves soon after the report before.
  if (gaps_.epoch_without_save && order_ == Order::reports_first) order_ = Order::unknown;
  if (order_ != Order::unknown) return;
  const bool enough = gaps_.count >= kEnoughGaps;
  if (writes_.surely_saves_first(report.channel) || (enough && gaps_.training_is_before_save(kFarShorter))) {
    order_ = Order::saves_first;
  } else if (enough && gaps_.training_is_before_report(kFarShorter) && !saved_before_first_report_ &&
             !gaps_.epoch_without_save) {
    order_ = Order::reports_first;
  }
}

void ModelKeeper::reported(const Report& report) {
  if (waiting_) miss(waiting_->label, "the program did not save, or was still saving, when it reported the next epoch");
  waiting_.reset();
  if (left_out_ && (!lost_ || counts_more(left_out_->label.value, lost_->value))) lost_ = left_out_->label;
  left_out_.reset();
  const bool first = reports_++ == 0;
  if (first) forget_checkpoint_epoch(dir_);
  const bool without_files = still_without_files();
  writes_.mark_report(report.channel);
  if (without_files) {
    reported_at_ = report.written_at;
    return;
  }
  const auto scanned = scan_tree(dir_.checkpoint());
  if (const auto* trouble = std::get_if<std::string>(&scanned)) {
    if (improves(kept_, report.value, metric_)) miss(report.label(), *trouble);
    return;
  }
  const TreeState& now = std::get<TreeState>(scanned);
  const bool wrote = now != seen_ || saved_ahead_;
  writes_.read();  // again: whatever the scan has seen
  const bool later = writes_.saved_after(report.channel) || now.newest_content() > report.written_at;
  measure_gaps(report, now.newest_content(), later ? Saved::after : Saved::before);
  if (first) saved_before_first_report_ = wrote && !later;
  learn(report);
  seen_ = now;
  saved_ahead_ = later;
  reported_at_ = report.written_at;
  if (order_ == Order::reports_first) return wait_for_save(report, now, later ? Saved::after : Saved::before);
  if (!wants_stop(report.value, BestOf::study) || now.empty()) return;
  const SnapshotLabel label = report.label();
  if (!wrote) return miss(label, kNotSaved);
  if (later) return miss(label, kSavedAgain);
  const bool of_no_other = first && began_empty_;  // a process that has never reported has no other model
  const bool told = order_ == Order::saves_first || gaps_.training_is_before_save(kFarShorterAtOnce);
  if (!told && !of_no_other) return miss(label, kOrderUnknown);
  const Candidate candidate = {.label = label, .written_by = report.written_at};
  if (!has_time_for(report.best_of)) {
    left_out_ = candidate;
    return;
  }
  next_ = candidate;
  if (!job_) copy(*std::exchange(next_, std::nullopt));
}

// Of a program that saves after it reports: what it writes next is the model of this epoch.
void ModelKeeper::wait_for_save(const Report& report, const TreeState& now, Saved saved) {
  if (!told_order_) {
    notes_.emplace_back(
        "the program saves its checkpoint after it reports the epoch. Save, then report: then the checkpoint of the "
        "best epoch can be kept in every case");
  }
  told_order_ = true;
  if (!improves(kept_, report.value, metric_)) return;
  const bool has_begun = saved == Saved::after;
  waiting_ = {.label = report.label(),
              .at_report = has_begun ? TreeState{} : now,
              .last_seen = now,
              .changed_at = clock_.now(),
              .next_look = clock_.now() + (has_begun ? kRest : kLookForSave)};
}

bool ModelKeeper::is_between_save_and_report(WriteOrder::Channel channel) {
  writes_.read();
  return order_ != Order::reports_first && writes_.saved_last(channel);
}

void ModelKeeper::copy(const Candidate& candidate) {
  const double now = clock_.now();
  const Sync sync = now - synced_at_ >= kSyncEvery ? Sync::yes : Sync::no;
  if (sync == Sync::yes) synced_at_ = now;
  try {
    job_ = std::make_unique<Job>(
        SnapshotRequest{.dir = dir_, .label = candidate.label, .written_by = candidate.written_by, .sync = sync},
        wake_);
  } catch (const std::system_error& error) {  // no room for a thread
    miss(candidate.label, error.what());
  }
}

void ModelKeeper::process_ended(bool in_order) {
  ended_ = true;
  if (waiting_) {
    if (!job_) look_at_rest(in_order ? Writes::done : Writes::perhaps_more);
    if (waiting_) miss(waiting_->label, "the program ended before it had saved");
    waiting_.reset();
  }
  if (left_out_ && improves(kept_, left_out_->label.value, metric_)) next_ = left_out_;
  left_out_.reset();
  const bool better = lost_ && improves(kept_, lost_->value, metric_);
  if (better && (!next_ || counts_more(lost_->value, next_->label.value))) miss(*lost_, kNoTime);
  if (next_ && !job_) copy(*std::exchange(next_, std::nullopt));
  look();
}

void ModelKeeper::look() {
  if (job_ && job_->done()) finish_job();
  if (waiting_ && !job_ && clock_.now() >= waiting_->next_look) look_at_rest(Writes::perhaps_more);
  if (!job_ && ended_ && kept_ && !kept_->synced) {
    kept_->synced = true;
    try {
      job_ = std::make_unique<Job>(dir_, wake_);
    } catch (const std::system_error&) {
      // It is written to the disk in the kernel's own time.
    }
  }
}

void ModelKeeper::finish_job() {
  if (!job_->only_settles()) {
    SnapshotResult& result = job_->result();
    if (result.taken) {
      kept_ = std::move(result.taken);
    } else {
      miss(job_->label(), result.failure);
    }
  }
  job_.reset();
  if (next_ && improves(kept_, next_->label.value, metric_)) copy(*next_);
  next_.reset();
}

// Whether a program that reports first has saved by now, and does not write any more. One that was interrupted while it
// writes a file that it will rename has not written all of its files.
void ModelKeeper::look_at_rest(Writes writes) {
  TreeState now = state_of(dir_.checkpoint());
  if (now != waiting_->last_seen) waiting_->changed_at = clock_.now();
  writes_.read();
  const bool as_usual = writes_.saved_as_usual();
  const double rest = clock_.now() - waiting_->changed_at;
  const bool rests = writes == Writes::done || rest >= (as_usual ? kRest : kLongRest);
  if (now != waiting_->at_report && rests && !now.empty()) {
    copy({.label = waiting_->label, .written_by = kNoInstant});
    seen_ = std::move(now);
    waiting_.reset();
    return;
  }
  waiting_->next_look = clock_.now() + (now == waiting_->at_report ? kLookForSave : kRest);
  waiting_->last_seen = std::move(now);
}

void ModelKeeper::miss(const SnapshotLabel& label, const std::string& reason) {
  if (!missed_ || counts_more(label.value, *missed_)) {
    note_missed(dir_, {.epoch = label.epoch, .reason = reason});
    missed_ = label.value;
  }
  if (noted_++ < kMostNotes) {
    notes_.push_back(fmt::format("the checkpoint of epoch {} was not kept: {}", label.epoch, reason));
  }
}

bool ModelKeeper::needs_stopped_program() const { return next_.has_value() || (job_ && !job_->copied()); }

bool ModelKeeper::busy() const { return job_ != nullptr; }

double ModelKeeper::next_look() const {
  if (job_) return wake_ >= 0 ? kNoInstant : clock_.now() + kLookForSave;
  return waiting_ ? waiting_->next_look : kNoInstant;
}

std::vector<std::string> ModelKeeper::take_notes() { return std::exchange(notes_, {}); }

}  // namespace bapi

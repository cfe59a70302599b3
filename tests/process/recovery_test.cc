#include "bapi/process/recovery.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>

#include "bapi/process/ahead.h"
#include "bapi/process/process_file.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

constexpr TrialId kTrial{0};
constexpr const char* kMark = "BAPI_CONTROLLER=dead";

// The files that a dead controller left, and the log as it was.
class Recovery : public testing::Test {
 protected:
  Recovery() : dir_(StudyDir(scratch_.path()).trial(kTrial)), spec_(trainer_spec({})) {
    dir_.create();
    trial_.state = TrialState::running;
    trial_.segment = OpenSegment{.until = 5};
  }

  void recorded(const std::vector<Cost>& costs, Cost overhead = 0.0) {
    for (const Cost cost : costs) trial_.curve.append({trial_.curve.last_epoch() + 1, 0.5, cost});
    trial_.overhead += overhead;
  }

  // The process as it was started, with what the log held then.
  void started() {
    ProcessFile file;
    file.identity = {.pid = 1, .start_ticks = 1, .boot = "another"};
    file.mark = kMark;
    file.dir = dir_.root.string();
    file.spent_before = trial_.spent();
    file.recorded = trial_.curve.last_epoch();
    file.paid = trial_.paid_epoch();
    file.continued = file.recorded > 0;
    file.from = file.recorded;
    file.until = 5;
    file.max_epoch = 8;
    file.report_offset = static_cast<std::int64_t>(std::filesystem::file_size(dir_.report()));
    write_process_file(dir_.process(), file);
  }

  void said(const std::vector<Epoch>& epochs) {
    for (const Epoch epoch : epochs) {
      std::ofstream(dir_.report(), std::ios::app)
          << "{\"epoch\": " << epoch << ", \"accuracy\": 0.5, \"cost\": 0.25}\n";
    }
  }

  void lived(double seconds) { renew_lived(dir_.process(), kMark, 1, seconds); }

  // As clocks that were set, copies and evil programs do.
  void touch_everything(time_t at) {
    const timespec times[2] = {{.tv_sec = at, .tv_nsec = 0}, {.tv_sec = at, .tv_nsec = 0}};
    for (const std::filesystem::path& file : {dir_.report(), dir_.log(), dir_.process()}) {
      ::utimensat(AT_FDCWD, file.c_str(), times, 0);
    }
  }

  std::vector<Event> recover() { return recover_process(spec_, trial_, dir_); }

  // The facts go to the log.
  void record(const std::vector<Event>& facts) {
    for (const Event& fact : facts) {
      if (const auto* measured = std::get_if<Measured>(&fact)) trial_.curve.append(measured->measurement);
      if (const auto* overhead = std::get_if<Overhead>(&fact)) {
        trial_.overhead += overhead->cost;
        if (overhead->kind == OverheadKind::unreported) trial_.unreported = overhead->epoch;
      }
      if (std::holds_alternative<SegmentDone>(fact)) trial_.segment.reset();
    }
  }

  // Recovers, records, and looks that nothing is left to recover.
  std::vector<Event> recover_once() {
    const std::vector<Event> facts = recover();
    EXPECT_EQ(recover(), facts);
    record(facts);
    EXPECT_EQ(recover(), std::vector<Event>{});
    return facts;
  }

  static Event measured(Epoch epoch, Cost cost) { return Measured{kTrial, {epoch, 0.5, cost}}; }
  static Event overhead(OverheadKind kind, Epoch epoch, Cost cost) { return Overhead{kTrial, kind, epoch, cost}; }

  TempDir scratch_;
  TrialDir dir_;
  StudySpec spec_;
  Trial trial_;
};

TEST_F(Recovery, EpochsThatWereReportedButNotRecordedAreFacts) {
  started();
  said({1, 2, 3});
  recorded({1.0});
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(2, 1.0), measured(3, 1.0)}));
}

TEST_F(Recovery, TheLastEpochOfTheSegmentClosesIt) {
  started();
  said({1, 2, 3, 4, 5, 6});
  recorded({1.0, 1.0, 1.0});
  EXPECT_EQ(recover_once(),
            (std::vector<Event>{measured(4, 1.0), measured(5, 1.0), SegmentDone{kTrial}, measured(6, 1.0)}));
}

TEST_F(Recovery, EarlierProcessesAreNotHeardAgain) {
  said({1, 2, 3, 4});
  recorded({1.0, 1.0, 1.0});
  trial_.segment->until = 9;
  started();
  said({4});
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(4, 1.0)}));
}

TEST_F(Recovery, RepeatedEpochsAreChargedOnce) {
  recorded({1.0, 1.0, 1.0});
  started();
  said({1, 2, 3, 4});
  recorded({}, 2.0);  // two of the repeats are in the log
  EXPECT_EQ(recover_once(), (std::vector<Event>{overhead(OverheadKind::repeat, 3, 1.0), measured(4, 1.0)}));
}

// Epoch 3 was saved by the process before and never reported.
TEST_F(Recovery, AnUnreportedEpochIsChargedOnce) {
  spec_.budget = {.limit = 100.0, .unit = "epochs", .meter = Meter::epochs};
  recorded({1.0, 1.0});
  started();
  said({4});
  EXPECT_EQ(recover_once(), (std::vector<Event>{overhead(OverheadKind::unreported, 3, 1.0), measured(4, 1.0)}));
  said({5});
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(5, 1.0), SegmentDone{kTrial}}))
      << "what the gap cost must not be taken for the price of a report";
}

TEST_F(Recovery, ReportedCostsAreChargedOnce) {
  spec_.budget.meter = Meter::reported;
  recorded({0.25, 0.25});
  started();
  said({1, 2, 3});
  recorded({}, 0.25);
  EXPECT_EQ(recover_once(), (std::vector<Event>{overhead(OverheadKind::repeat, 2, 0.25), measured(3, 0.25)}));
}

TEST_F(Recovery, NothingPastTheLastPayableEpochComesBack) {
  started();
  said({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(epochs_of(recover_once()).back(), 8);
}

TEST_F(Recovery, HalfALineIsNoReport) {
  started();
  said({1});
  std::ofstream(dir_.report(), std::ios::app) << "{\"epoch\": 2, \"accur";
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(1, 1.0)}));
}

TEST_F(Recovery, ADivergedEpochIsAFailure) {
  started();
  std::ofstream(dir_.report(), std::ios::app) << "{\"epoch\": 1, \"accuracy\": NaN}\n";
  const std::vector<Event> facts = recover();
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0], overhead(OverheadKind::failed, 1, 1.0));
  EXPECT_TRUE(std::holds_alternative<TrialFailed>(facts[1]));
}

TEST_F(Recovery, TimeIsSharedByTheNewEpochsAndTheRestIsGrace) {
  spec_ = in_seconds(spec_);
  started();
  recorded({3.0}, 1.0);  // start-up and the first epoch: charged until 4 s after the start
  said({1, 2, 3});
  lived(11.5);
  EXPECT_EQ(recover_once(),
            (std::vector<Event>{measured(2, 3.0), measured(3, 3.0), overhead(OverheadKind::unfinished, 4, 1.5)}));
}

TEST_F(Recovery, TimeBeforeTheFirstReportIsCharged) {
  spec_ = in_seconds(spec_);
  started();
  lived(7.0);
  EXPECT_EQ(recover_once(), (std::vector<Event>{overhead(OverheadKind::unfinished, 1, 7.0)}));
}

TEST_F(Recovery, EpochsShareTheTimeEvenlyWhereNoneIsKnown) {
  spec_ = in_seconds(spec_);
  started();
  said({1, 2, 3});
  lived(6.0);
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(1, 2.0), measured(2, 2.0), measured(3, 2.0)}));
}

TEST_F(Recovery, WhatIsChargedAlreadyIsNotChargedAgain) {
  spec_ = in_seconds(spec_);
  started();
  recorded({5.0});
  said({1, 2});
  lived(4.0);
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(2, 0.0)}));
}

TEST_F(Recovery, TimesOfFilesChargeNothing) {
  spec_ = in_seconds(spec_);
  started();
  recorded({2.0});
  said({1, 2});
  lived(4.0);
  for (const time_t at : {time_t{0}, time_t{1'000'000'000}, time_t{9'000'000'000}}) {
    touch_everything(at);
    EXPECT_EQ(recover(), (std::vector<Event>{measured(2, 2.0)}));
  }
}

TEST_F(Recovery, MissingFilesHaveNoReports) {
  spec_ = in_seconds(spec_);
  started();
  lived(3.0);
  std::filesystem::remove(dir_.log());
  std::filesystem::remove(dir_.report());
  EXPECT_EQ(recover_once(), (std::vector<Event>{overhead(OverheadKind::unfinished, 1, 3.0)}));
}

TEST_F(Recovery, PipesLinksAndHolesAreNotRead) {
  started();
  said({1});
  std::filesystem::remove(dir_.log());
  ASSERT_EQ(::mkfifo(dir_.log().c_str(), 0600), 0);
  std::filesystem::resize_file(dir_.report(), std::uintmax_t{1} << 40U);
  EXPECT_EQ(recover(), (std::vector<Event>{measured(1, 1.0)}));
  std::filesystem::remove(dir_.report());
  std::filesystem::create_symlink("/dev/zero", dir_.report());
  EXPECT_EQ(recover(), std::vector<Event>{});
}

// A file that the program replaces meanwhile may be gone when its turn comes: then once more.
void copy_what_changes(const std::filesystem::path& from, const std::filesystem::path& to) {
  using std::filesystem::copy_options;
  std::error_code error;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::filesystem::copy(from, to, copy_options::recursive | copy_options::overwrite_existing, error);
    if (!error) return;
  }
  FAIL() << error.message();
}

TEST_F(Recovery, ACopyOfARunningStudyLeavesTheOriginalAlone) {
  TempDir other;
  const StudyDir original(other.path() / "o.bapi");
  const StudyDir copy(other.path() / "copy" / "o.bapi");
  const SystemClock clock;
  const StudySpec spec = trainer_spec({"--sleep", "0.02"});
  History history(spec);
  history.apply(TrialStarted{.trial = kTrial, .config = {{Value{0.5}}}, .until = 20});
  ProcessEvaluator running(spec, original, clock);
  running.start(segment(0, 0, 20));
  wait_for_a<Measured>(running);
  std::filesystem::create_directories(copy.root());
  ASSERT_NO_FATAL_FAILURE(copy_what_changes(original.root(), copy.root()));
  const int pid = read_process_file(original.trial(kTrial).process())->identity.pid;
  ProcessEvaluator next(spec, copy, clock);
  EXPECT_FALSE(next.recover(history).empty());
  EXPECT_TRUE(identify(pid).has_value());
}

TEST_F(Recovery, ATornFileLosesNoEpochAndChargesNoTime) {
  spec_ = in_seconds(spec_);
  recorded({1.0, 1.0});
  said({1, 2, 1, 2, 3});
  std::ofstream(dir_.process()) << "pid 12";
  EXPECT_EQ(recover_once(), (std::vector<Event>{measured(3, 0.0)}));
}

// The only other child of this process is the guardian of the program `pid`. It is left to be waited for.
void end_guardian_of(int pid) {
  for (const ProcessEntry& entry : process_table()) {
    if (entry.parent != ::getpid() || entry.pid == pid) continue;
    ::kill(entry.pid, SIGKILL);
    siginfo_t ended = {};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(entry.pid), &ended, WEXITED | WNOWAIT), 0);
  }
}

TEST_F(Recovery, EndsTheProcessesOfADeadControllerFirst) {
  TempDir other;
  const StudyDir study(other.path() / "fake.bapi");
  const SystemClock clock;
  const StudySpec spec =
      in_seconds(trainer_spec({"--sleep", "0.02", "--save-every", "100000"}, 10'000));  // no model to keep
  History history(spec);
  const TrialStarted decision{.trial = kTrial, .config = {{Value{0.5}}}, .until = 10'000};
  history.apply(decision);
  auto dead = std::make_unique<ProcessEvaluator>(spec, study, clock);
  dead->start(segment(0, 0, 10'000, 10'000));
  for (const Event& fact : wait_for_a<Measured>(*dead)) history.apply(fact);
  const auto lines = [&] {
    const std::string report = text_of(study.trial(kTrial).report());
    return std::count(report.begin(), report.end(), '\n');
  };
  const std::int64_t known = history.trial(kTrial).curve.last_epoch();
  while (lines() < known + 3) ::usleep(1000);
  const int pid = read_process_file(study.trial(kTrial).process())->identity.pid;
  end_guardian_of(pid);  // it died with its controller: nobody but recovery ends the program or writes of its end
  ProcessEvaluator next(spec, study, clock);
  next.recover(history);
  EXPECT_FALSE(identify(pid).has_value());
  const std::vector<Event> facts = next.recover(history);
  EXPECT_EQ(next.recover(history), facts);
  EXPECT_GE(epochs_of(facts).size(), 3u);
  for (const Event& fact : facts) history.apply(fact);
  EXPECT_EQ(next.recover(history), std::vector<Event>{});
  dead.reset();
}

TEST_F(Recovery, InLockstepReportsPastTheSegmentAreKeptForTheNext) {
  started();
  said({1, 2, 3, 4, 5, 6, 7});
  const std::vector<Event> facts = recover_process(spec_, trial_, dir_, PastSegment::kept);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3, 4, 5}));
  EXPECT_EQ(recover_process(spec_, trial_, dir_, PastSegment::kept), facts) << "until they are recorded";
  record(facts);
  EXPECT_TRUE(recover_process(spec_, trial_, dir_, PastSegment::kept).empty());
  const std::vector<EpochReport> kept = reports_ahead(dir_, "accuracy", 5);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].epoch, 6);
  EXPECT_EQ(kept[1].cost, 0.25);
  EXPECT_EQ(reports_ahead(dir_, "accuracy", 6).size(), 1u) << "what the log has is passed over";
}

}  // namespace
}  // namespace bapi

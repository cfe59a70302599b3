#include "bapi/process/model_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <functional>

#include "bapi/store/snapshot.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Kept {
  std::vector<Event> facts;
  std::optional<Snapshot> model;
  std::string content;  // the epoch that its program has written into it
  std::string log;
  std::optional<MissedSnapshot> missed;
};

// Trains one trial with the fake trainer to its last epoch.
Kept train(const std::vector<std::string>& flags, Epoch epochs = 12, StudySpec spec = {}) {
  const TempDir temp;
  const SystemClock clock;
  if (spec.command.empty()) spec = trainer_spec(flags, epochs);
  const StudyDir dir(temp / "s.bapi");
  Kept kept;
  {
    ProcessEvaluator evaluator(spec, dir, clock);
    evaluator.start(segment(0, 0, epochs, epochs));
    kept.facts = drain(evaluator);
  }
  const TrialDir trial = dir.trial(TrialId{0});
  kept.model = newest_snapshot(trial);
  if (kept.model) kept.content = text_of(kept.model->files / "epoch");
  kept.log = text_of(trial.log());
  kept.missed = missed_snapshot(trial);
  return kept;
}

// Which model is kept may depend on the machine: one that is too busy for a look between two reports misses a model. It
// may do so now and then, not always; and whatever it keeps bears its own epoch.
constexpr int kAttempts = 5;

Kept train_to_keep(Epoch best, const std::vector<std::string>& flags, Epoch epochs = 12) {
  Kept kept;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    kept = train(flags, epochs);
    if (!kept.model) continue;
    EXPECT_EQ(kept.content, std::to_string(kept.model->label.epoch));
    if (kept.model->label.epoch == best) break;
  }
  return kept;
}

TEST(ModelKeeper, KeepsTheModelOfTheBestEpochOfAProgramThatSavesFirst) {
  const Kept kept = train_to_keep(5, {"--turn", "5", "--sleep", "0.15"});
  EXPECT_EQ(epochs_of(kept.facts).size(), 12U);
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 5);
  EXPECT_EQ(kept.content, "5");
  EXPECT_FALSE(kept.missed && kept.missed->epoch == 5);
}

TEST(ModelKeeper, KeepsItIfItIsTheLastEpochAndTheProgramEnds) {
  const Kept kept = train_to_keep(12, {"--turn", "12", "--sleep", "0.15"});
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 12);
  EXPECT_EQ(kept.content, "12");
  EXPECT_TRUE(kept.model->synced) << "it is written to the disk when the program has ended";
}

TEST(ModelKeeper, KeepsItWhenReportsArePrinted) {
  const Kept kept = train_to_keep(7, {"--turn", "7", "--sleep", "0.15", "--say", "print"});
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 7);
  EXPECT_EQ(kept.content, "7");
}

// It cannot stop a program of microseconds in time for every epoch. What it keeps is labelled as what it is.
TEST(ModelKeeper, NeverGivesAModelTheEpochOfAnother) {
  for (const char* turn : {"3", "50", "120"}) {
    const Kept kept = train({"--turn", turn, "--sleep", "0.001"}, 150);
    ASSERT_TRUE(kept.model) << kept.log;
    EXPECT_EQ(kept.content, std::to_string(kept.model->label.epoch));
  }
}

TEST(ModelKeeper, KeepsTheLastEpochIfItIsTheBestHoweverFastTheProgramIs) {
  for (const char* sleep : {"0", "0.001", "0.003"}) {
    const Kept kept = train({"--turn", "150", "--sleep", sleep}, 150);
    ASSERT_TRUE(kept.model) << kept.log;
    EXPECT_EQ(kept.model->label.epoch, 150) << kept.log;
    EXPECT_EQ(kept.content, "150");
  }
}

// It looks as if it saved after its reports, by the times of its files. So does a program that a busy machine leaves
// without a processor after it has saved.
TEST(ModelKeeper, KnowsAProgramThatSavesLongBeforeItReports) {
  const Kept kept = train_to_keep(5, {"--turn", "5", "--sleep", "0.02", "--validate", "0.25"}, 8);
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 5);
  EXPECT_EQ(kept.content, "5");
}

TEST(ModelKeeper, MissesAModelRatherThanGiveItTheEpochOfAnother) {
  const Kept kept = train({"--turn", "5", "--sleep", "0.02", "--validate", "0.25", "--say", "print", "--chatty"}, 8);
  if (kept.model) {
    EXPECT_EQ(kept.content, std::to_string(kept.model->label.epoch));
  } else {
    ASSERT_TRUE(kept.missed);
    EXPECT_NE(kept.missed->reason.find("it was not yet known whether the program saves"), std::string::npos);
  }
}

TEST(ModelKeeper, WaitsForAProgramThatReportsFirstToSave) {
  const Kept kept = train_to_keep(9, {"--turn", "9", "--sleep", "0.3", "--report-first"}, 11);
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 9);
  EXPECT_EQ(kept.content, "9");
  EXPECT_NE(kept.log.find("Save, then report"), std::string::npos);
}

TEST(ModelKeeper, DoesNotCopyWhatIsBeingWrittenInPlace) {
  const Kept kept =
      train_to_keep(9, {"--turn", "9", "--sleep", "0.3", "--report-first", "--in-place", "--save-took", "0.05"}, 11);
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 9);
  EXPECT_EQ(kept.content, "9");
}

TEST(ModelKeeper, DoesNotCopyBeforeANewFileTookThePlaceOfTheOldOne) {
  const Kept kept = train_to_keep(9, {"--turn", "9", "--sleep", "0.5", "--report-first", "--save-took", "0.25"}, 10);
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.model->label.epoch, 9);
  EXPECT_EQ(kept.content, "9");
}

TEST(ModelKeeper, SaysThatNothingWasSavedForTheBestEpoch) {
  const Kept kept = train_to_keep(8, {"--turn", "7", "--sleep", "0.15", "--save-every", "4"});
  ASSERT_TRUE(kept.model) << kept.log;
  EXPECT_EQ(kept.content, std::to_string(kept.model->label.epoch));
  EXPECT_EQ(kept.model->label.epoch, 8);  // the best of 4, 8 and 12
}

TEST(ModelKeeper, ChargesTheTimeOfTheCopyWhereTimeIsTheCost) {
  const Kept kept = train({}, 6, in_seconds(trainer_spec({"--turn", "6", "--sleep", "0.15"}, 6)));
  Cost sum = 0.0;
  for (const Overhead& overhead : all_of<Overhead>(kept.facts)) {
    if (overhead.kind == OverheadKind::snapshot) sum += overhead.cost;
  }
  EXPECT_GT(sum, 0.0);
  EXPECT_EQ(epochs_of(kept.facts).size(), 6U);
}

// A program whose files have the times that a test gives them: a machine that keeps it waiting, at will.
class TimedProgram {
 public:
  TimedProgram() : dir_{temp_ / "trial"}, keeper_(made(dir_), Metric{.name = "accuracy"}, clock_, -1) {
    keeper_.process_begins();
    begin_ = static_cast<double>(::time(nullptr)) + 1.0;
  }

  void save(Epoch epoch, double at) {
    std::ofstream(dir_.checkpoint() / "epoch") << epoch;
    set_time(dir_.checkpoint() / "epoch", begin_ + at);
  }

  // Every epoch is better than the one before.
  void report(
      Epoch epoch, double at, const std::function<void()>& before_it_is_read = [] {}) {
    std::ofstream(dir_.report(), std::ios::app) << "{\"epoch\": " << epoch << "}\n";
    before_it_is_read();
    keeper_.wants_stop(epoch, ModelKeeper::BestOf::study);
    keeper_.reported({.epoch = epoch, .value = static_cast<double>(epoch), .written_at = begin_ + at});
    settle();
  }

  void settle() {
    do {
      ::usleep(1000);
      clock_.advance(0.05);
      keeper_.look();
    } while (keeper_.busy());
  }

  // That of the model that is kept, as its label says; 0 if there is none. Never that of another one.
  Epoch kept() const {
    const std::optional<Snapshot> model = newest_snapshot(dir_);
    if (!model) return 0;
    EXPECT_EQ(text_of(model->files / "epoch"), std::to_string(model->label.epoch));
    return model->label.epoch;
  }

 private:
  static TrialDir made(const TrialDir& dir) {
    dir.create();
    return dir;
  }

  static void set_time(const fs::path& file, double at) {
    const auto seconds = static_cast<time_t>(at);
    const timespec time = {.tv_sec = seconds, .tv_nsec = static_cast<long>((at - static_cast<double>(seconds)) * 1e9)};
    const std::array<timespec, 2> times = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  }

  TempDir temp_;
  ManualClock clock_;
  TrialDir dir_;
  ModelKeeper keeper_;
  double begin_ = 0.0;
};

TEST(ModelKeeper, IsNotMistakenAboutAProgramThatIsKeptWaitingBetweenReportAndSave) {
  for (const double waits : {0.001, 0.2, 0.5, 1.0, 3.0}) {  // 0.35 s of training
    TimedProgram program;
    double now = 1.0;
    for (Epoch epoch = 1; epoch <= 8; ++epoch) {
      program.report(epoch, now);
      EXPECT_LE(program.kept(), epoch);
      now += epoch % 3 == 0 ? 0.01 : waits;
      program.save(epoch, now);
      for (int look = 0; look < 8; ++look) program.settle();
      program.kept();
      now += 0.35;
    }
    if (waits < 0.01) {
      EXPECT_EQ(program.kept(), 8);
    }
  }
}

TEST(ModelKeeper, IsNotMistakenAboutAProgramThatIsKeptWaitingBetweenSaveAndReport) {
  for (const double waits : {0.001, 0.2, 0.5, 3.0}) {
    TimedProgram program;
    double now = 1.0;
    for (Epoch epoch = 1; epoch <= 8; ++epoch) {
      program.save(epoch, now);
      now += epoch % 3 == 0 ? 0.01 : waits;
      program.report(epoch, now);
      EXPECT_EQ(program.kept(), epoch);
      now += 0.35;
    }
  }
}

// File systems may count time in steps: what was saved after a report can have the time of the report.
TEST(ModelKeeper, IsNotMistakenAboutAProgramThatSavesAtTheTimeOfItsReport) {
  TimedProgram program;
  double now = 1.0;
  for (Epoch epoch = 1; epoch <= 8; ++epoch) {
    program.report(epoch, now, [&] { program.save(epoch, now); });
    for (int look = 0; look < 8; ++look) program.settle();
    program.kept();
    now += 0.35;
  }
  EXPECT_EQ(program.kept(), 8);
}

// It validates for long after each save: by the times, every second save belongs to the report before.
TEST(ModelKeeper, IsNotMistakenAboutAProgramThatSavesSomeEpochsAndValidatesForLong) {
  TimedProgram program;
  double now = 1.0;
  for (Epoch epoch = 1; epoch <= 12; ++epoch) {
    now += 0.02;
    if (epoch % 2 == 0) program.save(epoch, now);
    now += 0.25;
    program.report(epoch, now);
    for (int look = 0; look < 8; ++look) program.settle();
    program.kept();
  }
}

// Every epoch of the second trial is its best, and lasts hardly longer than a copy.
TEST(ModelKeeper, CopiesThatAreNotOfTheBestOfTheStudyTakeATwentiethOfTheTime) {
  const TempDir temp;
  const SystemClock clock;
  const StudyDir dir(temp / "s.bapi");
  std::vector<Event> facts;
  {
    ProcessEvaluator evaluator(in_seconds(trainer_spec({"--turn", "200", "--sleep", "0.002"}, 200)), dir, clock);
    Segment good = segment(0, 0, 2, 2);
    good.config.values = {Value{5.0}};
    evaluator.start(good);
    drain(evaluator);
    evaluator.start(segment(1, 0, 200, 200));
    facts = drain(evaluator);
  }
  Cost sum = 0.0;
  Cost last = 0.0;
  for (const Overhead& overhead : all_of<Overhead>(facts)) {
    if (overhead.kind == OverheadKind::snapshot) sum += last = overhead.cost;
  }
  EXPECT_GT(sum, 0.0);
  EXPECT_LE(sum - last, 0.05 * charged(facts));  // the last copy may be longer than what was left for it
  const std::optional<Snapshot> kept = newest_snapshot(dir.trial(TrialId{1}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->label.epoch, 200) << "it is the last one, and copied when the program had ended";
}

TEST(ModelKeeper, AProgramWithoutFilesIsNotHeldAndLeavesNone) {
  StudySpec spec = trainer_spec({}, 3);
  spec.command = {"/bin/sh",
                  "-c",
                  "for e in 1 2 3; do echo \"bapi: {\\\"epoch\\\": $e, \\\"accuracy\\\": 0.$e}\"; sleep 0.05; done"};
  const Kept kept = train({}, 3, spec);
  EXPECT_EQ(epochs_of(kept.facts).size(), 3U);
  EXPECT_FALSE(kept.model);
  EXPECT_FALSE(kept.missed);
  EXPECT_EQ(kept.log.find("was not kept"), std::string::npos);
}

}  // namespace
}  // namespace bapi

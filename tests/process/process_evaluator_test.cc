#include "bapi/process/process_evaluator.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/base/error.h"
#include "bapi/process/process_identity.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

class Processes : public testing::Test {
 protected:
  ProcessEvaluator& evaluator(const StudySpec& spec, ProcessEvaluatorOptions options = {}) {
    evaluator_ = std::make_unique<ProcessEvaluator>(spec, StudyDir(scratch_.path() / "fake.bapi"), clock_, options);
    return *evaluator_;
  }

  // Everything that happens to the first segment of trial 0, until its process is gone. It is let go when it is done.
  std::vector<Event> train(const StudySpec& spec, Epoch until = 3) {
    ProcessEvaluator& e = evaluator(spec);
    e.start(segment(0, 0, until));
    std::vector<Event> facts = wait_for(
        e, [&](const std::vector<Event>& seen) { return !all_of<SegmentDone>(seen).empty() || e.live().empty(); });
    const std::vector<Event> last = let_go(e, TrialId{0});
    facts.insert(facts.end(), last.begin(), last.end());
    return facts;
  }

  std::string failure_of(const StudySpec& spec) {
    const auto failures = all_of<TrialFailed>(train(spec));
    return failures.size() == 1 ? failures.front().message : "no failure";
  }

  // As if the trial had never been: the evaluator, which may still be copying its model, is gone with it.
  void begin_anew() {
    evaluator_.reset();
    std::filesystem::remove_all(dir().root);
  }

  TrialDir dir(int trial = 0) const { return StudyDir(scratch_.path() / "fake.bapi").trial(TrialId{trial}); }
  std::string log() const { return text_of(dir().log()); }

  SystemClock clock_;
  TempDir scratch_;
  std::unique_ptr<ProcessEvaluator> evaluator_;
};

// ---- What is trained is reported.

TEST_F(Processes, EpochsArriveInOrderAndTheLastIsFollowedBySegmentDone) {
  const std::vector<Event> facts = train(trainer_spec({"--exit-at-until"}));
  ASSERT_EQ(facts.size(), 4u);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_TRUE(std::holds_alternative<SegmentDone>(facts.back()));
  EXPECT_NEAR(all_of<Measured>(facts)[1].measurement.value, 0.5 * (1.0 - std::exp(-0.4)), 1e-15);
}

TEST_F(Processes, EveryWayOfReportingIsHeardOnce) {
  for (const char* way : {"file", "print", "tune", "both"}) {
    const std::vector<Event> facts = train(trainer_spec({"--exit-at-until", "--say", way}));
    EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3})) << way;
    EXPECT_EQ(charged(facts), 3.0) << way;
    begin_anew();
  }
}

TEST_F(Processes, AnEpochReportedTwiceCountsOnce) {
  const std::vector<Event> facts = train(trainer_spec({"--exit-at-until", "--twice"}));
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_EQ(charged(facts), 3.0);
}

TEST_F(Processes, ALineIsReadOnlyWhenItIsComplete) {
  const std::vector<Event> facts = train(trainer_spec({"--exit-at-until", "--half-line-at", "2"}));
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_TRUE(all_of<TrialFailed>(facts).empty());
}

TEST_F(Processes, LinesThatAreNotJsonAreIgnoredWithAWarningInTheLog) {
  const std::vector<Event> facts = train(trainer_spec({"--exit-at-until", "--garbage-at", "2"}));
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_NE(log().find("[bapi] warning: a line of the report is not JSON"), std::string::npos);
}

// What bapi has to remark must not come between the two halves of a line.
TEST_F(Processes, AReportIsWholeWhenBapiHasARemarkInTheMiddleOfIt) {
  StudySpec spec = trainer_spec({});
  spec.command = {"/bin/sh",
                  "-c",
                  "for e in 1 2 3; do echo 'bapi: {no report'; printf 'bapi: {\"epoch\": %d, \"accu' $e; sleep 0.1; "
                  "printf 'racy\": 0.5}\\n'; done"};
  const std::vector<Event> facts = train(spec);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_NE(log().find("\n[bapi] warning: a line of the report is not JSON"), std::string::npos) << log();
}

// The last report of a program that does not end its line is heard when it is concluded.
TEST_F(Processes, ThatEndTogetherAreConcludedWhileOthersRun) {
  StudySpec spec = trainer_spec({});
  spec.workers = 3;
  spec.command = {"/bin/sh", "-c", "[ $BAPI_TRIAL = 1 ] && sleep 2; printf 'bapi: {\"epoch\": 1, \"accuracy\": 0.5}'"};
  ProcessEvaluator& e = evaluator(spec);
  for (int trial = 0; trial < 3; ++trial) e.start(segment(trial, 0, 1));
  std::vector<Event> facts = e.wait(0.0);  // begins them
  ::usleep(500'000);                       // nobody looks while two of them end
  const std::vector<Event> rest = drain(e);
  facts.insert(facts.end(), rest.begin(), rest.end());
  EXPECT_EQ(all_of<SegmentDone>(facts).size(), 3u);
}

TEST_F(Processes, AFileInThePlaceOfTheCheckpointFailsTheTrialAlone) {
  std::filesystem::create_directories(dir().root);
  std::ofstream(dir().checkpoint()) << "x";
  EXPECT_NE(failure_of(trainer_spec({})).find("checkpoint: Not a directory"), std::string::npos);
}

TEST_F(Processes, MegabytesWithoutANewlineBlockNothing) {
  const std::vector<Event> facts = train(trainer_spec({"--exit-at-until", "--big-output", "20000000"}));
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_GE(std::filesystem::file_size(dir().log()), 20000000u);
}

TEST_F(Processes, TheProgramSeesTheEnvironmentAndItsConfiguration) {
  StudySpec spec = trainer_spec({});
  spec.command = {"/usr/bin/env"};
  spec.env = {{"EXTRA", "a b"}};
  train(spec);
  for (const std::string variable : {"BAPI_TRIAL=0",
                                     "BAPI_FROM_EPOCH=0",
                                     "BAPI_UNTIL_EPOCH=3",
                                     "BAPI_MAX_EPOCH=20",
                                     "BAPI_BUDGET_LEFT=0",
                                     "EXTRA=a b",
                                     "BAPI_SEED="}) {
    EXPECT_NE(log().find("\n" + variable), std::string::npos) << variable;
  }
  EXPECT_NE(log().find("\nBAPI_REPORT=" + dir().report().string() + "\n"), std::string::npos);
  EXPECT_EQ(text_of(dir().config()), "{\"x\":0.5}\n");
}

// ---- One process per trial, as long as it is chosen.

TEST_F(Processes, AChosenTrialGoesOnInTheSameProcess) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--sleep", "0.02"}));
  e.start(segment(0, 0, 2));
  std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  const std::string process = text_of(dir().process());
  e.start(segment(0, epochs_of(facts).back(), 6));
  const std::vector<Event> more = wait_for_a<SegmentDone>(e);
  EXPECT_EQ(text_of(dir().process()), process);
  facts.insert(facts.end(), more.begin(), more.end());
  const std::vector<Epoch> epochs = epochs_of(facts);
  ASSERT_GE(epochs.size(), 6u);
  for (std::size_t i = 0; i < epochs.size(); ++i) EXPECT_EQ(epochs[i], static_cast<Epoch>(i + 1));
}

TEST_F(Processes, EpochsTrainedWhileNobodyDecidesAreFacts) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--sleep", "0.005"}));
  e.start(segment(0, 0, 2));
  const std::vector<Event> facts =
      wait_for(e, [](const std::vector<Event>& seen) { return all_of<Measured>(seen).size() >= 5; });
  EXPECT_EQ(all_of<SegmentDone>(facts).size(), 1u);
}

TEST_F(Processes, AProgramThatIsHeldAtTheEndOfItsSegmentTrainsNothingUntilItIsDecided) {
  using AtSegmentEnd = ProcessEvaluatorOptions::AtSegmentEnd;
  ProcessEvaluator& e = evaluator(trainer_spec({"--sleep", "0.005"}, 2000), {.at_segment_end = AtSegmentEnd::hold});
  e.start(segment(0, 0, 2, 2000));
  std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  for (std::vector<Event> more = facts; !more.empty();) {  // what was under way
    more = e.wait(0.2);
    facts.insert(facts.end(), more.begin(), more.end());
  }
  const Epoch reached = epochs_of(facts).back();
  ASSERT_LT(reached, 1900) << "it trained on";
  e.start(segment(0, reached, reached + 10, 2000));
  EXPECT_EQ(epochs_of(wait_for_a<SegmentDone>(e)).front(), reached + 1);
  EXPECT_TRUE(all_of<TrialFailed>(let_go(e, TrialId{0})).empty()) << "a held program can be ended";
  EXPECT_TRUE(e.live().empty());
}

// ---- In lockstep chance has no part in the facts.

// Saves and reports four epochs at once, then trains for long: it always runs ahead of a segment of fewer.
StudySpec four_at_once(const std::string& last_value = "0.$e") {
  StudySpec spec = trainer_spec({});
  spec.command = {
      "/bin/sh",
      "-c",
      "state=$BAPI_CHECKPOINT_DIR/epoch; e=$(cat $state 2>/dev/null || echo 0); lines=\n"
      "for i in 1 2 3; do e=$((e+1)); lines=\"$lines{\\\"epoch\\\": $e, \\\"accuracy\\\": 0.$e}\\n\"; done\n"
      "e=$((e+1)); lines=\"$lines{\\\"epoch\\\": $e, \\\"accuracy\\\": " +
          last_value +
          "}\\n\"\n"
          "echo $e > $state; printf \"$lines\" >> $BAPI_REPORT; sleep 20"};
  return spec;
}

const ProcessEvaluatorOptions kLockstep = {.at_segment_end = ProcessEvaluatorOptions::AtSegmentEnd::lockstep};

TEST_F(Processes, InLockstepWhatWasReportedPastTheSegmentIsPartOfTheNext) {
  ProcessEvaluator& e = evaluator(four_at_once(), kLockstep);
  e.start(segment(0, 0, 1));
  EXPECT_EQ(epochs_of(wait_for_a<SegmentDone>(e)), (std::vector<Epoch>{1}));
  EXPECT_TRUE(e.wait(0.1).empty());
  const std::string process = text_of(dir().process());
  e.start(segment(0, 1, 3));
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{2, 3}));
  EXPECT_EQ(charged(facts), 2.0);
  EXPECT_EQ(text_of(dir().process()), process) << "no start is paid for";
}

TEST_F(Processes, InLockstepWhatAnEndedProcessHadReportedWaitsUntilTheTrialGoesOn) {
  ProcessEvaluator& e = evaluator(four_at_once(), kLockstep);
  e.start(segment(0, 0, 1));
  EXPECT_EQ(epochs_of(wait_for_a<SegmentDone>(e)), (std::vector<Epoch>{1}));
  EXPECT_TRUE(let_go(e, TrialId{0}).empty()) << "epochs 2 to 4 are no facts";
  e.start(segment(0, 1, 3));
  EXPECT_EQ(epochs_of(wait_for_a<SegmentDone>(e)), (std::vector<Epoch>{2, 3}));
  EXPECT_TRUE(e.wait(0.0).empty());
  EXPECT_TRUE(e.live().empty()) << "no process was needed";
  e.start(segment(0, 3, 6));
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{4, 5, 6})) << "the next process continues after epoch 4";
  EXPECT_EQ(charged(facts), 3.0);
}

TEST_F(Processes, InLockstepADivergenceIsMetWhenTheTrialGetsThere) {
  ProcessEvaluator& e = evaluator(four_at_once("NaN"), kLockstep);
  e.start(segment(0, 0, 2));
  EXPECT_EQ(epochs_of(wait_for_a<SegmentDone>(e)), (std::vector<Epoch>{1, 2}));
  EXPECT_TRUE(let_go(e, TrialId{0}).empty());
  e.start(segment(0, 2, 6));
  const std::vector<Event> facts = wait_for_a<TrialFailed>(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{3}));
  EXPECT_EQ(all_of<TrialFailed>(facts).front().cause, FailureCause::diverged);
}

TEST_F(Processes, InLockstepWithoutCheckpointsNothingWaits) {
  StudySpec spec = four_at_once();
  spec.checkpoint = Checkpoint::none;
  ProcessEvaluator& e = evaluator(spec, kLockstep);
  e.start(segment(0, 0, 1));
  wait_for_a<SegmentDone>(e);
  let_go(e, TrialId{0});
  EXPECT_FALSE(std::filesystem::exists(dir().ahead())) << "the next process begins at epoch 1";
}

TEST_F(Processes, AProgramIsNotEndedBetweenSavingAnEpochAndReportingIt) {
  StudySpec spec = trainer_spec({});
  spec.grace = 10.0;
  spec.command = {"/bin/sh",
                  "-c",
                  "for e in 1 2 3; do echo $e > $BAPI_CHECKPOINT_DIR/epoch; sleep 0.3;"
                  "echo \"{\\\"epoch\\\": $e, \\\"accuracy\\\": 0.$e}\" >> $BAPI_REPORT; done; sleep 20"};
  ProcessEvaluator& e = evaluator(spec);
  e.start(segment(0, 0, 1));
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);  // it saves epoch 2 at once
  while (text_of(dir().checkpoint() / "epoch") == "1\n") e.wait(0.01);
  let_go(e, TrialId{0});
  const std::string saved = text_of(dir().checkpoint() / "epoch");
  const std::string report = text_of(dir().report());
  EXPECT_NE(report.find("{\"epoch\": " + saved.substr(0, 1)), std::string::npos) << saved << report;
}

TEST_F(Processes, ASegmentThatIsAlreadyTrainedIsDoneAtOnce) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--linger", "100"}));
  e.start(segment(0, 0, 2, 6));
  wait_for(e, [](const std::vector<Event>& seen) { return all_of<Measured>(seen).size() == 6; });
  e.start(segment(0, 6, 5, 6));
  EXPECT_EQ(e.wait(1.0), (std::vector<Event>{SegmentDone{TrialId{0}}}));
}

TEST_F(Processes, NothingBeyondTheLastPayableEpochIsRecorded) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--epochs", "15"}));
  e.start(segment(0, 0, 2, 4));
  const std::vector<Event> facts = drain(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3, 4}));
  EXPECT_EQ(charged(facts), 4.0);
  EXPECT_NE(log().find("is not recorded"), std::string::npos);
}

TEST_F(Processes, AProgramThatEndsAtItsLastEpochIsStartedAgainWhenTheTrialGoesOn) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--exit-at-until"}));
  e.start(segment(0, 0, 2));
  wait_for_a<SegmentDone>(e);
  e.start(segment(0, 2, 5));
  EXPECT_EQ(epochs_of(wait_for_a<SegmentDone>(e)), (std::vector<Epoch>{3, 4, 5}));
  EXPECT_TRUE(all_of<TrialFailed>(drain(e)).empty());
}

TEST_F(Processes, AReleasedTrialContinuesFromItsCheckpoint) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--sleep", "0.02"}, 2000));
  e.start(segment(0, 0, 2, 2000));
  const Epoch reached = epochs_of(wait_for_a<SegmentDone>(e)).back();
  const std::vector<Event> last = let_go(e, TrialId{0});
  const Epoch from = last.empty() ? reached : epochs_of(last).back();
  e.start(segment(0, from, from + 3, 2000));
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  EXPECT_EQ(epochs_of(facts).front(), from + 1);
  EXPECT_TRUE(all_of<Overhead>(facts).empty());
}

TEST_F(Processes, WithoutCheckpointsTheEpochsAreRepeatedAndPaidAgain) {
  StudySpec spec = trainer_spec({"--exit-at-until", "--no-checkpoint"});
  spec.checkpoint = Checkpoint::none;
  ProcessEvaluator& e = evaluator(spec);
  e.start(segment(0, 0, 2));
  wait_for_a<SegmentDone>(e);
  e.start(segment(0, 2, 4));
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{3, 4}));
  const std::vector<Overhead> repeats = all_of<Overhead>(facts);
  ASSERT_EQ(repeats.size(), 2u);
  EXPECT_EQ(repeats[0], (Overhead{TrialId{0}, OverheadKind::repeat, 1, 1.0}));
  EXPECT_EQ(repeats[1], (Overhead{TrialId{0}, OverheadKind::repeat, 2, 1.0}));
}

TEST_F(Processes, TrialsBeyondTheWorkersWaitForASlot) {
  StudySpec spec = trainer_spec({"--exit-at-until", "--sleep", "0.2"});
  spec.workers = 2;
  ProcessEvaluator& e = evaluator(spec);
  for (int trial = 0; trial < 4; ++trial) e.start(segment(trial, 0, 2));
  e.wait(0.0);
  EXPECT_EQ(e.live().size(), 4u);
  EXPECT_TRUE(std::filesystem::exists(dir(1).log()));
  EXPECT_FALSE(std::filesystem::exists(dir(2).log()));
  EXPECT_EQ(all_of<SegmentDone>(drain(e)).size(), 4u);
}

TEST_F(Processes, ASuccessorWaitsForTheProcessThatIsBeingEnded) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--sleep", "0.05", "--ignore-term"}, 2000));
  e.start(segment(0, 0, 1, 2000));
  Epoch reached = epochs_of(wait_for_a<SegmentDone>(e)).back();
  e.release(TrialId{0});
  e.start(segment(0, reached, reached + 17, 2000));
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  for (const Epoch epoch : epochs_of(facts)) EXPECT_EQ(epoch, ++reached);
  EXPECT_EQ(all_of<TrialFailed>(facts).size(), 0u);
}

// ---- How processes end.

TEST_F(Processes, ExitCodeZeroBeforeTheEndIsTheProgramsOwnDecision) {
  const std::vector<Event> facts = train(trainer_spec({"--epochs", "2"}), 5);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2}));
  EXPECT_EQ(all_of<ProgramEnded>(facts).size(), 1u);
  EXPECT_TRUE(all_of<TrialFailed>(facts).empty());
}

TEST_F(Processes, ExitCodeZeroWithoutAnyReportIsAFailureWithAdvice) {
  const std::string message = failure_of(trainer_spec({"--say", "none", "--epochs", "2"}));
  EXPECT_NE(message.find("reported no epoch"), std::string::npos) << message;
  EXPECT_NE(message.find("{\"epoch\": 1, \"accuracy\": 0.91}"), std::string::npos) << message;
}

TEST_F(Processes, ACrashIsAFailureWithCodeEpochAndLastOutput) {
  EXPECT_EQ(failure_of(trainer_spec({"--crash-at", "2", "--exit-code", "7"})),
            "exit code 7 after epoch 1; the end of its output:\nout of cheese in epoch 2");
}

TEST_F(Processes, ASignalIsNamed) {
  const std::string message = failure_of(trainer_spec({"--abort-at", "1"}));
  EXPECT_NE(message.find("killed by SIGABRT"), std::string::npos) << message;
  EXPECT_NE(message.find("before its first epoch"), std::string::npos) << message;
}

TEST_F(Processes, ACrashAfterTheSegmentLeavesTheTrialPausedAndASuccessorTakesOver) {
  const std::string once = (scratch_.path() / "once").string();
  ProcessEvaluator& e = evaluator(trainer_spec({"--crash-at", "4", "--once", once}));
  e.start(segment(0, 0, 2));
  std::vector<Event> facts = drain(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1, 2, 3}));
  EXPECT_TRUE(all_of<TrialFailed>(facts).empty());
  e.start(segment(0, 3, 6, 6));
  facts = drain(e);
  EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{4, 5, 6}));
}

TEST_F(Processes, ACrashOfAnExtendedTrialIsTriedOnceMoreAndThenFails) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--crash-at", "6", "--sleep", "0.02"}));
  e.start(segment(0, 0, 1));
  std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  e.start(segment(0, epochs_of(facts).back(), 9));
  const std::vector<Event> rest = drain(e);
  facts.insert(facts.end(), rest.begin(), rest.end());
  EXPECT_EQ(epochs_of(facts).back(), 5);
  EXPECT_EQ(all_of<TrialFailed>(facts).size(), 1u);
}

TEST_F(Processes, AProgramThatCannotBeRunFailsAtOnceAndCostsNothing) {
  StudySpec spec = trainer_spec({});
  spec.command = {"no-such-trainer"};
  EXPECT_EQ(failure_of(spec), "cannot run 'no-such-trainer': there is no such program in PATH");
  spec.command = {"./no-such-trainer"};
  EXPECT_EQ(failure_of(spec), "cannot run './no-such-trainer': No such file or directory");
  const std::filesystem::path script = scratch_.path() / "script";
  std::ofstream(script) << "echo no first line\n";
  spec.command = {script.string()};
  EXPECT_NE(failure_of(spec).find("Permission denied (make it executable: chmod +x " + script.string() + ")"),
            std::string::npos);
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_NE(failure_of(spec).find("#!/usr/bin/env"), std::string::npos);
  EXPECT_EQ(charged(train(in_seconds(spec))), 0.0);
}

TEST_F(Processes, SilenceLongerThanTheLimitIsAFailure) {
  StudySpec spec = trainer_spec({"--hang-at", "2"});
  spec.report_timeout = 0.3;
  const std::string message = failure_of(spec);
  EXPECT_NE(message.find("no report for 0.3 seconds"), std::string::npos) << message;
}

TEST_F(Processes, AProgramThatIgnoresSigtermIsKilledAfterTheGracePeriod) {
  StudySpec spec = in_seconds(trainer_spec({"--ignore-term", "--hang-at", "2"}));
  spec.grace = 0.3;
  ProcessEvaluator& e = evaluator(spec);
  e.start(segment(0, 0, 1));
  wait_for_a<SegmentDone>(e);
  const double released = clock_.now();
  const std::vector<Event> facts = let_go(e, TrialId{0});
  const double took = clock_.now() - released;
  EXPECT_GE(took, 0.3);
  const std::vector<Overhead> overheads = all_of<Overhead>(facts);  // the model of epoch 1 may be among them
  ASSERT_FALSE(overheads.empty());
  EXPECT_EQ(overheads.back().kind, OverheadKind::grace);
  EXPECT_EQ(overheads.back().epoch, 2);
}

TEST_F(Processes, AnEpochThatIsBrokenOffIsToldFromTheGracePeriod) {
  ProcessEvaluator& e = evaluator(in_seconds(trainer_spec({"--ignore-term", "--hang-at", "2"})));
  e.start(segment(0, 0, 1));
  wait_for_a<SegmentDone>(e);
  while (e.running().accrued < 0.3) e.wait(0.05);  // of epoch 2; before, the model of epoch 1 may be copied
  std::map<OverheadKind, Cost> overheads;
  for (const Overhead& overhead : all_of<Overhead>(let_go(e, TrialId{0}))) overheads[overhead.kind] += overhead.cost;
  EXPECT_GE(overheads[OverheadKind::unfinished], 0.3);
  EXPECT_GE(overheads[OverheadKind::grace], 0.45) << "it ignores SIGTERM for half a second";
}

TEST_F(Processes, ReleaseDoesNotWaitForTheEnd) {
  ProcessEvaluator& e = evaluator(trainer_spec({"--ignore-term", "--hang-at", "2"}));
  e.start(segment(0, 0, 1));
  wait_for_a<SegmentDone>(e);
  e.release(TrialId{0});
  EXPECT_EQ(e.live().size(), 1u) << "it ignores SIGTERM, and nobody has waited for its end";
}

bool is_gone(int pid) {
  const SystemClock clock;
  for (const double give_up = clock.now() + 60.0; clock.now() < give_up; ::usleep(2000)) {
    if (!identify(pid)) return true;
  }
  return false;
}

TEST_F(Processes, ChildrenLeftBehindEndWithTheProgram) {
  train(trainer_spec({"--fork-child", "--exit-at-until"}));
  EXPECT_TRUE(is_gone(std::stoi(text_of(dir().root / "child"))));
}

TEST_F(Processes, NothingOutlivesTheEvaluator) {
  evaluator(trainer_spec({"--fork-child", "--sleep", "0.05"})).start(segment(0, 0, 9));
  wait_for_a<Measured>(*evaluator_);
  evaluator_.reset();
  EXPECT_TRUE(is_gone(std::stoi(text_of(dir().root / "child"))));
}

// ---- Reports that cannot be used.

TEST_F(Processes, ADivergedTrialFailsAndItsEpochIsCharged) {
  for (const char* how : {"--nan-at", "--inf-at"}) {
    const std::vector<Event> facts = train(trainer_spec({how, "2"}));
    EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{1}));
    ASSERT_EQ(all_of<TrialFailed>(facts).size(), 1u);
    EXPECT_NE(all_of<TrialFailed>(facts)[0].message.find("diverged: \"accuracy\" is"), std::string::npos);
    EXPECT_EQ(all_of<Overhead>(facts), (std::vector<Overhead>{{TrialId{0}, OverheadKind::failed, 2, 1.0}}));
    begin_anew();
  }
}

TEST_F(Processes, FailuresSayWhatWasFound) {
  const auto expect = [&](const std::vector<std::string>& flags, const std::string& found) {
    const std::string message = failure_of(trainer_spec(flags));
    EXPECT_NE(message.find(found), std::string::npos) << message;
    begin_anew();
  };
  expect({"--no-metric-at", "2"}, "the report {\"epoch\": 2} has no \"accuracy\"");
  expect({"--text-at", "1"}, "has \"accuracy\": \"good\", which is not a number");
  expect({"--skip", "2"}, "reported epoch 3 where epoch 2 was expected");
  expect({"--epoch-zero-at", "2"}, "has \"epoch\": -1, which is not a whole number from 1 on");
  expect({"--metric", "loss"}, "has no \"accuracy\"");
}

TEST_F(Processes, ACheckpointAheadOfTheReportsIsReportedFirstOrLeavesAGap) {
  for (const bool tells : {true, false}) {
    StudySpec spec = trainer_spec({"--exit-at-until"});
    if (!tells) spec.command.push_back("--ahead");
    dir().create();
    std::ofstream(dir().checkpoint() / "epoch") << 4;
    ProcessEvaluator& e = evaluator(spec);
    e.start(segment(0, 3, 6));
    const std::vector<Event> facts = drain(e);
    if (tells) {
      EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{4, 5, 6}));
    } else {
      EXPECT_EQ(epochs_of(facts), (std::vector<Epoch>{5, 6}));
      EXPECT_TRUE(all_of<TrialFailed>(facts).empty());
    }
    begin_anew();
  }
}

TEST_F(Processes, ReportedCostsAreCharged) {
  StudySpec spec = trainer_spec({"--exit-at-until", "--cost", "2.5"});
  spec.budget = {.limit = 100.0, .unit = "joule", .meter = Meter::reported};
  EXPECT_EQ(charged(train(spec)), 7.5);
  begin_anew();
  spec.command.back() = "-1";
  EXPECT_NE(failure_of(spec).find("has \"cost\": -1; expected the joule"), std::string::npos);
  spec.command = trainer_spec({}).command;
  begin_anew();
  EXPECT_NE(failure_of(spec).find("has no \"cost\""), std::string::npos);
}

// ---- Time is charged once, all of it.

TEST_F(Processes, TheWholeLifeOfAProcessIsCharged) {
  const std::vector<std::string> flags = {
      "--startup", "0.1", "--ready", "--sleep", "0.05", "--linger", "0.1", "--exit-at-until"};
  ProcessEvaluator& e = evaluator(in_seconds(trainer_spec(flags)));
  const double begin = clock_.now();
  e.start(segment(0, 0, 3));
  const std::vector<Event> facts = drain(e);
  const double life = clock_.now() - begin;
  EXPECT_LE(charged(facts), life);
  EXPECT_GE(charged(facts), 0.35);
  const std::vector<Overhead> overhead = all_of<Overhead>(facts);
  ASSERT_GE(overhead.size(), 1u);
  EXPECT_EQ(overhead.front().kind, OverheadKind::start_up);
  // How the time is shared depends on when the reports are read; tests of ProcessAccount say how.
  EXPECT_GT(overhead.front().cost, 0.0);
  Cost trained = 0.0;
  for (const Measured& fact : all_of<Measured>(facts)) trained += fact.measurement.cost;
  EXPECT_GT(trained, 0.0);
}

TEST_F(Processes, AccruedCostBecomesFactsWithoutLoss) {
  ProcessEvaluator& e = evaluator(in_seconds(trainer_spec({"--sleep", "0.05"}, 2000)));
  EXPECT_EQ(e.running().rate, 0.0);
  const double begin = clock_.now();
  e.start(segment(0, 0, 2000, 2000));
  Cost facts = charged(e.wait(0.0));
  const double started = clock_.now() - begin;
  EXPECT_EQ(e.running().rate, 1.0);
  for (int i = 0; i < 20; ++i) {
    facts += charged(e.wait(0.02));
    const double before = clock_.now() - begin;
    const Cost so_far = facts + e.running().accrued;
    EXPECT_GE(so_far, before - started);
    EXPECT_LE(so_far, clock_.now() - begin);
  }
}

TEST_F(Processes, TheStartUpOfAResumedTrialIsToldFromItsEpochs) {
  StudySpec spec = in_seconds(trainer_spec({"--startup", "1.0", "--sleep", "0.03", "--exit-at-until"}));
  ProcessEvaluator& e = evaluator(spec);
  e.start(segment(0, 0, 4));
  Curve curve;
  for (const Measured& fact : all_of<Measured>(wait_for_a<SegmentDone>(e))) curve.append(fact.measurement);
  drain(e);
  Segment resumed = segment(0, 4, 5);
  resumed.usual_epoch = usual_epoch_cost(curve);
  e.start(resumed);
  const std::vector<Event> facts = wait_for_a<SegmentDone>(e);
  ASSERT_GE(all_of<Overhead>(facts).size(), 1u);
  EXPECT_EQ(all_of<Overhead>(facts)[0].kind, OverheadKind::start_up);
  EXPECT_EQ(all_of<Measured>(facts)[0].measurement.cost, resumed.usual_epoch);
  EXPECT_GE(all_of<Overhead>(facts)[0].cost + resumed.usual_epoch, 1.0);
}

TEST_F(Processes, EpochsReadLateShareTheTimeEvenly) {
  ProcessEvaluator& e = evaluator(in_seconds(trainer_spec({"--sleep", "0.1", "--exit-at-until"})));
  const double begin = clock_.now();
  e.start(segment(0, 0, 4));
  e.wait(0.0);
  ::usleep(600'000);  // a policy that thinks long
  const std::vector<Event> facts = drain(e);
  const std::vector<Measured> epochs = all_of<Measured>(facts);
  ASSERT_EQ(epochs.size(), 4u);
  for (const Measured& fact : epochs) {
    EXPECT_GT(fact.measurement.cost, 0.0);
    EXPECT_LE(charged(facts), clock_.now() - begin);
  }
}

// No decision and no model waits for them.
TEST_F(Processes, ReportsOfAFastProgramThatSavesNothingAreRecordedTogether) {
  constexpr Epoch kEpochs = 200;
  ProcessEvaluator& e =
      evaluator(in_seconds(trainer_spec({"--sleep", "0.002", "--save-every", "1000", "--exit-at-until"}, kEpochs)));
  e.start(segment(0, 0, kEpochs, kEpochs));
  int records = 0;
  std::vector<Event> facts;
  while (all_of<SegmentDone>(facts).empty()) {
    const std::vector<Event> more = e.wait(1.0);
    if (!all_of<Measured>(more).empty()) ++records;
    facts.insert(facts.end(), more.begin(), more.end());
    ASSERT_TRUE(!more.empty() || !e.live().empty());
  }
  EXPECT_EQ(std::ssize(epochs_of(facts)), kEpochs);
  EXPECT_LT(records, kEpochs / 2);
}

// ---- The rest.

TEST_F(Processes, WaitingWithNothingToDoEnds) {
  ProcessEvaluator& e = evaluator(trainer_spec({}));
  const double begin = clock_.now();
  EXPECT_TRUE(e.wait(0.1).empty());
  EXPECT_GE(clock_.now() - begin, 0.1);
  e.release(TrialId{5});
  EXPECT_TRUE(e.live().empty());
}

TEST_F(Processes, AWrongCommandIsRefused) {
  StudySpec spec = trainer_spec({"${learning_rate}"});
  EXPECT_THROW(evaluator(spec), InvalidInput);
  spec.command.clear();
  EXPECT_THROW(evaluator(spec), InvalidInput);
}

}  // namespace
}  // namespace bapi

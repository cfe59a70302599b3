// Laws of studies whose programs were ended between saving and reporting an epoch: whatever epochs are missing, the log
// can be read, every policy decides, and everything that shows curves shows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bapi/base/rng.h"
#include "bapi/control/session.h"
#include "bapi/policy/calibration.h"
#include "bapi/report/export.h"
#include "bapi/report/plots.h"
#include "bapi/report/summary.h"
#include "bapi/store/memory_store.h"
#include "bapi/study/codec.h"
#include "bapi/study/replay.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/synthetic.h"
#include "tests/support/brisk_policy.h"
#include "tests/support/ledger.h"

namespace bapi {
namespace {

using Gaps = std::set<std::pair<TrialId, Epoch>>;

// A log of a simulated study with some reports left out, and the epochs that are missing in it.
struct GappyStudy {
  StudySpec spec;
  std::vector<Event> events;
  Gaps gaps;
};

// The event of the same trial that comes next.
const Event* next_of(std::span<const StoredEvent> events, std::size_t at) {
  for (std::size_t i = at + 1; i < events.size(); ++i) {
    if (trial_of(events[i].event) == trial_of(events[at].event)) return &events[i].event;
  }
  return nullptr;
}

GappyStudy gappy_study(const CurveTable& table, const PolicySpec& policy, Rng& rng) {
  const SimulationSummary summary =
      simulate(table, policy, *make_policy(policy), {.budget = 4.0 * table.mean_full_cost(), .seed = rng.bits() >> 12});
  GappyStudy study{.spec = summary.history->spec(), .events = {}, .gaps = {}};
  std::map<TrialId, int> missing;  // epochs in a row
  for (std::size_t i = 0; i < summary.events.size(); ++i) {
    const Event& event = summary.events[i].event;
    const auto* report = std::get_if<Measured>(&event);
    const Event* next = report ? next_of(summary.events, i) : nullptr;
    const bool followed = next && std::holds_alternative<Measured>(*next);
    if (report && followed && missing[report->trial] < kMostUnreported && rng.uniform() < 0.4) {
      const Measurement& m = report->measurement;
      ++missing[report->trial];
      study.gaps.emplace(report->trial, m.epoch);
      study.events.emplace_back(
          Overhead{.trial = report->trial, .kind = OverheadKind::unreported, .epoch = m.epoch, .cost = m.cost});
      continue;
    }
    if (report) missing[report->trial] = 0;
    if (!std::holds_alternative<StudyFinished>(event)) study.events.push_back(event);
  }
  return study;
}

CurveTable some_table(Rng& rng) {
  const std::vector<std::string> shapes = curve_shapes();
  return synthetic_table({.shape = parse_curve_shape(shapes[static_cast<std::size_t>(rng.below(4)) % shapes.size()]),
                          .rows = 12,
                          .dimensions = 2,
                          .epochs = 9,
                          .noise = 0.02,
                          .seed = rng.bits()});
}

std::unique_ptr<MemoryStore> store_of(const GappyStudy& study, std::size_t count) {
  auto store = std::make_unique<MemoryStore>(study.spec);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const Event> one(&study.events[i], 1);
    const auto last = static_cast<EventSeq>(i);
    const bool written = is_decision(one.front()) ? store->append_decision(last, one.front(), 1.0)
                                                  : store->append(last, one, 1.0, Durability::process);
    EXPECT_TRUE(written);
  }
  return store;
}

Gaps gaps_of(const History& history) {
  Gaps gaps;
  for (const Trial& trial : history.trials()) {
    for (const Epoch epoch : trial.curve.gaps()) gaps.emplace(trial.id, epoch);
  }
  return gaps;
}

// Of the policy itself, or, if that trains epoch by epoch and leaves no room for a gap, of random search.
GappyStudy study_with_gaps(const CurveTable& table, const PolicySpec& policy, Rng& rng) {
  GappyStudy study = gappy_study(table, policy, rng);
  if (study.gaps.empty()) study = gappy_study(table, {.name = "random"}, rng);
  study.spec.policy = policy;
  return study;
}

// Lengths of logs after which a policy is asked: between segments.
std::vector<std::size_t> pauses(const std::vector<Event>& events) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (std::holds_alternative<SegmentDone>(events[i]) || std::holds_alternative<ProgramEnded>(events[i])) {
      all.push_back(i + 1);
    }
  }
  return {all[all.size() / 3], all[all.size() / 2], all[3 * all.size() / 4]};
}

class CurvesWithGaps : public testing::TestWithParam<std::string> {};

TEST_P(CurvesWithGaps, AreDecidedUpon) {
  const PolicySpec policy = test::brisk(GetParam());
  Rng rng = Rng(20261).fork(GetParam());
  const CurveTable table = some_table(rng);
  const GappyStudy study = study_with_gaps(table, policy, rng);
  ASSERT_FALSE(study.gaps.empty());
  for (const std::size_t count : pauses(study.events)) {
    const std::unique_ptr<MemoryStore> store = store_of(study, count);
    const std::unique_ptr<Policy> decider = make_policy(policy);
    const ManualClock clock;
    Session session(*store, *decider, clock);
    ASSERT_EQ(session.history().open_segments(), 0);
    EXPECT_NO_THROW(session.ask()) << "after " << count << " events";
  }
}

TEST_P(CurvesWithGaps, ComeBackFromTheLogAndAreShown) {
  const PolicySpec policy = test::brisk(GetParam());
  Rng rng = Rng(77).fork(GetParam());
  const GappyStudy study = study_with_gaps(some_table(rng), policy, rng);
  std::vector<StoredEvent> events;
  for (const Event& event : study.events) {
    EXPECT_EQ(decode_event(encode(event)), event);
    events.push_back({.seq = std::ssize(events) + 1, .at = static_cast<double>(events.size()), .event = event});
  }
  const History history = replay(study.spec, events);
  EXPECT_EQ(gaps_of(history), study.gaps);
  EXPECT_EQ(test::ledger_sum(events), history.budget().spent());
  const CurveTable again = table_of(history);
  for (const Trial& trial : history.trials()) {
    if (trial.curve.empty()) continue;
    const CurveTable::Run& run = again.runs[again.row(trial.config)];
    EXPECT_GE(std::ssize(run.value), trial.curve.last_epoch());
    for (const Measurement& m : trial.curve.points()) {
      EXPECT_EQ(run.value[static_cast<std::size_t>(m.epoch) - 1], history.in_user_units(m.value));
    }
  }
  EXPECT_FALSE(plot_curves(history).empty());
  EXPECT_FALSE(plot_incumbent(history, events).empty());
  EXPECT_FALSE(plot_budget(history, events).empty());
  EXPECT_FALSE(export_csv(history, events, Controller::absent).empty());
  EXPECT_FALSE(export_json(history, events, Controller::absent, {}).empty());
  EXPECT_NO_THROW(calibration(history, events));
}

// A failed trial that the user lets go on, and that reaches the end of its segment.
TEST_P(CurvesWithGaps, AFailedTrialThatIsRetriedIsDecidedUpon) {
  const PolicySpec policy = test::brisk(GetParam());
  Rng rng = Rng(5).fork(GetParam());
  CurveTable table = some_table(rng);
  for (std::size_t i = 0; i < table.runs.size(); i += 3) table.runs[i].value[4] = std::nan("");
  const SimulationSummary summary =
      simulate(table, policy, *make_policy(policy), {.budget = 4.0 * table.mean_full_cost(), .seed = 3});
  GappyStudy study{.spec = summary.history->spec(), .events = {}, .gaps = {}};
  std::optional<TrialId> failed;
  for (const StoredEvent& stored : summary.events) {
    study.events.push_back(stored.event);
    if (const auto* failure = std::get_if<TrialFailed>(&stored.event)) failed = failure->trial;
    if (failed) break;
  }
  if (!failed) GTEST_SKIP() << "no trial of this study has failed";
  History history(study.spec);
  for (const Event& event : study.events) history.apply(event);
  const Trial& trial = history.trial(*failed);
  const Epoch until = std::max(trial.asked_until, trial.curve.last_epoch() + 1);
  study.events.emplace_back(TrialRetried{.trial = *failed, .reason = "asked for", .until = until});
  for (Epoch epoch = trial.curve.last_epoch() + 1; epoch <= until; ++epoch) {
    study.events.emplace_back(Measured{.trial = *failed, .measurement = {epoch, 0.5, 0.1}});
  }
  study.events.emplace_back(SegmentDone{.trial = *failed});
  const std::unique_ptr<MemoryStore> store = store_of(study, study.events.size());
  const std::unique_ptr<Policy> decider = make_policy(policy);
  const ManualClock clock;
  Session session(*store, *decider, clock);
  EXPECT_NO_THROW(session.ask());
}

INSTANTIATE_TEST_SUITE_P(All, CurvesWithGaps, testing::ValuesIn(test::policy_names()), [](const auto& test_case) {
  return test::as_test_name(test_case.param);
});

}  // namespace
}  // namespace bapi

#include <cmath>
#include <optional>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/control/session.h"
#include "bapi/store/memory_store.h"
#include "bapi/study/history.h"
#include "fuzz/bytes.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
namespace {

StudySpec small_study(Bytes& bytes) {
  StudySpec spec;
  spec.name = "small";
  spec.epochs = {.min = 1, .max = 5};
  spec.metric.goal = bytes.below(2) == 0 ? Goal::maximize : Goal::minimize;
  spec.checkpoint = bytes.below(2) == 0 ? Checkpoint::kept : Checkpoint::none;
  spec.budget.limit = 20.0;
  spec.budget.meter =
      std::vector{Meter::accrued, Meter::epochs, Meter::reported}[static_cast<std::size_t>(bytes.below(3))];
  return spec;
}

Event any_fact(Bytes& bytes) {
  const auto trial = TrialId{bytes.below(6) - 1};
  switch (bytes.below(8)) {
    case 0:
      return SegmentDone{.trial = trial};
    case 1:
      return ProgramEnded{.trial = trial};
    case 2:
      return TrialFailed{.trial = trial, .message = "failed"};
    case 3:
      return Interrupted{.trial = trial, .reason = "interrupted"};
    case 4:
      return Overhead{.trial = trial,
                      .kind = bytes.below(2) == 0 ? OverheadKind::repeat : OverheadKind::unreported,
                      .epoch = bytes.below(8) - 1,
                      .cost = bytes.number()};
    case 5:
      return BudgetChanged{.total = bytes.number()};
    case 6:
      return TrialRetried{.trial = trial, .reason = "retried", .until = bytes.below(8) - 1};
    default:
      return Measured{.trial = trial, .measurement = {bytes.below(8) - 1, bytes.number(), bytes.number()}};
  }
}

Event any_event(Bytes& bytes) {
  const auto trial = TrialId{bytes.below(6) - 1};
  const Epoch until = bytes.below(8) - 1;
  switch (bytes.below(8)) {
    case 0:
      return TrialStarted{.trial = trial, .config = {{0.5}}, .until = until, .expected_cost = bytes.number()};
    case 1:
      return TrialResumed{.trial = trial, .until = until, .expected_cost = bytes.number()};
    case 2:
      return TrialStopped{.trial = trial};
    case 3:
      return StudyFinished{.reason = "done"};
    default:
      return any_fact(bytes);
  }
}

bool sound(const History& history) {
  const Budget budget = history.budget();
  return std::isfinite(budget.spent()) && budget.spent() >= 0.0 && budget.remaining() >= 0.0;
}

// Whether the facts can be applied one after the other.
bool follow(History history, std::span<const Event> facts) {
  for (const Event& fact : facts) {
    if (history.objection(fact)) return false;
    history.apply(fact);
  }
  return true;
}

// Decides by the bytes of an input, within the contract of a policy.
class BytesPolicy : public Policy {
 public:
  explicit BytesPolicy(Bytes& bytes) : bytes_(bytes) {}

  std::string_view name() const override { return "bytes"; }

  Decision ask(const History& history, Rng& rng) override {
    std::vector<TrialId> paused;
    for (const Trial& trial : history.trials()) {
      if (!history.objection(TrialStopped{.trial = trial.id})) paused.push_back(trial.id);
    }
    const Epoch max = history.spec().epochs.max;
    const int choice = bytes_.below(6);
    if (choice <= 1 && !paused.empty()) {
      const TrialId trial = paused[static_cast<std::size_t>(bytes_.below(static_cast<int>(paused.size())))];
      const Epoch last = history.trial(trial).curve.last_epoch();
      if (choice == 0 || last >= max) return Stop{.trial = trial};
      return Resume{.trial = trial, .until = last + 1 + bytes_.below(max - last), .expected_cost = cost()};
    }
    if (choice == 2 && history.open_segments() > 0) return Wait{};
    if (choice == 3) return Finish{.reason = "enough"};
    return Start{.config = history.spec().space.sample(rng), .until = 1 + bytes_.below(max), .expected_cost = cost()};
  }

 private:
  Cost cost() { return static_cast<double>(bytes_.below(8)); }

  Bytes& bytes_;
};

}  // namespace

void replay_events(std::string_view input) {
  Bytes bytes(input);
  History history(small_study(bytes));
  while (!bytes.empty()) {
    const Event event = any_event(bytes);
    if (!history.objection(event)) history.apply(event);
    check(sound(history), "an event without objection has ruined the budget");
    const std::vector<Event> facts = {any_fact(bytes), any_fact(bytes)};
    check(history.objection(facts).has_value() != follow(history, facts), "a batch is not judged as its facts are");
  }
}

void drive_session(std::string_view input) {
  Bytes bytes(input);
  MemoryStore store(small_study(bytes));
  ManualClock clock;
  BytesPolicy policy(bytes);
  Session session(store, policy, clock);
  while (!bytes.empty()) {
    if (bytes.below(3) == 0) {
      session.ask();
    } else {
      const std::vector<Event> facts = {any_fact(bytes)};
      if (!session.history().objection(facts)) session.record(facts);
    }
    clock.advance(1.0);
    check(sound(session.history()), "the budget is ruined");
  }
  const Session again(store, policy, clock);
  check(again.history().budget().spent() == session.history().budget().spent() &&
            again.history().decisions() == session.history().decisions() &&
            again.history().open_segments() == session.history().open_segments() &&
            again.history().finished() == session.history().finished(),
        "the log does not say what the session knew");
}

}  // namespace bapi::fuzz

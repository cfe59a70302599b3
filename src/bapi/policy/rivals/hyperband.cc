#include "bapi/policy/rivals/hyperband.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bapi/base/error.h"
#include "bapi/policy/candidates.h"
#include "bapi/policy/fresh.h"
#include "bapi/policy/rungs.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

int power(int base, int exponent) {
  int result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

// Number of rung levels: 1 + max{k : min * eta^k <= max}, in integers.
int rung_levels(Epoch min_epoch, Epoch max_epoch, int eta) {
  int levels = 1;
  std::int64_t epoch = min_epoch;
  while (epoch * eta <= max_epoch) {
    epoch *= eta;
    ++levels;
  }
  return levels;
}

// The best `count` of `members` at `epoch`, ties by order of creation; result in order of creation. Who failed before
// that epoch is out. Who failed later keeps the place that it was given then: the others have been stopped since.
std::vector<const Trial*> best_of(std::vector<const Trial*> members, int count, Epoch epoch) {
  std::erase_if(members, [&](const Trial* t) { return !has_reached(*t, epoch); });
  std::stable_sort(members.begin(), members.end(), [&](const Trial* a, const Trial* b) {
    return value_at(*a, epoch) > value_at(*b, epoch);
  });
  members.resize(std::min(members.size(), static_cast<std::size_t>(count)));
  std::sort(members.begin(), members.end(), [](const Trial* a, const Trial* b) { return index(a->id) < index(b->id); });
  return members;
}

}  // namespace

Bracket hyperband_bracket(int number, Epoch min_epoch, Epoch max_epoch, int eta) {
  check(number >= 0 && min_epoch >= 1 && max_epoch >= min_epoch && eta >= 2, "hyperband_bracket: bad arguments");
  const int levels = rung_levels(min_epoch, max_epoch, eta);
  const int s = levels - 1 - number % levels;
  const int first = levels / (s + 1) * power(eta, s);
  Bracket bracket;
  for (int i = 0; i <= s; ++i) {
    const double level = static_cast<double>(max_epoch) / power(eta, s - i);
    const Rung rung{.configs = std::max(1, first / power(eta, i)),
                    .epoch = std::max(1, static_cast<Epoch>(std::floor(level + 1e-9)))};
    if (!bracket.empty() && bracket.back().epoch == rung.epoch) continue;
    bracket.push_back(rung);
  }
  return bracket;
}

PolicyInfo Hyperband::info() {
  return {.name = "hyperband",
          .summary = "starts many short trials and continues the best third at each rung",
          .options = halving_options().describe({})};
}

Hyperband::Hyperband(const PolicySpec& spec) : Hyperband(halving_options().read(spec, {})) {}

Hyperband::Hyperband(const HalvingOptions& options) : options_(options) {}

Bracket Hyperband::bracket(const StudySpec& spec, int number) const {
  const Epoch min_epoch = std::min(spec.epochs.max, options_.min_epoch.value_or(spec.epochs.min));
  return hyperband_bracket(number, min_epoch, spec.epochs.max, options_.eta);
}

std::optional<Config> Hyperband::propose(const History& history, Rng&) { return fresh_config(history); }

// What one bracket has to offer: a decision, or nothing to do but wait for its stragglers, or nothing any more.
struct Hyperband::Answer {
  enum class Kind { decision, stragglers, over } kind;
  Decision decision = Wait{};
};

// The trials by bracket and the rung at which they entered it. Read off their assignments once per decision.
class Hyperband::Entries {
 public:
  explicit Entries(const History& history) {
    for (const Trial& trial : history.trials()) {
      const std::optional<BracketPlace>& place = trial.assignment.place;
      if (!place) continue;
      trials_[{place->bracket, place->rung}].push_back(&trial);
      last_bracket_ = std::max(last_bracket_, place->bracket);
    }
  }

  int last_bracket() const { return last_bracket_; }  // -1 if there is none

  std::vector<const Trial*> at(int bracket, int rung) const {
    const auto found = trials_.find({bracket, rung});
    return found == trials_.end() ? std::vector<const Trial*>{} : found->second;
  }

 private:
  std::map<std::pair<int, int>, std::vector<const Trial*>> trials_;
  int last_bracket_ = -1;
};

Hyperband::Answer Hyperband::next_in_bracket(const History& history, const Entries& entries, int number, Rng& rng) {
  const Bracket bracket = this->bracket(history.spec(), number);
  std::vector<const Trial*> promoted;
  for (int r = 0; r < std::ssize(bracket); ++r) {
    const Rung& rung = bracket[static_cast<std::size_t>(r)];
    const Reason why{.rule = r == 0 ? Rule::new_in_bracket : Rule::promoted,
                     .standing = RungStanding{.bracket = number, .rung = r, .places = rung.configs}};
    for (const Trial* trial : promoted) {
      if (trial->resumable() && !has_reached(*trial, rung.epoch)) {
        return {Answer::Kind::decision, Resume{.trial = trial->id, .until = rung.epoch, .why = why}};
      }
    }
    std::vector<const Trial*> members = entries.at(number, r);
    for (const Trial* trial : members) {
      if (trial->resumable() && !has_reached(*trial, rung.epoch)) {  // cut short by a budget that was raised since
        return {Answer::Kind::decision, Resume{.trial = trial->id, .until = rung.epoch, .why = why}};
      }
    }
    if (std::ssize(promoted) + std::ssize(members) < rung.configs) {
      if (const std::optional<Config> config = propose(history, rng)) {
        return {Answer::Kind::decision,
                Start{.config = *config,
                      .until = rung.epoch,
                      .why = why,
                      .assignment = {.place = BracketPlace{.bracket = number, .rung = r}}}};
      }
    }
    members.insert(members.end(), promoted.begin(), promoted.end());
    const bool complete = std::all_of(members.begin(), members.end(), [&](const Trial* t) {
      return t->state == TrialState::failed || t->state == TrialState::stopped || has_reached(*t, rung.epoch);
    });
    if (!complete) return {Answer::Kind::stragglers};
    if (r + 1 == std::ssize(bracket)) break;
    promoted = best_of(members, bracket[static_cast<std::size_t>(r) + 1].configs, rung.epoch);
    // Where configurations can run out, those left behind may be needed again.
    if (can_be_listed(history.spec())) continue;
    for (const Trial* trial : members) {
      if (!trial->resumable() || std::find(promoted.begin(), promoted.end(), trial) != promoted.end()) continue;
      return {Answer::Kind::decision,
              Stop{.trial = trial->id,
                   .why = {.rule = Rule::not_promoted,
                           .standing = RungStanding{.bracket = number,
                                                    .rung = r,
                                                    .promoted = static_cast<int>(promoted.size()),
                                                    .epoch = rung.epoch,
                                                    .value = history.in_user_units(value_at(*trial, rung.epoch))}}}};
    }
  }
  return {Answer::Kind::over};
}

// No configuration is new, and every bracket is over: the best trial of the highest rung goes on.
Decision Hyperband::further_with_the_best(const History& history) const {
  const Trial* best = nullptr;
  const auto goes_first = [](const Trial& a, const Trial& b) {
    if (a.curve.last_epoch() != b.curve.last_epoch()) return a.curve.last_epoch() > b.curve.last_epoch();
    return a.curve.best() > b.curve.best();
  };
  for (const Trial& trial : history.trials()) {
    if (!trial.resumable() || trial.curve.empty()) continue;
    if (!best || goes_first(trial, *best)) best = &trial;
  }
  if (!best) return nothing_to_do(history, kPoolExhausted);
  Epoch until = history.spec().epochs.max;
  int rung = 0;
  for (const Rung& each : bracket(history.spec(), 0)) {
    if (each.epoch > best->curve.last_epoch()) {
      until = each.epoch;
      break;
    }
    ++rung;
  }
  return Resume{
      .trial = best->id, .until = until, .why = {.rule = Rule::nothing_new, .standing = RungStanding{.rung = rung}}};
}

Decision Hyperband::ask(const History& history, Rng& rng) {
  const Entries entries(history);
  for (int number = 0; number <= entries.last_bracket() + 1; ++number) {
    const Answer answer = next_in_bracket(history, entries, number, rng);
    if (answer.kind == Answer::Kind::decision) return answer.decision;
  }
  // Only a list without a configuration left gets here: a new bracket always has a slot to fill.
  return further_with_the_best(history);
}

}  // namespace bapi

#include "bapi/report/describe.h"

#include <fmt/format.h>

#include "bapi/base/match.h"
#include "bapi/report/reasons.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

std::string because(const Reason& why) {
  const std::string text = in_brief(why);
  return text.empty() ? "" : " · " + text;
}

}  // namespace

std::string describe(const Event& event, const StudySpec& spec) {
  const auto cost = [&](Cost amount) { return short_cost(amount, spec.budget); };
  return std::visit(
      Match{
          [](const TrialStarted& e) { return fmt::format("start, to epoch {}{}", e.until, because(e.why)); },
          [](const TrialResumed& e) { return fmt::format("resume, to epoch {}{}", e.until, because(e.why)); },
          [](const TrialStopped& e) { return fmt::format("stop{}", because(e.why)); },
          [](const StudyFinished& e) { return fmt::format("finished: {}", e.reason); },
          [&](const Measured& e) {
            return fmt::format("epoch {}: {} {}, {}",
                               e.measurement.epoch,
                               spec.metric.name,
                               short_number(e.measurement.value),
                               cost(e.measurement.cost));
          },
          [](const SegmentDone&) { return std::string("segment done"); },
          [](const ProgramEnded&) { return std::string("program ended by itself: completed"); },
          [](const TrialFailed& e) { return fmt::format("failed: {}", e.message); },
          [](const Interrupted& e) {
            return e.reason == "interrupted" ? e.reason : fmt::format("interrupted: {}", e.reason);
          },
          [&](const Overhead& e) { return fmt::format("{} before epoch {}: {}", word(e.kind), e.epoch, cost(e.cost)); },
          [&](const BudgetChanged& e) { return fmt::format("budget is now {}", cost(e.total)); }},
      event);
}

}  // namespace bapi

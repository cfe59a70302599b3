#include "bapi/studies/study_retry.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/studies/idle_log.h"

namespace bapi {

void retry_trial(const StudyPlace& place, std::int64_t number, const Tell& tell) {
  IdleLog log(place);
  const auto count = static_cast<std::int64_t>(log.history().trials().size());
  require(number >= 0 && number < count,
          fmt::format("trial {}: {} has {} trials, numbered from 0", number, log.spec().name, count));
  const Trial& trial = log.history().trial(TrialId{number});
  require(trial.state == TrialState::failed,
          fmt::format(
              "trial {} is {}; expected one that has failed: bapi trials lists them", number, to_string(trial.state)));
  const Epoch last = trial.curve.last_epoch();
  const std::vector<Event> facts = {TrialRetried{
      .trial = trial.id, .reason = "requested by the user", .until = std::max(trial.asked_until, last + 1)}};
  log.append(facts, SystemClock().now());
  tell(fmt::format("trial {} continues {} when the study is run: bapi resume {}",
                   number,
                   last > 0 ? fmt::format("after epoch {}", last) : "from the start",
                   place.shown()));
}

}  // namespace bapi

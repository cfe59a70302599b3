#include "bapi/studies/write_request.h"

#include <chrono>
#include <thread>

#include "bapi/studies/idle_log.h"
#include "bapi/study/user_request.h"

namespace bapi {
namespace {

using Outcome = RequestBox::Standing;
constexpr std::chrono::milliseconds kLookAgain{50};

}  // namespace

RequestOutcome hand_in(const StudyPlace& place, const StudyRequest& request, double now) {
  place.require_own();
  if (place.leader()) {
    return {.standing = Outcome::waiting, .id = place.requests().post(request, now)};
  }
  if (request.action == RequestAction::pause) {
    return {.standing = Outcome::refused, .reason = "the study is not running: there is nothing to pause"};
  }
  IdleLog log(place);
  if (auto refused = objection(request, log.history())) return {.standing = Outcome::refused, .reason = *refused};
  if (request.action == RequestAction::stop_trial) {
    log.decide(stop_event(request.trial), now);
  } else {
    log.append(facts_of(request), now);
  }
  return {};
}

RequestOutcome wait_for_answer(const StudyPlace& place, RequestOutcome outcome, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const RequestBox box = place.requests();
  while (outcome.standing == Outcome::waiting && std::chrono::steady_clock::now() < until) {
    const RequestBox::Answer answer = box.answer(outcome.id);
    outcome.standing = answer.standing;
    outcome.reason = answer.reason;
    if (outcome.standing == Outcome::waiting) std::this_thread::sleep_for(kLookAgain);
  }
  return outcome;
}

}  // namespace bapi

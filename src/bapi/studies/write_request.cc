#include "bapi/studies/write_request.h"

#include <chrono>
#include <thread>

#include "bapi/store/study_lock.h"
#include "bapi/studies/idle_log.h"
#include "bapi/study/user_request.h"

namespace bapi {
namespace {

using Standing = RequestBox::Standing;
constexpr std::chrono::milliseconds kLookAgain{50};

}  // namespace

RequestOutcome hand_in(const StudyDir& dir, const StudyRequest& request, double now) {
  require_own_directory(dir.root());
  if (StudyLock::holder(dir.root())) {
    return {.standing = Standing::waiting, .id = RequestBox(dir.root()).post(request, now)};
  }
  if (request.action == RequestAction::pause) {
    return {.standing = Standing::refused, .reason = "the study is not running: there is nothing to pause"};
  }
  IdleLog log(dir);
  if (auto refused = objection(request, log.history())) return {.standing = Standing::refused, .reason = *refused};
  if (request.action == RequestAction::stop_trial) {
    log.decide(stop_event(request.trial), now);
  } else {
    log.append(facts_of(request), now);
  }
  return {};
}

RequestOutcome wait_for_answer(const StudyDir& dir, RequestOutcome outcome, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const RequestBox box(dir.root());
  while (outcome.standing == Standing::waiting && std::chrono::steady_clock::now() < until) {
    const RequestBox::Answer answer = box.answer(outcome.id);
    outcome.standing = answer.standing;
    outcome.reason = answer.reason;
    if (outcome.standing == Standing::waiting) std::this_thread::sleep_for(kLookAgain);
  }
  return outcome;
}

}  // namespace bapi

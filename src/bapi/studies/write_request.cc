#include "bapi/studies/write_request.h"

#include "bapi/base/error.h"
#include "bapi/studies/idle_log.h"

namespace bapi {

std::optional<std::string> write_request(const StudyDir& dir, const StudyRequest& request, double now) {
  check(request.action == RequestAction::budget || request.action == RequestAction::note,
        "write_request: only a controller can do that");
  IdleLog log(dir);
  if (auto refused = objection(request, log.history())) return refused;
  log.append(facts_of(request), now);
  return std::nullopt;
}

}  // namespace bapi

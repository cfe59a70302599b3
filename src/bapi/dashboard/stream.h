#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "bapi/base/clock.h"
#include "bapi/dashboard/catalogue.h"
#include "bapi/dashboard/http.h"
#include "bapi/dashboard/planner.h"

namespace bapi {

// Where a follower stands in the log of each study that it follows: the last event that it has.
using Cursors = std::map<std::string, EventSeq>;

// From Last-Event-ID ("mlp:1042,b:77") or else the parameters at=mlp:1042. Throws InvalidInput.
Cursors cursors_of(const HttpRequest& request);
std::string text_of(const Cursors& cursors);

// Of the list of studies that the follower has seen (list=7); nullopt if it does not say. Throws InvalidInput.
std::optional<int> list_version_of(const HttpRequest& request);

// Studies of which the follower shows what the planner thinks (planner=mlp).
std::set<std::string> planned_of(const HttpRequest& request);

// Server-sent events for one follower: `log` (what was written since, in batches), `status` (the live record of a study
// that has changed), `insight` (a newer answer of the planner is there), `studies` (the list has changed), `bye`.
class EventStream {
 public:
  // `list` is the version of the list of studies that the follower has seen; without it, the present one.
  EventStream(Catalogue& catalogue,
              Planner& planner,
              const Clock& clock,
              Cursors cursors,
              std::set<std::string> planned,
              std::optional<int> list)
      : catalogue_(catalogue),
        planner_(planner),
        clock_(clock),
        cursors_(std::move(cursors)),
        planned_(std::move(planned)),
        version_(list.value_or(catalogue.version())) {}

  // Writes what is new, or waits a tenth of a second; false once nobody reads any more.
  bool step(const HttpWrite& write, bool ending);

 private:
  struct Followed {
    EventSeq told = -1;  // status up to here
    std::string controller = {};
    double insight_at = 0.0;
    std::chrono::steady_clock::time_point status_at{};
  };
  bool tell_study(const std::string& id, const HttpWrite& write);
  bool send(const HttpWrite& write, std::string_view event, const std::string& data) const;

  Catalogue& catalogue_;
  Planner& planner_;
  const Clock& clock_;
  Cursors cursors_;
  std::set<std::string> planned_;
  std::map<std::string, Followed> followed_;
  int version_;
  bool greeted_ = false;
  std::chrono::steady_clock::time_point wrote_{};
};

}  // namespace bapi

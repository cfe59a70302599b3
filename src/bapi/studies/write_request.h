#pragma once

#include <optional>
#include <string>

#include "bapi/control/requests.h"
#include "bapi/studies/study_place.h"

namespace bapi {

// What became of a request.
struct RequestOutcome {
  RequestBox::Standing standing = RequestBox::Standing::done;
  std::string id = {};      // of one that waits for the controller
  std::string reason = {};  // why it was refused
};

// Leaves a request for the controller that runs the study. Without one, what may be written to the log is written,
// under the study's lock, and a pause is refused. Throws InvalidInput or StoreError.
RequestOutcome hand_in(const StudyPlace& place, const StudyRequest& request, double now);

// Waits until the controller has settled a request, for `seconds` at most.
RequestOutcome wait_for_answer(const StudyPlace& place, RequestOutcome outcome, double seconds);

}  // namespace bapi

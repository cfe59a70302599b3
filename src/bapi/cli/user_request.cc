#include "bapi/cli/user_request.h"

#include <fmt/format.h>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/studies/study_view.h"
#include "bapi/studies/write_request.h"

namespace bapi {
namespace {

// A controller looks five times a second; one that is a Python program, at its next report.
constexpr double kLongestWait = 5.0;  // seconds

}  // namespace

int ask_of_study(const std::string& study, const StudyRequest& request, const std::string& done) {
  using Outcome = RequestBox::Standing;
  const StudyPlace place = locate_place(study);
  const RequestOutcome outcome =
      wait_for_answer(place, hand_in(place, request, SystemClock().calendar()), kLongestWait);
  require(outcome.standing != Outcome::refused, fmt::format("{}: {}", place.shown(), outcome.reason));
  print(outcome.standing == Outcome::done
            ? done + "\n"
            : "the study handles the request at its next report; bapi explain and bapi status then show the result\n");
  return kDone;
}

}  // namespace bapi

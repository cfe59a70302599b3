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
  const StudyPlace place = locate_place(study);
  const RequestOutcome outcome =
      wait_for_answer(place, hand_in(place, request, SystemClock().calendar()), kLongestWait);
  require(outcome.standing != RequestBox::Standing::refused, fmt::format("{}: {}", place.shown(), outcome.reason));
  print(outcome.standing == RequestBox::Standing::done
            ? done + "\n"
            : "the study takes the request up at its next report; bapi explain and bapi status show when it has\n");
  return kDone;
}

}  // namespace bapi

#include "bapi/studies/study_add.h"

#include <fmt/format.h>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/studies/idle_log.h"

namespace bapi {

void add_configuration(const StudyPlace& place, const NamedValues& given, const std::string& by, const Tell& tell) {
  place.require_own();
  const double now = SystemClock().now();
  if (place.leader()) {
    const StudySpec spec = place.open_for_reading()->spec();
    const Config wish = wish_of(given, spec.space);
    place.wishes().put({.wish = wish, .by = by}, now);
    tell(fmt::format("{} is the next new trial; the study is running", wish_text(wish, spec.space)));
    return;
  }
  IdleLog log(place);
  const Config wish = wish_of(given, log.spec().space);
  const std::vector<Event> facts = {ConfigEnqueued{.wish = wish, .by = by}};
  log.append(facts, now);
  const std::string text = wish_text(wish, log.spec().space);
  const std::string name = place.shown();
  if (log.history().finished()) {
    tell(fmt::format("{} is tried first if the study continues: bapi resume {} --budget gives it more", text, name));
  } else {
    tell(fmt::format("{} is the next new trial when the study is run: bapi resume {}", text, name));
  }
}

}  // namespace bapi

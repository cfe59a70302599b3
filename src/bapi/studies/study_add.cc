#include "bapi/studies/study_add.h"

#include <fmt/format.h>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/store/study_lock.h"
#include "bapi/store/wish_box.h"
#include "bapi/studies/idle_log.h"
#include "bapi/studies/study_view.h"

namespace bapi {

void add_configuration(const StudyDir& dir, const NamedValues& given, const std::string& by, const Tell& tell) {
  require_own_directory(dir.root());
  const double now = SystemClock().now();
  if (StudyLock::holder(dir.root())) {
    const StudySpec spec = SqliteStore::open(dir.database(), Access::read_only).spec();
    const Config wish = wish_of(given, spec.space);
    WishBox(dir).put({.wish = wish, .by = by}, now);
    tell(fmt::format("{} is the next new trial; the study is running", wish_text(wish, spec.space)));
    return;
  }
  IdleLog log(dir);
  const Config wish = wish_of(given, log.spec().space);
  const std::vector<Event> facts = {ConfigEnqueued{.wish = wish, .by = by}};
  log.append(facts, now);
  const std::string text = wish_text(wish, log.spec().space);
  const std::string name = shown_path(dir.root());
  if (log.history().finished()) {
    tell(fmt::format("{} is tried first if the study continues: bapi resume {} --budget gives it more", text, name));
  } else {
    tell(fmt::format("{} is the next new trial when the study is run: bapi resume {}", text, name));
  }
}

}  // namespace bapi

#include "bapi/study/user_request.h"

#include <gtest/gtest.h>

#include <vector>

namespace bapi {
namespace user_request_test {

using Names = std::map<std::string, TrialId>;

Names names_in(const std::vector<Event>& events) {
  std::vector<StoredEvent> log;
  for (const Event& event : events) log.push_back({.seq = std::ssize(log) + 1, .at = 0.0, .event = event});
  return other_names(log);
}

TEST(OtherNames, TheLastNameOfATrialCounts) {
  EXPECT_EQ(names_in({other_name_event(TrialId{0}, "ray_a"),
                      other_name_event(TrialId{12}, "ray_b"),
                      other_name_event(TrialId{0}, "ray_c")}),
            (Names{{"ray_c", TrialId{0}}, {"ray_b", TrialId{12}}}));
}

TEST(OtherNames, NothingElseOfALogIsTakenForAName) {
  const auto changed = [](const std::string& field) {
    return Event(SettingsChanged{.changes = {{.field = field, .before = "", .after = "name"}}});
  };
  EXPECT_TRUE(names_in({note_event("other name of trial 3"),
                        changed("retries"),
                        changed("other name of trial "),
                        changed("other name of trial x"),
                        changed("other name of trial 3 and more"),
                        BudgetChanged{.total = 3.0}})
                  .empty());
}

}  // namespace user_request_test
}  // namespace bapi

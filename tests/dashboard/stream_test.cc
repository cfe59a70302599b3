#include "bapi/dashboard/stream.h"

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(Cursors, AreReadFromParametersAndFromTheLastId) {
  HttpRequest request;
  request.query = {{"at", "mlp:1042"}, {"at", "b.c:0"}};
  EXPECT_EQ(cursors_of(request), (Cursors{{"mlp", 1042}, {"b.c", 0}}));
  request.headers = {{"last-event-id", "b.c:77,mlp:1043"}};
  EXPECT_EQ(cursors_of(request), (Cursors{{"mlp", 1043}, {"b.c", 77}}));
  EXPECT_EQ(text_of(cursors_of(request)), "b.c:77,mlp:1043");
}

TEST(Cursors, RefuseWhatIsNone) {
  for (const char* text : {"", "mlp", "mlp:", ":3", "mlp:-1", "mlp:x", "mlp:3x"}) {
    HttpRequest request;
    request.query = {{"at", text}};
    EXPECT_THROW(cursors_of(request), InvalidInput) << text;
  }
}

TEST(Stream, KnowsOfWhichStudiesThePlannersViewIsOnTheScreen) {
  HttpRequest request;
  EXPECT_TRUE(planned_of(request).empty());
  request.query = {{"at", "mlp:3"}, {"planner", "mlp"}, {"planner", "b"}};
  EXPECT_EQ(planned_of(request), (std::set<std::string>{"b", "mlp"}));
}

}  // namespace
}  // namespace bapi

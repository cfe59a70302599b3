#include "bapi/studies/study_place.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "bapi/base/error.h"
#include "bapi/store/postgres_store.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/studies/idle_log.h"
#include "bapi/studies/study_view.h"
#include "bapi/studies/write_request.h"
#include "tests/support/postgres_server.h"

namespace bapi {
namespace study_place_test {

using test::PostgresServer;

class StudyInDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    BAPI_NEEDS_POSTGRES();
    url_.emplace(PostgresServer::instance().new_database());
    const std::filesystem::path old = std::filesystem::path(BAPI_SOURCE_DIR) / "tests/data/study-schema-1.db";
    dir_.create();
    std::filesystem::copy_file(old, dir_.database());
    const SqliteStore source = SqliteStore::open(dir_.database(), Access::read_only);
    PostgresStore copy = PostgresStore::create(std::make_shared<PostgresConnection>(*url_), "copy", source.spec());
    for (const StoredEvent& stored : source.events(0)) {
      const bool written =
          is_decision(stored.event)
              ? copy.append_decision(stored.seq - 1, stored.event, stored.at)
              : copy.append(stored.seq - 1, std::vector<Event>{stored.event}, stored.at, Durability::process);
      ASSERT_TRUE(written);
    }
  }
  void TearDown() override { ::unsetenv("BAPI_STORAGE"); }

  std::string address() const { return url_->shown() + "#copy"; }

  test::TempDir temp_;
  StudyDir dir_{temp_ / "copy.bapi"};
  std::optional<DatabaseUrl> url_;
};

TEST_F(StudyInDatabase, IsReadAsTheOneInItsDirectoryToTheLastBit) {
  const StudyView here = open_study(dir_.root().string());
  const StudyView there = open_study(address());
  EXPECT_EQ(there.events, here.events);
  EXPECT_EQ(there.spec(), here.spec());
  EXPECT_EQ(there.history.budget().spent(), here.history.budget().spent());
  EXPECT_EQ(there.controller, Controller::absent);
  EXPECT_EQ(there.shown(), address());
  EXPECT_TRUE(is_nowhere(there.dir));
}

TEST_F(StudyInDatabase, IsFoundByItsAddressItsNameAndAsTheOnlyOne) {
  EXPECT_EQ(locate_place(address()).shown(), address());
  EXPECT_EQ(locate_place(url_->shown()).shown(), address());
  EXPECT_THROW(locate_place("#copy"), InvalidInput);
  ::setenv("BAPI_STORAGE", url_->with_password().c_str(), 1);
  EXPECT_EQ(locate_place("#copy").shown(), address());
  EXPECT_EQ(locate_place("copy").shown(), address());
  EXPECT_EQ(locate_place(dir_.root().string()).shown(), StudyPlace(dir_).shown()) << "what is here goes first";
  EXPECT_THROW(open_study("cpoy"), StoreError);
}

TEST_F(StudyInDatabase, SeveralStudiesNeedAName) {
  PostgresStore::create(std::make_shared<PostgresConnection>(*url_), "other", {.name = "other"});
  EXPECT_THROW(locate_place(url_->shown()), InvalidInput);
  EXPECT_EQ(studies_of(*url_).size(), 2u);
}

TEST_F(StudyInDatabase, IsNoDirectory) { EXPECT_THROW(locate_study(address()), InvalidInput); }

TEST_F(StudyInDatabase, ANoteIsWrittenWhenNobodyLeadsAndLeftForTheLeaderOtherwise) {
  const StudyPlace place = locate_place(address());
  const std::size_t before = open_study(address()).events.size();
  EXPECT_EQ(hand_in(place, {.action = RequestAction::note, .text = "idle"}, 1.75e9).standing,
            RequestBox::Standing::done);
  EXPECT_EQ(open_study(address()).events.size(), before + 1);
  const HeldStudy held = hold_study(place);
  EXPECT_TRUE(place.leader());
  EXPECT_EQ(open_study(address()).controller, Controller::present);
  const RequestOutcome left = hand_in(place, {.action = RequestAction::note, .text = "led"}, 1.75e9);
  EXPECT_EQ(left.standing, RequestBox::Standing::waiting);
  const std::vector<RequestBox::Waiting> waiting = place.requests().waiting();
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].request->text, "led");
  place.requests().settle(waiting[0].id, "no");
  EXPECT_EQ(place.requests().answer(left.id).standing, RequestBox::Standing::refused);
  EXPECT_EQ(place.requests().answer(left.id).reason, "no");
}

TEST_F(StudyInDatabase, CannotBeHeldTwice) {
  const StudyPlace place = locate_place(address());
  const HeldStudy held = hold_study(place);
  EXPECT_THROW(IdleLog{place}, StoreError);
}

}  // namespace study_place_test
}  // namespace bapi

#include "bapi/store/database_url.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

TEST(DatabaseUrl, IsToldFromAPathByItsScheme) {
  EXPECT_TRUE(DatabaseUrl::is_one("postgresql://ann@db/tuning"));
  EXPECT_TRUE(DatabaseUrl::is_one("postgres://db/tuning#mlp"));
  EXPECT_FALSE(DatabaseUrl::is_one("postgresql"));
  EXPECT_FALSE(DatabaseUrl::is_one("./postgresql://x"));
  EXPECT_FALSE(DatabaseUrl::is_one("mlp.bapi"));
  EXPECT_THROW(DatabaseUrl("mysql://db/tuning"), InvalidInput);
}

TEST(DatabaseUrl, NeverShowsAPassword) {
  const auto shown = [](const char* text) { return DatabaseUrl(text).shown(); };
  EXPECT_EQ(shown("postgresql://ann:secret@db:5432/tuning"), "postgresql://ann@db:5432/tuning");
  EXPECT_EQ(shown("postgresql://ann@db/tuning?password=secret&sslmode=require"),
            "postgresql://ann@db/tuning?sslmode=require");
  EXPECT_EQ(shown("postgresql://ann@db/tuning?sslmode=require&p%61ssword=secret"),
            "postgresql://ann@db/tuning?sslmode=require");
  EXPECT_EQ(shown("postgresql://ann@db/tuning?sslpassword=secret"), "postgresql://ann@db/tuning");
}

TEST(DatabaseUrl, NeverShowsAPasswordWithCharactersThatItShouldNotHave) {
  for (const char* text : {"postgresql://ann:sec/ret@db/tuning",
                           "postgresql://ann:sec@ret@db/tuning",
                           "postgresql://ann:sec?ret@db/tuning",
                           "postgresql://ann:sec:ret@db/tuning"}) {
    EXPECT_TRUE(DatabaseUrl(text).has_password()) << text;
    EXPECT_EQ(DatabaseUrl(text).shown(), "postgresql://ann@db/tuning") << text;
  }
}

TEST(DatabaseUrl, WithoutAPasswordIsShownAsItIs) {
  for (const char* text : {"postgresql://ann@db:5432/tuning?sslmode=verify-full&passfile=/home/ann/pass",
                           "postgresql:///tuning?host=/tmp",
                           "postgresql://[::1]:5433/tuning",
                           "postgres://db1:1,db2:2/tuning"}) {
    EXPECT_EQ(DatabaseUrl(text).shown(), text);
    EXPECT_FALSE(DatabaseUrl(text).has_password()) << text;
  }
}

TEST(DatabaseStudy, IsWhatFollowsTheHash) {
  const DatabaseStudy study = parse_database_study("postgresql://ann@db/tuning#mlp");
  EXPECT_EQ(study.database, DatabaseUrl("postgresql://ann@db/tuning"));
  EXPECT_EQ(study.name, "mlp");
  EXPECT_EQ(study.shown(), "postgresql://ann@db/tuning#mlp");
  EXPECT_EQ(parse_database_study("postgresql://ann@db/tuning").name, "");
}

TEST(DatabaseStudy, APasswordIsRefusedWithoutBeingRepeated) {
  try {
    parse_database_study("postgresql://ann:secret@db/tuning#mlp");
    FAIL();
  } catch (const InvalidInput& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("PGPASSFILE"), std::string::npos);
    EXPECT_EQ(text.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace bapi

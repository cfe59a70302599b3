#include "bapi/tables/json_field.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace {

const std::string kFile = "f.json";

template <typename Read>
std::string refusal(const std::string& json, Read read) {
  const nlohmann::json document = parse_json(json, kFile);
  try {
    read(JsonField(document, kFile));
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(JsonField, NamesFilePlaceAndWhatItFound) {
  EXPECT_EQ(refusal(R"({"a": [{"b": 1}]})", [](const JsonField& top) { top.at("a").items()[0].at("b").text(); }),
            "f.json: a[0].b: found 1, expected a string");
  EXPECT_EQ(refusal("{}", [](const JsonField& top) { top.at("a"); }), "f.json: there is no \"a\"");
  EXPECT_EQ(refusal(R"({"a": {}})", [](const JsonField& top) { top.at("a").number(); }),
            "f.json: a: found an object, expected a number");
}

TEST(JsonField, TakesWholeNumbersWithinTheirRangeOnly) {
  const auto whole = [](const JsonField& top) { EXPECT_EQ(top.whole(0, 10), 3U); };
  EXPECT_EQ(refusal("3", whole), "(accepted)");
  EXPECT_EQ(refusal("3.0", whole), "(accepted)");
  for (const char* wrong : {"-1", "11", "3.5", "1e300", "-1e300", "18446744073709551615", "1e19", "\"3\"", "null"}) {
    EXPECT_NE(refusal(wrong, whole).find("expected a whole number from 0 to 10"), std::string::npos) << wrong;
  }
  const auto integer = [](const JsonField& top) { EXPECT_EQ(top.integer(), -3); };
  EXPECT_EQ(refusal("-3", integer), "(accepted)");
  EXPECT_EQ(refusal("-3.0", integer), "(accepted)");
  for (const char* wrong : {"1e19", "-1e19", "18446744073709551615", "0.5", "true"}) {
    EXPECT_NE(refusal(wrong, integer).find("expected a whole number"), std::string::npos) << wrong;
  }
}

TEST(JsonField, SaysWhereTheDocumentIsNoJson) {
  EXPECT_THROW(parse_json("{\"a\": 1e400}", kFile), InvalidInput);
  try {
    parse_json("{\n\"a\" 1}", kFile);
    FAIL();
  } catch (const InvalidInput& e) {
    EXPECT_NE(std::string(e.what()).find("f.json: parse error at line 2"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace bapi

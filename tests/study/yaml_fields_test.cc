#include "bapi/study/yaml_fields.h"

#include <gtest/gtest.h>

#include "bapi/base/error.h"

namespace bapi {
namespace yaml_fields_test {

std::string message_of(const std::string& file, const std::string& text, void (*read)(const YamlField&)) {
  YamlSource source{.file = file};
  try {
    read(load_yaml(text, source, "something"));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(YamlField, YesAndNoAreAnswersAndSoAreTrueAndFalse) {
  for (const auto& [text, answer] : std::vector<std::pair<std::string, bool>>{
           {"yes", true}, {"true", true}, {"\"yes\"", true}, {"no", false}, {"false", false}}) {
    YamlSource source{.file = "a.yaml"};
    EXPECT_EQ(load_yaml(text, source, "an answer").yes(), answer) << text;
  }
  for (const std::string text : {"maybe", "1", "[yes]", "\"true\""}) {
    EXPECT_NE(message_of("a.yaml", text, [](const YamlField& field) { field.yes(); }).find("expected yes or no"),
              std::string::npos)
        << text;
  }
}

TEST(YamlField, MessagesHaveAPlaceIfTheTextIsOfAFile) {
  const auto read = [](const YamlField& field) { YamlMapping(field, "a mapping")["a"].number(); };
  EXPECT_EQ(message_of("a.yaml", "\na: x\n", read), "a.yaml:2:4: a: found 'x', expected a number");
  EXPECT_EQ(message_of("", "\na: x\n", read), "a: found 'x', expected a number");
  EXPECT_EQ(message_of("", "", read), "found nothing, expected something");
}

}  // namespace yaml_fields_test
}  // namespace bapi

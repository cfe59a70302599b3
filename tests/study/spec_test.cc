#include "bapi/study/spec.h"

#include <gtest/gtest.h>

#include <functional>

#include "bapi/base/error.h"

namespace bapi {
namespace {

StudySpec sound() {
  return {.name = "mlp",
          .command = {"./train", "--note", "two\nlines"},
          .budget = {.limit = 10.0},
          .space = Space({Param{.name = "kind", .domain = Choice{.options = {std::string("a"), std::string("b")}}}}),
          .env = {{"OMP_NUM_THREADS", "1"}}};
}

const std::vector<std::function<void(StudySpec&)>> kBadTexts = {
    [](StudySpec& spec) { spec.metric.name = "cost"; },
    [](StudySpec& spec) { spec.metric.name = "a\tb"; },
    [](StudySpec& spec) { spec.command.push_back("\x1b[2J"); },
    [](StudySpec& spec) { spec.env.emplace("BAPI_DIR", "/tmp"); },
    [](StudySpec& spec) { spec.env.emplace("HOME", "\x7f"); },
    [](StudySpec& spec) {
      spec.space = Space({Param{.name = "kind", .domain = Choice{.options = {std::string("a"), std::string("\x1b")}}}});
    }};

TEST(StudySpec, NamesAndTextsObeyTheirRulesWhoeverWroteThem) {
  EXPECT_NO_THROW(sound().validate());
  for (const auto& spoil : kBadTexts) {
    StudySpec spec = sound();
    spoil(spec);
    EXPECT_THROW(spec.validate(), InvalidInput);
    EXPECT_THROW(spec.validate_against(sound()), InvalidInput);
  }
}

TEST(StudySpec, NamesAndTextsThatARecordHasAreKept) {
  for (const auto& spoil : kBadTexts) {
    StudySpec spec = sound();
    spoil(spec);
    EXPECT_NO_THROW(spec.validate_against(spec));
    StudySpec changed = spec;
    changed.workers = 2;
    EXPECT_NO_THROW(changed.validate_against(spec));
    changed.workers = 0;
    EXPECT_THROW(changed.validate_against(spec), InvalidInput);
  }
}

TEST(StudySpec, AMetricNeedsAName) {
  StudySpec spec = sound();
  spec.metric.name.clear();
  EXPECT_THROW(spec.validate(), InvalidInput);
  EXPECT_THROW(spec.validate_against(spec), InvalidInput);
}

TEST(StudySpec, WithoutCheckpointsEveryProcessBeginsAtTheBeginning) {
  StudySpec spec = sound();
  EXPECT_EQ(spec.begins_after(7), 7);
  spec.checkpoint = Checkpoint::none;
  EXPECT_EQ(spec.begins_after(7), 0);
}

}  // namespace
}  // namespace bapi

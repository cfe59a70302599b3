#include "bapi/study/codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "bapi/base/error.h"
#include "bapi/base/match.h"
#include "bapi/study/codec_json.h"
#include "bapi/study/reason_fields.h"
#include "bapi/study/work.h"
#include "tests/study/random_study.h"

namespace bapi {
namespace {

using testing_support::any_event;
using testing_support::any_finite;
using testing_support::any_space;
using testing_support::any_spec;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

std::string refusal_of_event(const std::string& text) {
  return complaint([&] { decode_event(text); });
}

Event measured(double value, double cost) {
  return Measured{.trial = TrialId{7}, .measurement = {.epoch = 3, .value = value, .cost = cost}};
}

TEST(Codec, EventsOfEveryKindComeBackUnchanged) {
  Rng rng(1);
  for (std::size_t kind = 0; kind < std::variant_size_v<Event>; ++kind) {
    for (int i = 0; i < 200; ++i) {
      const Event event = any_event(kind, rng);
      ASSERT_EQ(event.index(), kind);
      EXPECT_EQ(decode_event(encode(event)), event) << encode(event);
    }
  }
}

TEST(Codec, SpecificationsComeBackUnchanged) {
  Rng rng(2);
  for (int i = 0; i < 500; ++i) {
    const StudySpec spec = any_spec(rng);
    EXPECT_EQ(decode_spec(encode(spec)), spec) << encode(spec);
  }
}

// Whether a training program that reads this gets that value.
bool says(const codec::Json& json, const Value& value) {
  return std::visit(Match{[](std::monostate) { return false; },
                          [&](bool flag) { return json == flag; },
                          [&](std::int64_t integer) { return json.is_number_integer() && json == integer; },
                          [&](double number) {
                            return std::isfinite(number) ? json.is_number() && json.get<double>() == number
                                                         : json == codec::number_json(number);
                          },
                          [&](const std::string& text) { return json == text; }},
                    value);
}

TEST(Codec, TheTrainingProgramSeesEveryValueOfItsConfiguration) {
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    std::vector<Param> params = any_space(rng).params();
    // A training program reads JSON: texts that are no UTF-8 cannot be handed to it.
    for (Param& param : params) {
      if (std::holds_alternative<Constant>(param.domain)) param.domain = Constant{.value = rng.uniform()};
    }
    const Space space(params);
    const Config config = space.sample(rng);
    const codec::Json seen = codec::Json::parse(encode(config, space));
    for (std::size_t k = 0; k < params.size(); ++k) {
      const bool applies = !std::holds_alternative<std::monostate>(config.values[k]);
      ASSERT_EQ(seen.contains(params[k].name), applies) << seen;
      EXPECT_TRUE(!applies || says(seen[params[k].name], config.values[k])) << seen;
    }
  }
}

TEST(Codec, EventsEncodeToOneCompactLine) {
  EXPECT_EQ(encode(measured(0.91, 1.5)),
            R"({"kind":"measured","version":1,"trial":7,"epoch":3,"value":0.91,"cost":1.5})");
  EXPECT_EQ(encode(Event{Overhead{.trial = TrialId{7}, .kind = OverheadKind::repeat, .epoch = 2, .cost = 0.25}}),
            R"({"kind":"overhead","version":1,"trial":7,"of":"repeat","epoch":2,"cost":0.25})");
  const Reason why{.rule = Rule::not_promoted, .standing = RungStanding{.rung = 1, .rank = 3}};
  EXPECT_EQ(encode(Event{TrialStopped{.trial = TrialId{1}, .why = why}}),
            R"({"kind":"stopped","version":2,"trial":1,"why":{"rule":"not-promoted","standing":{"rung":1,"rank":3}}})");
}

TEST(Codec, OverheadsAreNamedAsInListings) {
  for (const auto kind : {OverheadKind::start_up, OverheadKind::repeat, OverheadKind::grace, OverheadKind::failed}) {
    const std::string text = encode(Event{Overhead{.kind = kind}});
    EXPECT_NE(text.find("\"of\":\"" + std::string(word(kind)) + "\""), std::string::npos) << text;
  }
}

TEST(Codec, DoublesKeepEveryBit) {
  Rng rng(4);
  for (int i = 0; i < 20000; ++i) {
    const double number = i == 0 ? -0.0 : any_finite(rng);
    const auto hot = std::get<Measured>(decode_event(encode(measured(number, 0.0))));
    const auto cold = std::get<BudgetChanged>(decode_event(encode(Event{BudgetChanged{number}})));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(hot.measurement.value), std::bit_cast<std::uint64_t>(number));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(cold.total), std::bit_cast<std::uint64_t>(number));
  }
}

TEST(Codec, NumbersThatAreNotFiniteAreStrings) {
  EXPECT_NE(encode(measured(kNan, -kInf)).find(R"("value":"nan","cost":"-inf")"), std::string::npos);
  const auto back = std::get<Measured>(decode_event(encode(measured(kNan, -kInf)))).measurement;
  EXPECT_TRUE(std::isnan(back.value));
  EXPECT_EQ(back.cost, -kInf);
}

TEST(Codec, TheTypeOfAValueSurvives) {
  const std::vector<Value> values{std::int64_t{1}, 1.0, true, std::string("1"), kInf, std::string("inf"), -0.0};
  const Event event = TrialStarted{.config = {.values = values}};
  const Config back = std::get<TrialStarted>(decode_event(encode(event))).config;
  EXPECT_EQ(back.values, values);
  EXPECT_TRUE(std::signbit(std::get<double>(back.values.back())));
}

TEST(Codec, TheTrainingProgramSeesOnlyParametersThatApply) {
  const Space space(
      {{.name = "optimizer", .domain = Choice{.options = {std::string("sgd"), std::string("adam")}}},
       {.name = "momentum", .domain = RealRange{}, .when = {{.param = "optimizer", .values = {std::string("sgd")}}}},
       {.name = "units", .domain = IntRange{.low = 16, .high = 256}}});
  const Config config{{std::string("adam"), std::monostate{}, std::int64_t{64}}};
  EXPECT_EQ(encode(config, space), R"({"optimizer":"adam","units":64})");
}

TEST(Codec, MalformedEventsAreRefusedWithWhatWasFoundAndExpected) {
  EXPECT_EQ(refusal_of_event("{"), "event: found {, expected JSON");
  EXPECT_EQ(refusal_of_event("[1]"), "event: found [1], expected an object");
  EXPECT_EQ(refusal_of_event("{}"), "event: found {}, expected a field \"kind\"");
  EXPECT_EQ(refusal_of_event(R"({"kind":"segment_done","version":1})"),
            R"(event: found {"kind":"segment_done","version":1}, expected a field "trial")");
  EXPECT_EQ(refusal_of_event(R"({"kind":"segment_done","version":1,"trial":"a"})"),
            "event.trial: found \"a\", expected an integer from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(refusal_of_event(R"({"kind":"segment_done","version":1,"trial":1,"more":2})"),
            "event: found the field \"more\", expected only kind, version, trial");
  EXPECT_EQ(refusal_of_event(R"({"kind":"segment_done","version":2,"trial":1})"),
            "event.version: found 2, expected version 1 (is bapi older than this study?)");
  EXPECT_EQ(refusal_of_event(R"({"kind":"moved","version":1})"),
            "event.kind: found \"moved\", expected one of started, resumed, stopped, finished, measured, segment_done, "
            "program_ended, failed, interrupted, overhead, budget_changed, retried, settings_changed, "
            "enqueued");
  EXPECT_EQ(refusal_of_event(R"({"kind":"overhead","version":1,"trial":1,"of":"tea","epoch":1,"cost":1})"),
            "event.of: found \"tea\", expected one of \"start-up\", \"repeat\", \"grace\", \"failed\", \"unreported\", "
            "\"snapshot\", \"unfinished\", \"lost\"");
  EXPECT_EQ(refusal_of_event(R"({"kind":"measured","version":1,"trial":1,"epoch":1,"value":"high","cost":1})"),
            "event.value: found \"high\", expected a number");
  EXPECT_EQ(refusal_of_event(R"({"kind":"measured","version":1,"trial":1,"epoch":3000000000,"value":1,"cost":1})"),
            "event.epoch: found 3000000000, expected an integer from -2147483648 to 2147483647");
}

TEST(Codec, OnlyDecisionsWithAReasonHaveASecondVersion) {
  EXPECT_EQ(refusal_of_event(R"({"kind":"stopped","version":3,"trial":1,"why":{"rule":"promoted"}})"),
            "it was written by a newer bapi (format 3, this program knows up to 2). Upgrade bapi to open it");
  EXPECT_EQ(refusal_of_event(R"({"kind":"finished","version":2,"reason":""})"),
            "event.version: found 2, expected version 1 (is bapi older than this study?)");
}

TEST(Codec, AnUnknownRuleOrFieldOfAReasonIsRefused) {
  EXPECT_NE(refusal_of_event(R"({"kind":"stopped","version":2,"trial":1,"why":{"rule":"halving"}})")
                .find(R"(event.why.rule: found "halving", expected one of "", "own-words")"),
            std::string::npos);
  EXPECT_EQ(
      refusal_of_event(
          R"({"kind":"stopped","version":2,"trial":1,"why":{"rule":"promoted","price":{"until":3,"cost":true}}})"),
      "event.why.price.cost: found true, expected a number");
  EXPECT_EQ(refusal_of_event(R"({"kind":"stopped","version":2,"trial":1,"why":{"rule":"promoted","luck":7}})"),
            "event.why: found the field \"luck\", expected only rule");
}

TEST(Codec, ASpecificationWithAMissingFieldIsRefused) {
  const std::string text = encode(StudySpec{.name = "mlp"});
  for (const std::string field : {"name", "metric", "budget", "epochs", "seed", "space", "env", "deadline"}) {
    std::string broken = text;
    broken.replace(broken.find("\"" + field + "\""), field.size() + 2, "\"other\"");
    EXPECT_NE(complaint([&] { decode_spec(broken); }), "");
  }
}

// A struct as a later version may have it: with a field that older texts do not know.
struct Grown {
  int old = 0;
  std::string added = {};
  int retries = 1;
  bool operator==(const Grown&) const = default;
};

template <typename Visitor, Of<Grown> T>
void fields(Visitor& visit, T& grown) {
  visit("old", grown.old);
  visit.if_set("added", grown.added);
  visit(Field("retries").added(), grown.retries);
}

TEST(Codec, AFieldThatIsVisitedIfSetMayBeMissing) {
  const codec::Path where("grown");
  for (const Grown& grown : {Grown{.old = 3}, Grown{.old = 3, .added = "x"}}) {
    const codec::Json json = codec::json_of(grown);
    EXPECT_EQ(json.contains("added"), !grown.added.empty());
    Grown read;
    codec::read(json, where, read);
    EXPECT_EQ(read, grown);
  }
  Grown incomplete;
  EXPECT_THROW(codec::read(codec::Json{{"added", "x"}}, where, incomplete), InvalidInput);
}

TEST(Codec, AnAddedFieldIsAlwaysWrittenAndHasItsDefaultWhereItIsMissing) {
  const codec::Path where("grown");
  for (const int retries : {0, 1, 2}) {
    const codec::Json json = codec::json_of(Grown{.retries = retries});
    EXPECT_TRUE(json.contains("retries"));
    Grown read;
    codec::read(json, where, read);
    EXPECT_EQ(read.retries, retries);
  }
  Grown older;
  codec::read(codec::Json{{"old", 3}}, where, older);
  EXPECT_EQ(older, (Grown{.old = 3}));
}

// Values are written and compared by recursion: a log that somebody has planted must not decide how deep.
TEST(Codec, ATextThatIsNestedWithoutEndIsRefused) {
  for (const std::size_t depth : {std::size_t{101}, std::size_t{1'000'000}}) {
    for (const char* kind : {"started", "mystery"}) {
      const std::string list = std::string(depth, '[') + std::string(depth, ']');
      const std::string text = std::string(R"({"kind":")") + kind + R"(","version":1,"trial":)" + list + "}";
      EXPECT_THROW(decode_event(text), InvalidInput);
      EXPECT_THROW(decode_delivery(R"({"version":1,"facts":[)" + text + "]}"), InvalidInput);
    }
  }
  const std::string quoted = R"({"kind":"finished","version":1,"reason":"\"[[[)" + std::string(1000, '[') + "\"}";
  EXPECT_NO_THROW(decode_event(quoted)) << "brackets in a text are none";
}

TEST(Codec, EveryPrefixOfATextIsRefused) {
  Rng rng(5);
  const std::string text = encode(any_spec(rng));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW(decode_spec(text.substr(0, length)), InvalidInput);
  }
}

}  // namespace
}  // namespace bapi

#include "bapi/cli/live_lines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace {

constexpr TerminalStyle kPlain{.color = Color::off, .glyphs = Glyphs::unicode};

// `trials` trials in training, each with three epochs behind it.
History busy_study(int trials) {
  SampleLog log;
  for (int i = 0; i < trials; ++i) {
    log.add(TrialStarted{
        .trial = TrialId{i}, .config = sample_config(0.1, 32), .until = 9, .why = {.rule = Rule::uniform_draw}});
    log.add(measured(i, 1, 0.1 + 0.001 * i, 1.0));
    log.add(measured(i, 2, 0.22 + 0.001 * i, 1.0));
    log.add(measured(i, 3, 0.3 + 0.001 * i, 1.0));
  }
  return replay(sample_spec(), log.events());
}

LiveState some_state() {
  return {.elapsed = 12.0,
          .spent = 50.0,
          .seconds_left = 25.0,
          .recent = std::vector<LiveEntry>(8, {.after = 3.0, .trial = TrialId{1}, .forms = {std::string(300, 'x')}})};
}

// A paused, a completed and a failed trial, the best of them with a configuration of twelve parameters.
History mixed_study() {
  StudySpec spec = sample_spec();
  std::vector<Param> params;
  Config config;
  for (int i = 0; i < 12; ++i) {
    params.push_back({.name = "parameter_" + std::to_string(i), .domain = RealRange{.low = 0.0, .high = 1.0}});
    config.values.emplace_back(0.001 * (101 + 10 * i));
  }
  spec.space = Space(std::move(params));
  SampleLog log;
  for (int i = 0; i < 3; ++i) log.add(TrialStarted{.trial = TrialId{i}, .config = config, .until = 3});
  log.add(measured(0, 1, 0.5, 1.0)).add(measured(0, 2, 0.6, 1.0)).add(measured(0, 3, 0.7, 1.0));
  log.add(SegmentDone{.trial = TrialId{0}});
  log.add(measured(1, 1, 0.9, 1.0)).add(ProgramEnded{.trial = TrialId{1}});
  log.add(measured(2, 1, 0.3, 1.0)).add(TrialFailed{.trial = TrialId{2}, .message = "exit code 3\nlast words"});
  return replay(spec, log.events());
}

bool contains(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(
      lines.begin(), lines.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST(LiveLines, FitEveryTerminal) {
  for (const int trials : {0, 1, 3, 100}) {
    for (const std::size_t columns : {1u, 20u, 40u, 80u, 200u, 500u}) {
      for (const std::size_t rows : {1u, 2u, 5u, 10u, 24u, 60u}) {
        const auto lines = live_lines(busy_study(trials), some_state(), {.columns = columns, .rows = rows}, kPlain);
        EXPECT_LE(lines.size(), std::max<std::size_t>(1, rows - 1));
        for (const std::string& line : lines)
          EXPECT_LE(display_width(line), std::max<std::size_t>(1, columns - 1)) << line;
      }
    }
  }
}

TEST(LiveLines, ShowBudgetTimeLeftIncumbentAndCurves) {
  const auto lines = live_lines(busy_study(2), some_state(), {.columns = 120, .rows = 30}, kPlain);
  EXPECT_TRUE(contains(lines, "50 %"));
  EXPECT_TRUE(contains(lines, "50.0 s of 1m40s"));
  EXPECT_TRUE(contains(lines, "done in 25.0 s"));
  EXPECT_TRUE(contains(lines, "accuracy 0.301 · trial 1, epoch 3/9"));
  EXPECT_TRUE(contains(lines, "3/9"));
  EXPECT_TRUE(contains(lines, "▁▅█"));
}

TEST(LiveLines, WrapTheBestConfigurationAndLeaveNothingOut) {
  for (const std::size_t columns : {30u, 40u, 80u, 120u, 200u}) {
    const auto lines = live_lines(mixed_study(), some_state(), {.columns = columns, .rows = 40}, kPlain);
    for (int i = 0; i < 12; ++i) {
      const std::string item = "parameter_" + std::to_string(i) + "=0." + std::to_string(101 + 10 * i);
      EXPECT_TRUE(contains(lines, item)) << item << " at " << columns << " columns";
    }
  }
}

TEST(LiveLines, ShowLeaderboardAndFailuresWhereThereIsRoom) {
  for (const TerminalSize size : {TerminalSize{.columns = 200, .rows = 24}, TerminalSize{.columns = 80, .rows = 50}}) {
    const auto lines = live_lines(mixed_study(), some_state(), size, kPlain);
    EXPECT_TRUE(contains(lines, "1      1        0.9    1/9  completed"));
    EXPECT_TRUE(contains(lines, "2      0        0.7    3/9  paused"));
    EXPECT_TRUE(contains(lines, "1 failed trial"));
    EXPECT_TRUE(contains(lines, "2  after epoch 1: exit code 3"));
    EXPECT_FALSE(contains(lines, "last words"));
  }
  const auto small = live_lines(mixed_study(), some_state(), {.columns = 80, .rows = 14}, kPlain);
  EXPECT_FALSE(contains(small, "rank"));
  EXPECT_TRUE(contains(small, "1 failed")) << "the title still counts failures";
}

TEST(LiveLines, ShortenDecisionsToTheirNumbers) {
  LiveState state = some_state();
  state.recent = {{.after = 9.7, .trial = TrialId{1}, .forms = {std::string(90, 'x'), "resume to 20 · 0.951 ± 0.012"}}};
  const auto at = [&](std::size_t columns) {
    return live_lines(busy_study(2), state, {.columns = columns, .rows = 24}, kPlain);
  };
  EXPECT_TRUE(contains(at(120), std::string(90, 'x')));
  EXPECT_TRUE(contains(at(80), "  9.7 s      1  resume to 20 · 0.951 ± 0.012"));
  EXPECT_TRUE(contains(at(40), "    1  resume to 20 · 0.951 ± 0.012"));
}

TEST(LiveLines, DecisionsUseTheSameWordsOnEveryLine) {
  LiveState state = some_state();
  state.recent = {{.forms = {"start, to epoch 3 · short"}, .brief_forms = {"start to 3 · short"}},
                  {.forms = {"start, to epoch 5 · " + std::string(60, 'x')}, .brief_forms = {"start to 5 · y"}}};
  const auto at = [&](std::size_t columns) {
    return live_lines(busy_study(2), state, {.columns = columns, .rows = 24}, kPlain);
  };
  EXPECT_TRUE(contains(at(120), "start, to epoch 3 · short") && contains(at(120), "start, to epoch 5"));
  EXPECT_TRUE(contains(at(80), "start to 3 · short") && contains(at(80), "start to 5 · y"));
  EXPECT_FALSE(contains(at(80), "start, to epoch"));
  state.recent[0].brief_forms = {"start to 3 · expected", "start to 3 · best"};
  state.recent[1].brief_forms = {"start to 5 · expected " + std::string(60, 'y'), "start to 5 · best"};
  EXPECT_TRUE(contains(at(80), "start to 3 · best") && contains(at(80), "start to 5 · best"));
  EXPECT_FALSE(contains(at(80), "expected"));
}

TEST(LiveLines, AFailureIsOneLineWithoutItsOutput) {
  const TrialFailed failed{.trial = TrialId{0}, .message = "exit code 1; the end of its output:\nTraceback"};
  EXPECT_EQ(live_entry(failed, sample_spec(), 1.0)->forms, std::vector<std::string>{"failed: exit code 1"});
}

TEST(LiveLines, ConfigurationsOfRunningTrialsEndWithAWholeParameter) {
  SampleLog log;
  log.add(TrialStarted{.trial = TrialId{0}, .config = sample_config(0.1234, 32), .until = 3});
  const History history = replay(sample_spec(), log.events());
  for (std::size_t columns = 60; columns < 100; ++columns) {
    for (const std::string& line : live_lines(history, {}, {.columns = columns, .rows = 24}, kPlain)) {
      if (line.find("lr=") == std::string::npos || line.find("lr=0.1234") != std::string::npos) continue;
      EXPECT_TRUE(line.ends_with("…")) << line;
    }
  }
}

TEST(LiveLines, SayHowManyTrialsAreNotShown) {
  const auto lines = live_lines(busy_study(100), some_state(), {.columns = 80, .rows = 24}, kPlain);
  EXPECT_TRUE(contains(lines, "more"));
  EXPECT_TRUE(contains(lines, "xxx")) << "decisions keep some room";
}

TEST(LiveLines, AsciiStyleHasNoOtherBytes) {
  LiveState forecasting = some_state();
  forecasting.recent = {{.forms = {"resume · 0.9 ± 0.1 → größer"}}};
  const auto lines = live_lines(
      busy_study(3), forecasting, {.columns = 60, .rows = 24}, {.color = Color::off, .glyphs = Glyphs::ascii});
  for (const std::string& line : lines) {
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7F; })) << line;
  }
}

TEST(LiveLines, ColorOnlyAddsSequences) {
  const TerminalSize size{.columns = 80, .rows = 24};
  const auto plain = live_lines(busy_study(2), some_state(), size, kPlain);
  auto colored = live_lines(busy_study(2), some_state(), size, {.color = Color::on, .glyphs = Glyphs::unicode});
  ASSERT_EQ(plain.size(), colored.size());
  EXPECT_NE(plain, colored);
  for (std::string& line : colored) {
    for (std::size_t at = line.find('\x1b'); at != std::string::npos; at = line.find('\x1b')) {
      line.erase(at, line.find('m', at) - at + 1);
    }
  }
  EXPECT_EQ(plain, colored);
}

}  // namespace
}  // namespace bapi

#include "bapi/cli/live_view.h"

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
          .recent = std::vector<std::string>(8, std::string(300, 'x'))};
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
  EXPECT_TRUE(contains(lines, "25.0 s left"));
  EXPECT_TRUE(contains(lines, "accuracy 0.301  trial 1, epoch 3"));
  EXPECT_TRUE(contains(lines, "3/9"));
  EXPECT_TRUE(contains(lines, "▁▅█"));
}

TEST(LiveLines, SayHowManyTrialsAreNotShown) {
  const auto lines = live_lines(busy_study(100), some_state(), {.columns = 80, .rows = 24}, kPlain);
  EXPECT_TRUE(contains(lines, "more"));
  EXPECT_TRUE(contains(lines, "xxx")) << "decisions keep some room";
}

TEST(LiveLines, AsciiStyleHasNoOtherBytes) {
  const auto lines = live_lines(
      busy_study(3), some_state(), {.columns = 60, .rows = 24}, {.color = Color::off, .glyphs = Glyphs::ascii});
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

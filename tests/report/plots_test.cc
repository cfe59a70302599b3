#include "bapi/report/plots.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>

#include "bapi/base/rng.h"
#include "bapi/report/summary.h"
#include "tests/report/sample_study.h"

namespace bapi {
namespace plots_test {

// Tags open and close in order, one root, quotes closed, ampersands escaped: enough of XML for what is written here.
testing::AssertionResult well_formed_xml(const std::string& text) {
  std::vector<std::string> open;
  int roots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&') {
      const std::string entity = text.substr(at, text.find(';', at) - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
        return testing::AssertionFailure() << "bare ampersand at " << at;
      }
    }
    if (text[at] != '<') continue;
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return testing::AssertionFailure() << "tag without end at " << at;
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0 || tag.find('<') != std::string::npos) {
      return testing::AssertionFailure() << "bad tag <" << tag << ">";
    }
    const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" /", 1) - (tag[0] == '/'));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return testing::AssertionFailure() << "unexpected </" << name << ">";
      open.pop_back();
    } else if (tag.back() != '/') {
      if (open.empty()) ++roots;
      open.push_back(name);
    }
    at = end;
  }
  if (!open.empty() || roots != 1) return testing::AssertionFailure() << open.size() << " open, " << roots << " roots";
  return testing::AssertionSuccess();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

struct Case {
  StudySpec spec;
  SampleLog log;
};

std::vector<std::string> all_plots(const Case& c) {
  const History history = replay(c.spec, c.log.events());
  return {plot_curves(history), plot_incumbent(history, c.log.events()), plot_budget(history, c.log.events())};
}

Case many_trials(int trials, const std::function<double(int, Epoch)>& value, Goal goal) {
  Case c{.spec = sample_spec(goal), .log = {}};
  for (int i = 0; i < trials; ++i) {
    const TrialId id{i};
    const Epoch until = 1 + i % 9;
    c.log.add(TrialStarted{
        .trial = id, .config = sample_config(0.1, 32), .until = until, .why = {.rule = Rule::uniform_draw}});
    c.log.add(Overhead{.trial = id, .kind = OverheadKind::start_up, .epoch = 1, .cost = 0.05});
    for (Epoch t = 1; t <= until; ++t) c.log.add(measured(i, t, value(i, t), 0.02));
    c.log.add(SegmentDone{.trial = id});
  }
  return c;
}

TEST(Plots, AreWellFormedWithoutDataWithOneTrialAndWithFiveHundred) {
  const auto value = [](int i, Epoch t) { return 1.0 - std::exp(-0.3 * t) + 0.001 * i; };
  for (const int trials : {0, 1, 500}) {
    for (const std::string& svg : all_plots(many_trials(trials, value, Goal::maximize))) {
      EXPECT_TRUE(well_formed_xml(svg)) << trials;
      EXPECT_LT(svg.size(), 1000000u);
    }
  }
}

TEST(Plots, SurviveConstantHugeAndDivergedValues) {
  const std::vector<std::function<double(int, Epoch)>> values = {
      [](int, Epoch) { return 0.0; },
      [](int, Epoch) { return 1e300; },
      [](int i, Epoch t) { return i == 3 ? 1e30 * t : 1.0 / t; },
      [](int i, Epoch) { return i % 2 == 0 ? -1e308 : 1e308; },
  };
  for (const auto& value : values) {
    for (const Goal goal : {Goal::maximize, Goal::minimize}) {
      for (const std::string& svg : all_plots(many_trials(7, value, goal))) {
        EXPECT_TRUE(well_formed_xml(svg));
        EXPECT_EQ(svg.find("nan"), std::string::npos);
      }
    }
  }
}

TEST(Plots, EscapeTheNamesOfStudyAndMetric) {
  Case c{.spec = sample_spec(), .log = sample_log()};
  c.spec.name = "<&\"mlp'>";
  c.spec.metric.name = "top<5>&";
  c.spec.budget.unit = "a<b";
  for (const std::string& svg : all_plots(c)) EXPECT_TRUE(well_formed_xml(svg));
}

TEST(PlotCurves, DrawsOneLinePerTrialThatReported) {
  const SampleLog log = sample_log();
  EXPECT_EQ(count(plot_curves(replay(sample_spec(), log.events())), "<polyline"), 2u);
}

TEST(PlotCurves, SaysHowManyValuesAreOutside) {
  const auto value = [](int i, Epoch t) { return i == 3 ? -1e6 * t : 0.1 * t; };
  const Case c = many_trials(9, value, Goal::maximize);
  // Trial 3 trains four epochs, all of them far below the others.
  EXPECT_NE(plot_curves(replay(c.spec, c.log.events())).find("4 values outside the frame"), std::string::npos);
}

TEST(PlotBudget, StacksOneBarPerTrialAndKind) {
  const SampleLog log = sample_log();
  const std::string svg = plot_budget(replay(sample_spec(), log.events()), log.events());
  // Background and five swatches are rectangles as well.
  EXPECT_EQ(count(svg, "<rect"), 1u + 5u + 6u);
}

TEST(PlotBudget, GivesEveryKindAColorOfItsOwn) {
  SampleLog log;
  log.add(TrialStarted{.trial = TrialId{0}, .config = sample_config(0.1, 32), .until = 9})
      .add(measured(0, 1, 0.5, 1.0));
  constexpr auto& kinds = names<OverheadKind>.entries;
  for (const auto& kind : kinds) log.add(Overhead{.trial = TrialId{0}, .kind = kind.value, .epoch = 2, .cost = 1.0});
  const std::string svg = plot_budget(replay(sample_spec(), log.events()), log.events());
  std::set<std::string> colors;
  const std::regex bar("<rect[^>]* fill=\"(#[^\"]*)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at) colors.insert((*at)[1]);
  EXPECT_EQ(std::ssize(colors), 2 + std::ssize(kinds)) << "paper, epochs and every kind of overhead";
}

}  // namespace plots_test
}  // namespace bapi

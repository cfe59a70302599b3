#include "bapi/report/space_plots.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bapi/report/plots.h"

namespace bapi {
namespace {

using namespace std::string_literals;

StudySpec spec() {
  StudySpec spec;
  spec.name = "mlp";
  spec.metric = {.name = "accuracy"};
  spec.budget = {.limit = 1000.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 3};
  spec.space = Space({{.name = "lr", .domain = RealRange{.low = 1e-4, .high = 1.0, .scale = Scale::log}},
                      {.name = "units", .domain = IntRange{.low = 16, .high = 256}},
                      {.name = "optimizer", .domain = Choice{.options = {"sgd"s, "a<b"s}}},
                      {.name = "momentum", .domain = RealRange{}, .when = {{.param = "optimizer", .values = {"sgd"s}}}},
                      {.name = "depth", .domain = Constant{std::int64_t{3}}}});
  return spec;
}

// Trials whose result depends on `units` alone.
History history_of(int trials) {
  History history(spec());
  Rng rng(3);
  for (int i = 0; i < trials; ++i) {
    const Config config = history.spec().space.sample(rng);
    history.apply(TrialStarted{.trial = TrialId{i}, .config = config, .until = 1});
    const double value = static_cast<double>(std::get<std::int64_t>(config.values[1]));
    history.apply(Measured{TrialId{i}, {1, value, 1.0}});
  }
  return history;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Importance, FindsTheParameterThatResultsDependOn) {
  const std::vector<Importance> found = importance_of(history_of(60));
  ASSERT_EQ(found.size(), 4u);  // the constant is none
  EXPECT_EQ(found.front().param, "units");
  EXPECT_GT(found.front().share, 0.6);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i].share, 0.2) << found[i].param;
}

// As a study leaves it: most trials are near the best one, in clusters, and the best value of one parameter is inside.
TEST(Importance, FindsAPeakAmongTrialsThatGatherThere) {
  History history(spec());
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    Vector unit = history.spec().space.to_unit(history.spec().space.sample(rng));
    if (i % 2) unit[0] = 0.5 + 0.04 * rng.normal();
    history.apply(TrialStarted{.trial = TrialId{i}, .config = history.spec().space.from_unit(unit), .until = 1});
    history.apply(Measured{TrialId{i}, {1, -std::pow(unit[0] - 0.5, 2), 1.0}});
  }
  const std::vector<Importance> found = importance_of(history);
  EXPECT_EQ(found.front().param, "lr");
  EXPECT_GT(found.front().share, 0.6);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i].share, 0.2) << found[i].param;
}

TEST(Importance, IsNotGuessedFromAFewResults) {
  EXPECT_TRUE(importance_of(history_of(kFewestForImportance - 1)).empty());
  EXPECT_FALSE(importance_of(history_of(kFewestForImportance)).empty());
}

TEST(Importance, EqualResultsHaveNone) {
  History history(spec());
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    history.apply(TrialStarted{.trial = TrialId{i}, .config = history.spec().space.sample(rng), .until = 1});
    history.apply(Measured{TrialId{i}, {1, 0.5, 1.0}});
  }
  for (const Importance& share : importance_of(history)) EXPECT_EQ(share.share, 0.0) << share.param;
}

TEST(SpacePlots, EveryPictureIsDrawnWithoutWithOneAndWithManyTrials) {
  for (const int trials : {0, 1, 100}) {
    const History history = history_of(trials);
    for (const std::string& name : picture_names(history)) {
      const std::string svg = picture(name, history, {});
      EXPECT_EQ(svg.find("<svg "), 0u) << name;
      EXPECT_EQ(occurrences(svg, "<svg "), occurrences(svg, "</svg>")) << name;
      EXPECT_EQ(svg.find("nan"), std::string::npos) << name << trials;
      EXPECT_EQ(svg.find("a<b"), std::string::npos) << name;
    }
  }
}

TEST(SpacePlots, SlicesHaveADiagramForEachParameterThatVaries) {
  const std::string svg = plot_slices(history_of(10));
  EXPECT_EQ(occurrences(svg, "<svg x=\"0\""), 2u);
  EXPECT_EQ(occurrences(svg, "<svg x=\"400\""), 2u);
  EXPECT_NE(svg.find(">optimizer<"), std::string::npos);
  EXPECT_NE(svg.find(">a&lt;b<"), std::string::npos);
}

// Where the discs of a picture stand, from the left.
std::vector<double> disc_places(const std::string& svg) {
  std::vector<double> places;
  for (std::size_t at = svg.find("cx=\""); at != std::string::npos; at = svg.find("cx=\"", at + 1)) {
    places.push_back(std::stod(svg.substr(at + 4)));
  }
  return places;
}

TEST(SpacePlots, SlicesHaveTheScaleOfTheirParameter) {
  StudySpec momentum = spec();
  momentum.space =
      Space({{.name = "momentum", .domain = RealRange{.low = 0.0, .high = 0.999, .scale = Scale::log_complement}}});
  History history(momentum);
  int i = 0;
  for (const double value : {0.0, 0.9, 0.99, 0.999}) {  // a decade apart each
    history.apply(TrialStarted{.trial = TrialId{i}, .config = Config{{value}}, .until = 1});
    history.apply(Measured{TrialId{i++}, {1, 0.5, 1.0}});
  }
  const std::string svg = plot_slices(history);
  const std::vector<double> places = disc_places(svg);
  ASSERT_EQ(places.size(), 4u);
  EXPECT_NEAR(places[2] - places[1], places[1] - places[0], 0.2);
  EXPECT_NEAR(places[3] - places[2], places[1] - places[0], 0.2);
  for (const char* label : {">0<", ">0.9<", ">0.99<", ">0.999<"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
}

TEST(SpacePlots, ResultsBeyondTheFrameAreDrawnAtItsEdge) {
  History history = history_of(30);
  const Config config = history.trials().front().config;
  const std::string before = plot_slices(history);
  history.apply(TrialStarted{.trial = TrialId{30}, .config = config, .until = 1});
  history.apply(Measured{TrialId{30}, {1, -1e9, 1.0}});
  const std::string after = plot_slices(history);
  EXPECT_GE(occurrences(after, "<circle"), occurrences(before, "<circle") + 3);
  EXPECT_NE(after.find("beyond the frame, drawn at its edge"), std::string::npos);
  EXPECT_NE(plot_cost(history).find("beyond the frame, drawn at its edge"), std::string::npos);
  for (std::size_t at = after.find("cy=\""); at != std::string::npos; at = after.find("cy=\"", at + 1)) {
    EXPECT_LT(std::stod(after.substr(at + 4)), 1e4);
  }
}

TEST(SpacePlots, LossesThatSpanDecadesAreToldApart) {
  StudySpec losses = spec();
  losses.metric = {.name = "loss", .goal = Goal::minimize};
  History history(losses);
  Rng rng(3);
  for (int i = 0; i < 8; ++i) {
    history.apply(TrialStarted{.trial = TrialId{i}, .config = losses.space.sample(rng), .until = 1});
    history.apply(Measured{TrialId{i}, {1, std::pow(10.0, i), 1.0}});
  }
  for (const std::string& svg : {plot_slices(history), plot_cost(history)}) {
    EXPECT_NE(svg.find(">100<"), std::string::npos);
    EXPECT_NE(svg.find(">1e+06<"), std::string::npos);
    EXPECT_EQ(svg.find("beyond the frame"), std::string::npos);
  }
}

TEST(SpacePlots, ParallelCoordinatesHaveALineForEachTrial) {
  const std::string svg = plot_parallel(history_of(30));
  EXPECT_EQ(occurrences(svg, "<polyline") - occurrences(svg, "stroke-dasharray"), 30u);
}

TEST(SpacePlots, ALineIsDashedPastAParameterThatDoesNotApply) {
  const History history = history_of(30);
  std::size_t without_momentum = 0;
  for (const Trial& trial : history.trials()) without_momentum += trial.config.values[3] == Value{};
  ASSERT_GT(without_momentum, 0u);
  EXPECT_EQ(occurrences(plot_parallel(history), "stroke-dasharray"), without_momentum);
}

TEST(SpacePlots, ParallelCoordinatesNameEndsAndOptionsAsTheyAre) {
  StudySpec fractions = spec();
  fractions.space = Space({{.name = "dropout", .domain = RealRange{.low = 0.0, .high = 0.5}},
                           {.name = "decay", .domain = RealRange{.low = 0.75, .high = 1.5}},
                           {.name = "units", .domain = IntRange{.low = 16, .high = 256}},
                           {.name = "optimizer", .domain = Choice{.options = {"sgd"s, "adam"s, "rmsprop"s}}}});
  History history(fractions);
  Rng rng(3);
  history.apply(TrialStarted{.trial = TrialId{0}, .config = fractions.space.sample(rng), .until = 1});
  history.apply(Measured{TrialId{0}, {1, 0.5, 1.0}});
  const std::string svg = plot_parallel(history);
  for (const char* end : {"0.5", "0.75", "1.5", "16", "256", "sgd", "adam", "rmsprop"}) {
    EXPECT_NE(svg.find(">"s + end + "<"), std::string::npos) << end;
  }
}

}  // namespace
}  // namespace bapi

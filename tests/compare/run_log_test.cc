#include "bapi/compare/run_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "small_comparison.h"

namespace bapi {
namespace {

using testing::Directory;
using testing::small_comparison;

RunRecord some_record(std::uint64_t seed) {
  return {
      .key = {.table = "rising", .policy = "random", .budget = "2full", .workers = 1, .seed = seed},
      .final = 0.1 + 0.2,
      .regret = 1e-17,
      .normalised_regret = 1.0 / 3.0,
      .spent = 12.5,
      .decisions = 7,
      .overhead_seconds = 0.25,
      .decision_times = {{.trials = 0.0, .decisions = 1, .seconds = 0.1},
                         {.trials = 3.5, .decisions = 6, .seconds = 0.15}},
      .trajectory = {{0.1, 1.2}, {0.7, 1.0 / 3.0}},
      .calibration = {.value = {.count = 3, .within_50 = 1.0 / 3.0, .within_80 = 1.0, .within_95 = 1.0}, .cost = {}}};
}

std::string message_of(const Directory& directory, const Comparison& comparison) {
  try {
    RunLog(directory.path(), comparison);
    return "";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(RunLog, GivesBackWhatWasAppendedToTheLastBit) {
  const Directory directory;
  { RunLog(directory.path(), small_comparison()).append(some_record(1)); }
  const RunLog log(directory.path(), small_comparison());
  ASSERT_EQ(log.finished().size(), 1u);
  EXPECT_EQ(log.finished().begin()->second, some_record(1));
}

TEST(RunLog, KeepsARunWithoutAResult) {
  const Directory directory;
  RunRecord nothing = some_record(1);
  nothing.final = std::nullopt;
  nothing.trajectory.clear();
  { RunLog(directory.path(), small_comparison()).append(nothing); }
  EXPECT_EQ(RunLog(directory.path(), small_comparison()).finished().at(nothing.key), nothing);
}

TEST(RunLog, ChangesTheFingerprintOfATableWhoseRunsWereBrokenOff) {
  CurveTable table = small_comparison().tables.front();
  const std::string before = fingerprint(table);
  table.runs.front().complete = false;
  EXPECT_NE(fingerprint(table), before);
}

TEST(RunLog, CutAnywhereLosesAtMostTheLineThatWasTorn) {
  const Directory directory;
  const std::filesystem::path file = directory.path() / "runs.log";
  std::vector<std::size_t> ends;
  {
    RunLog log(directory.path(), small_comparison());
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      log.append(some_record(seed));
      ends.push_back(std::filesystem::file_size(file));
    }
  }
  const std::string whole = contents_of(file);
  // Every byte around the end of a record, a sample of the others.
  const auto near_an_end = [&](std::size_t cut) {
    return std::any_of(ends.begin(), ends.end(), [&](std::size_t e) { return cut + 2 >= e && cut <= e + 2; });
  };
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    if (cut % 29 != 0 && !near_an_end(cut)) continue;
    replace_file(file, whole.substr(0, cut));
    const auto kept =
        static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(), [&](auto e) { return e <= cut; }));
    {
      RunLog log(directory.path(), small_comparison());
      ASSERT_EQ(log.finished().size(), kept) << "cut at " << cut;
      log.append(some_record(9));
    }
    // What is appended after a torn line is whole.
    ASSERT_EQ(RunLog(directory.path(), small_comparison()).finished().size(), kept + 1) << "cut at " << cut;
  }
}

TEST(RunLog, RefusesALineThatIsNotItsOwn) {
  const Directory directory;
  { RunLog(directory.path(), small_comparison()).append(some_record(0)); }
  const std::filesystem::path file = directory.path() / "runs.log";
  replace_file(file, "hello\n" + contents_of(file));
  EXPECT_NE(message_of(directory, small_comparison()).find("runs.log:1"), std::string::npos);
}

TEST(RunLog, MayGrowButNotChangeItsMeaning) {
  const Directory directory;
  { const RunLog log(directory.path(), small_comparison()); }

  Comparison more = small_comparison();
  more.seeds = 5;
  more.workers = {1, 2};
  more.budgets.push_back(parse_table_budget("9full"));
  more.policies.push_back({"new", {.name = "top-k"}});
  more.tables.push_back(testing::small_table(CurveShape::sigmoid, "sigmoid"));
  EXPECT_EQ(message_of(directory, more), "");
  EXPECT_EQ(message_of(directory, small_comparison()), "");

  Comparison other_policy = small_comparison();
  other_policy.policies[0].spec.name = "asha";
  EXPECT_NE(message_of(directory, other_policy).find("there random is random, in this comparison it is asha"),
            std::string::npos);
  Comparison other_table = small_comparison();
  other_table.tables[1].runs[0].cost[0] += 1e-9;
  EXPECT_NE(message_of(directory, other_table).find("its runs on crossing"), std::string::npos);
  Comparison charged = small_comparison();
  charged.overhead = OverheadCharge::measured;
  EXPECT_NE(message_of(directory, charged).find("overhead none"), std::string::npos);
  Comparison from_scratch = small_comparison();
  from_scratch.checkpoint = Checkpoint::none;
  EXPECT_NE(message_of(directory, from_scratch).find("checkpoint kept"), std::string::npos);
}

TEST(RunLog, RefusesToMixPoliciesChargedDifferently) {
  const Directory directory;
  Comparison comparison = small_comparison();
  comparison.overhead = OverheadCharge::modelled;
  for (const ComparedPolicy& policy : comparison.policies) comparison.models[policy.label] = {.fixed = 0.5};
  EXPECT_EQ(message_of(directory, comparison), "");
  comparison.models["asha"].fixed = 0.25;
  EXPECT_NE(message_of(directory, comparison).find("there asha is asha, charged 0.5 s"), std::string::npos);
}

TEST(OverheadModels, ComeFromTheRunsOfTheSamePolicyUnderAnyLabel) {
  const Directory directory;
  { RunLog(directory.path(), small_comparison()).append(some_record(0)); }
  const std::vector<ComparedPolicy> same{{"chance", {.name = "random"}}};
  EXPECT_EQ(overhead_models(directory.path(), same).at("chance"), fit_overhead(some_record(0).decision_times));
  for (const PolicySpec& other : {PolicySpec{.name = "hyperband"}, PolicySpec{.name = "bapi"}}) {
    const std::vector<ComparedPolicy> without_runs{{"random", other}};
    EXPECT_THROW(overhead_models(directory.path(), without_runs), InvalidInput) << other.name;
  }
  EXPECT_THROW(overhead_models(directory.path() / "nowhere", same), InvalidInput);
}

TEST(RunLog, IsHeldByOneComparisonAtATime) {
  const Directory directory;
  const RunLog log(directory.path(), small_comparison());
  EXPECT_THROW(RunLog(directory.path(), small_comparison()), StoreError);
}

TEST(Fingerprint, ChangesWithEverythingASimulationReads) {
  const CurveTable table = testing::small_table(CurveShape::power_law, "t");
  const auto changed = [&](auto change) {
    CurveTable other = table;
    change(other);
    return fingerprint(other) != fingerprint(table);
  };
  EXPECT_FALSE(changed([](CurveTable&) {}));
  EXPECT_TRUE(changed([](CurveTable& t) { t.runs[3].value[2] += 1e-12; }));
  EXPECT_TRUE(changed([](CurveTable& t) { std::swap(t.runs[3].value[2], t.runs[3].value[3]); }));
  EXPECT_TRUE(changed(
      [](CurveTable& t) { t.metric.goal = t.metric.goal == Goal::maximize ? Goal::minimize : Goal::maximize; }));
  EXPECT_TRUE(changed([](CurveTable& t) { std::swap(t.configs[0], t.configs[1]); }));
  EXPECT_TRUE(changed([](CurveTable& t) { t.max_epoch += 1; }));
}

}  // namespace
}  // namespace bapi

#pragma once

#include <filesystem>
#include <string>

#include "bapi/compare/run_comparison.h"
#include "bapi/tables/synthetic.h"

namespace bapi::testing {

inline CurveTable small_table(CurveShape shape, const std::string& name) {
  CurveTable table = synthetic_table({.shape = shape, .rows = 30, .dimensions = 2, .epochs = 9});
  table.name = name;
  return table;
}

// Two tables, three policies that cost nothing to ask, two budgets, two seeds.
inline Comparison small_comparison() {
  return {.tables = {small_table(CurveShape::power_law, "rising"), small_table(CurveShape::crossing, "crossing")},
          .policies = {{"random", {.name = "random"}}, {"halving", {.name = "hyperband"}}, {"asha", {.name = "asha"}}},
          .seeds = 2,
          .budgets = {parse_table_budget("2full"), parse_table_budget("5full")}};
}

// A directory of its own for each test, empty at first and gone at the end.
class Directory {
 public:
  Directory()
      : path_(std::filesystem::temp_directory_path() /
              ("bapi-compare-" + std::to_string(getpid()) + "-" + std::to_string(count_++))) {
    std::filesystem::remove_all(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

// Every run of the comparison, made in a directory that is gone afterwards.
inline std::vector<RunRecord> all_runs(const Comparison& comparison) {
  const Directory directory;
  RunLog log(directory.path(), comparison);
  run_comparison(comparison, log, {});
  return records_of(comparison, log);
}

// Times that are measured differ from run to run; all else must not.
inline std::vector<RunRecord> without_times(std::vector<RunRecord> records) {
  for (RunRecord& record : records) {
    record.overhead_seconds = 0.0;
    record.decision_times.clear();
  }
  return records;
}

}  // namespace bapi::testing

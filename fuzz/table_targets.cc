#include <cmath>
#include <string>

#include "bapi/base/error.h"
#include "bapi/compare/logged_runs.h"
#include "bapi/tables/csv_table.h"
#include "bapi/tables/lct1.h"
#include "bapi/tables/network_surrogate.h"
#include "bapi/tables/warm_start.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
namespace {

// What every command does with a table first.
void use(const CurveTable& table) {
  if (table.has_result()) table.median_final();
  check(std::isfinite(table.mean_full_cost()), "the cost of a full run is not finite");
  study_of(table, 1.0, {}, 0, 1);
}

template <typename T>
void put(std::string& bytes, std::initializer_list<T> values) {
  for (const T value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// Two parameters, three configurations of three epochs, with time.
std::string small_lct1() {
  std::string bytes = "LCT1";
  put<std::uint32_t>(bytes, {1, 3, 2, 0, 3, 1, 1});
  put<double>(bytes, {0.01, 0.9, 0.1, 0.8, 0.02, 0.9});
  put<std::uint32_t>(bytes, {3, 2, 3});
  put<float>(bytes, {0.5F, 0.25F, 0.125F, 0.75F, 0.5F, 0.5F, 1.0F, 1.0F, 1.0F});
  put<float>(bytes, {2.0F, 5.0F, 6.0F, 1.0F, 1.5F, 1.5F, 1.0F, 2.0F, 3.0F});
  return bytes;
}

constexpr std::string_view kSmallJson =
    R"({"hp": [{"name": "a", "scale": "log"}, {"name": "b"}], "metrics": [{"name": "m"}]})";

}  // namespace

void read_csv_table(std::string_view input) { use(parse_csv_table(input, "table.csv")); }

// The curves of a study that another one starts from.
void read_warm_start(std::string_view input) {
  StudySpec study;
  study.name = "small";
  study.epochs = {.min = 1, .max = 9};
  study.space = Space({Param{.name = "lr", .domain = RealRange{.low = 1e-4, .high = 1.0, .scale = Scale::log}},
                       Param{.name = "units", .domain = IntRange{.low = 1, .high = 64}},
                       Param{.name = "opt", .domain = Choice{{std::string("adam"), std::string("sgd")}}}});
  const EarlierStudy earlier = earlier_study(parse_csv_table(input, "table.csv"), study);
  check(earlier.trials.size() <= 100, "an earlier study tells too much");
}

void read_lct1_data(std::string_view input) { use(parse_lct1(kSmallJson, input, "table.bin")); }

void read_lct1_json(std::string_view input) {
  static const std::string data = small_lct1();
  use(parse_lct1(input, data, "table.bin"));
}

// The weights are the numbers 0, 1/16, 2/16, ...: any shape and offset finds some, and few are the same.
void read_surrogate(std::string_view input) {
  static const std::string weights = [] {
    std::string bytes;
    for (int i = 0; i < 64; ++i) put<float>(bytes, {static_cast<float>(i) / 16.0F});
    return bytes;
  }();
  use(parse_network_surrogate(input, weights, "surrogate.json", {.task = "t", .rows = 2}));
}

void read_comparison_log(std::string_view input) {
  const LoggedRuns logged = parse_runs(input, "runs.log");
  check(logged.bytes <= input.size(), "more was read than there is");
  for (const auto& [key, run] : logged.finished) {
    if (!run.decision_times.empty()) to_text(fit_overhead(run.decision_times));
  }
}

}  // namespace bapi::fuzz

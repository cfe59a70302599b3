#include "report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bapi::bench {
namespace {

double counter(const benchmark::BenchmarkReporter::Run& run, const char* name) {
  const auto it = run.counters.find(name);
  return it == run.counters.end() ? 0.0 : it->second.value;
}

// Takes `name VALUE` out of the arguments and returns VALUE; empty if it is not there.
std::string take_option(const char* name, int& argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) != 0) continue;
    std::string value = argv[i + 1];
    std::copy(argv + i + 2, argv + argc, argv + i);
    argc -= 2;
    return value;
  }
  return {};
}

void print_head() {
  fmt::print("{:<34} {:>5} {:>10} {:>10} {:>7} {:>9}\n", "", "n", "measured", "floor", "ratio", "target");
}

void print_row(const Figure& figure) {
  const std::string target = figure.target > 0.0 ? fmt::format("{:.4g}", figure.target) : "";
  fmt::print("{:<34} {:>5} {:>7.3f} {:<2} {:>7.3f} {:<2} {:>7.2f} {:>9}\n",
             figure.name,
             figure.n,
             figure.value,
             figure.unit,
             figure.floor,
             figure.unit,
             figure.value / figure.floor,
             target);
  std::fflush(stdout);  // minutes lie between the first row and the last
}

// A call cannot be faster than its floor, up to noise: one that is has not done the work.
constexpr double kLeastRatio = 0.5;

bool is_plausible(const Figure& figure) { return figure.value >= kLeastRatio * figure.floor; }

void write_json(const std::vector<Figure>& figures, const std::string& path) {
  nlohmann::json list = nlohmann::json::array();
  for (const Figure& figure : figures) {
    list.push_back({{"name", figure.name},
                    {"n", figure.n},
                    {"value", figure.value},
                    {"unit", figure.unit},
                    {"floor", figure.floor},
                    {"ratio", figure.value / figure.floor}});
  }
  std::ofstream file(path);
  file << list.dump(2) << "\n";
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

bool FigureReporter::ReportContext(const Context&) {
  print_head();
  return true;
}

void FigureReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.error_occurred) complain(run.run_name.function_name, run.error_message);
    if (run.run_type != Run::RT_Aggregate || run.aggregate_name != "min") continue;
    const bool microseconds = counter(run, "microseconds") > 0.0;
    const double scale = microseconds ? 1e6 : 1e3;
    // The time is already in the run's unit, milliseconds throughout.
    const double seconds = run.GetAdjustedCPUTime() * 1e-3;
    figures_.push_back({.name = run.run_name.function_name,
                        .n = static_cast<int>(counter(run, "n")),
                        .value = seconds * scale,
                        .unit = microseconds ? "us" : "ms",
                        .floor = counter(run, "floor_s") * scale,
                        .target = counter(run, "target_s") * scale});
    print_row(figures_.back());
    if (!is_plausible(figures_.back())) {
      complain(figures_.back().name, "faster than its floor; the timed call did not do the work");
    }
  }
}

void FigureReporter::complain(const std::string& benchmark, const std::string& mistake) {
  fmt::print(stderr, "{}: {}\n", benchmark, mistake);
  failed_ = true;
}

int run_benchmarks(int argc, char** argv, void (*register_all)()) {
  const std::string json = take_option("--json", argc, argv);
  take_option("--dir", argc, argv);  // every benchmark is given a scratch directory; these need none
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  register_all();
  FigureReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (!json.empty()) write_json(reporter.figures(), json);
  return reporter.failed() ? 1 : 0;
}

}  // namespace bapi::bench

#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace bapi::bench {

// One measured figure beside the least time the machine needs for the same arithmetic, measured in the same process.
struct Figure {
  std::string name;
  int n = 0;
  double value = 0.0;
  std::string unit;
  double floor = 0.0;
  double target = 0.0;  // 0 if there is none
};

// Collects and prints figures, each when it is measured, from benchmarks whose state carries the counters "n",
// "floor_s" and "target_s". Times are processor time of the thread, the least of several repetitions, as the floor is:
// other work on the machine disturbs little. A benchmark that skips itself with an error, or that is faster than half
// its floor, has not done the work that it times: it is named on standard error, and the run has failed.
class FigureReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  const std::vector<Figure>& figures() const { return figures_; }
  bool failed() const { return failed_; }

 private:
  void complain(const std::string& benchmark, const std::string& mistake);

  std::vector<Figure> figures_;
  bool failed_ = false;
};

// The main function of a benchmark: runs what `register_all` registers, prints the figures and, with `--json FILE`,
// writes them there. Returns the exit code: 1 if a benchmark failed.
int run_benchmarks(int argc, char** argv, void (*register_all)());

}  // namespace bapi::bench

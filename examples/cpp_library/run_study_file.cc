// Runs a study file to its end, as `bapi run` does: training programs in processes of their own, everything in
// NAME.bapi/. Run it again after a crash, or with another budget, to continue.

#include <bapi/base/error.h>
#include <bapi/studies/run_study.h>
#include <bapi/studies/study_file.h>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) try {
  if (argc != 2) throw bapi::InvalidInput("usage: run_study_file STUDY.yaml");
  const bapi::StudySpec spec = bapi::read_study_file(argv[1]);
  const bapi::StudyDir dir(spec.name + ".bapi");
  const bapi::StudySummary summary = bapi::run_study(
      spec, dir, {.home = std::filesystem::absolute(argv[1]).parent_path(), .tell = [](const std::string& line) {
                    std::printf("%s\n", line.c_str());
                  }});

  const bapi::Budget budget = summary.study.history.budget();
  std::printf("%s: %g of %g %s\n", summary.reason.c_str(), budget.spent(), budget.total(), spec.budget.unit.c_str());
  if (const auto best = bapi::best(summary.study.history)) {
    std::printf("best: trial %d, %s %g\n", static_cast<int>(best->trial), spec.metric.name.c_str(), best->value);
  }
} catch (const bapi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

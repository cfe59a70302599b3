// Runs a study file to its end, as `bapi run` does: training programs in processes of their own, everything in
// NAME.bapi/. Run it again after a crash and it goes on.

#include <bapi/base/error.h>
#include <bapi/control/tune.h>
#include <bapi/policy/registry.h>
#include <bapi/process/process_evaluator.h>
#include <bapi/store/sqlite_store.h>
#include <bapi/store/study_lock.h>
#include <bapi/studies/study_file.h>

#include <cstdio>

namespace {

bapi::SqliteStore open_or_create(const bapi::StudyDir& dir, const bapi::StudySpec& spec) {
  if (!std::filesystem::exists(dir.database())) return bapi::SqliteStore::create(dir.database(), spec);
  return bapi::SqliteStore::open(dir.database(), bapi::Access::read_write);
}

void run(const std::string& file) {
  const bapi::StudySpec spec = bapi::read_study_file(file);
  const bapi::StudyDir dir(spec.name + ".bapi");
  dir.create();
  const bapi::StudyLock lock = bapi::StudyLock::take(dir.root());
  bapi::SqliteStore store = open_or_create(dir, spec);

  const bapi::SystemClock clock;
  const auto policy = bapi::make_policy(spec.policy);
  bapi::Session session(store, *policy, clock);
  bapi::ProcessEvaluator evaluator(spec, dir, clock);
  if (!session.history().trials().empty()) session.record(evaluator.recover(session.history()));

  const bapi::TuneSummary summary = bapi::tune(session, evaluator, clock, {});
  const bapi::History& history = session.history();
  std::printf("%s: %zu trials, %g of %g %s\n",
              summary.reason.c_str(),
              history.trials().size(),
              history.budget().spent(),
              history.budget().total(),
              spec.budget.unit.c_str());
  if (const auto best = history.incumbent()) {
    const double value = history.in_user_units(history.trial(*best).curve.best());
    std::printf(
        "best: trial %lld, %s %g\n", static_cast<long long>(bapi::index(*best)), spec.metric.name.c_str(), value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_study_file STUDY.yaml\n");
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const bapi::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

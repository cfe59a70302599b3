// bench_ask_tell TRIALS [FILE.db]: seconds per ask and per report, asking and telling from C++, with the log in memory
// or in a file. The policy is the cheapest, so that what is measured is everything else.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bapi/control/ask_tell.h"
#include "bapi/policy/registry.h"
#include "bapi/store/memory_store.h"
#include "bapi/store/sqlite_store.h"

namespace bapi {
namespace {

constexpr Epoch kEpochs = 10;

StudySpec spec_of() {
  StudySpec spec;
  spec.name = "bench";
  spec.budget = {.limit = 1e9, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = kEpochs};
  spec.policy = {.name = "random"};
  spec.space = Space({{.name = "lr", .domain = RealRange{1e-6, 1.0, Scale::log}},
                      {.name = "units", .domain = IntRange{16, 256}},
                      {.name = "opt", .domain = Choice{{std::string("sgd"), std::string("adam")}}}});
  return spec;
}

void run(Store& store, int trials) {
  const auto policy = make_policy(store.spec().policy);
  const SystemClock clock;
  Session session(store, *policy, clock);
  AskTell loop(session, clock);
  double asking = 0.0;
  double reporting = 0.0;
  int reports = 0;
  for (int i = 0; i < trials; ++i) {
    const double begin = clock.now();
    const Segment segment = loop.ask().value();
    const double asked = clock.now();
    // The last report decides, and is no report alone.
    for (Epoch epoch = 1; epoch < kEpochs; ++epoch) loop.report(segment.trial, {.epoch = epoch, .value = 0.5});
    const double reported = clock.now();
    loop.complete(segment.trial);
    asking += asked - begin;
    reporting += reported - asked;
    reports += kEpochs - 1;
  }
  std::printf("{\"ask\": %.9f, \"report\": %.9f}\n", asking / trials, reporting / reports);
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: bench_ask_tell TRIALS [FILE.db]\n");
    return 2;
  }
  if (argc == 2) {
    bapi::MemoryStore store(bapi::spec_of());
    bapi::run(store, std::atoi(argv[1]));
  } else {
    bapi::SqliteStore store = bapi::SqliteStore::create(argv[2], bapi::spec_of());
    bapi::run(store, std::atoi(argv[1]));
  }
}

#pragma once

#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi::testing_support {

// A small study with every kind of parameter and event. tests/data/study-schema-N.db holds it as schema N wrote it.
inline StudySpec sample_spec() {
  return {.name = "mlp",
          .command = {"python3", "train.py", "--lr", "${lr}"},
          .metric = {.name = "loss", .goal = Goal::minimize},
          .budget = {.limit = 12.0, .unit = "usd", .per_hour = 2.5},
          .deadline = 3600.0,
          .epochs = {.min = 1, .max = 27},
          .workers = 2,
          .seed = 18446744073709551615u,
          .policy = {.name = "hyperband", .options = {{"eta", std::int64_t{3}}}},
          .space = Space({{.name = "lr", .domain = RealRange{.low = 1e-6, .high = 1.0, .scale = Scale::log}},
                          {.name = "units", .domain = IntRange{.low = 16, .high = 256, .scale = Scale::log}},
                          {.name = "optimizer", .domain = Choice{.options = {std::string("sgd"), std::string("adam")}}},
                          {.name = "momentum",
                           .domain = RealRange{.low = 0.1, .high = 0.9},
                           .when = {{.param = "optimizer", .values = {std::string("sgd")}}}},
                          {.name = "depth", .domain = Constant{.value = std::int64_t{3}}}}),
          .checkpoint = Checkpoint::none,
          .grace = 1.5,
          .report_timeout = 60.0,
          .max_failures = 4,
          .env = {{"OMP_NUM_THREADS", "1"}}};
}

inline std::vector<Event> sample_events() {
  const Reason why{.rule = Rule::own_words,
                   .own_words = "bracket 2, rung 0",
                   .notes = {{.name = "eta", .value = 3.0}, {.name = "cut", .value = 0.25}}};
  const Config sgd{{0.015625, std::int64_t{64}, std::string("sgd"), 0.5, std::int64_t{3}}};
  const Config adam{{1e-4, std::int64_t{32}, std::string("adam"), std::monostate{}, std::int64_t{3}}};
  const auto measured = [](int trial, Epoch epoch, double value) {
    return Measured{.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = value, .cost = 0.1}};
  };
  return {TrialStarted{.trial = TrialId{0}, .config = sgd, .until = 1, .expected_cost = 0.1, .why = why},
          Overhead{.trial = TrialId{0}, .kind = OverheadKind::start_up, .epoch = 1, .cost = 0.05},
          measured(0, 1, 0.7),
          SegmentDone{.trial = TrialId{0}},
          TrialStarted{.trial = TrialId{1}, .config = adam, .until = 1, .expected_cost = 0.1, .why = why},
          TrialFailed{.trial = TrialId{1}, .message = "exit code 1: out of memory\n\xff"},
          Overhead{.trial = TrialId{1}, .kind = OverheadKind::failed, .epoch = 1, .cost = 0.2},
          TrialResumed{.trial = TrialId{0}, .until = 3, .expected_cost = 0.2, .why = why},
          Interrupted{.trial = TrialId{0}, .reason = "Ctrl-C"},
          Overhead{.trial = TrialId{0}, .kind = OverheadKind::grace, .epoch = 2, .cost = 0.025},
          Overhead{.trial = TrialId{0}, .kind = OverheadKind::repeat, .epoch = 1, .cost = 0.1},
          measured(0, 2, 1.0 / 3.0),
          ProgramEnded{.trial = TrialId{0}},
          BudgetChanged{.total = 24.0},
          TrialStarted{.trial = TrialId{2}, .config = adam, .until = 1, .expected_cost = 0.1, .why = {}},
          measured(2, 1, 0.25),
          SegmentDone{.trial = TrialId{2}},
          TrialStopped{.trial = TrialId{2}, .why = why},
          StudyFinished{.reason = "the budget is spent"}};
}

}  // namespace bapi::testing_support

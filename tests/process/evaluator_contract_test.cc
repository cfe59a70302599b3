#include "tests/conformance/evaluator_contract.h"

#include <limits>

#include "bapi/tables/table_evaluator.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

class ProcessLab : public EvaluatorKind::Lab {
 public:
  explicit ProcessLab(Meter meter) : evaluator_(spec(meter), StudyDir(scratch_.path() / "contract.bapi"), clock_) {}

  Evaluator& evaluator() override { return evaluator_; }

  Config config(Plan plan) const override {
    return {{Value{plan == Plan::fine ? "fine" : plan == Plan::diverges ? "diverges" : "ends"}}};
  }

 private:
  static StudySpec spec(Meter meter) {
    StudySpec spec = trainer_spec({}, kContractEpochs);
    spec.command = {BAPI_FAKE_TRAINER, "--sleep", "0.01", "--plan", "${plan}", "--cost", "0.5"};
    spec.space =
        Space({Param{.name = "plan", .domain = Choice{.options = {Value{"fine"}, Value{"diverges"}, Value{"ends"}}}}});
    spec.budget.meter = meter;
    spec.workers = 2;
    return spec;
  }

  TempDir scratch_;
  SystemClock clock_;
  ProcessEvaluator evaluator_;
};

class TableLab : public EvaluatorKind::Lab {
 public:
  TableLab() : table_(make_table()), evaluator_(table_, spec(), clock_) {}

  Evaluator& evaluator() override { return evaluator_; }
  Config config(Plan plan) const override { return table_.configs.at(static_cast<std::size_t>(plan)); }

 private:
  static StudySpec spec() {
    StudySpec spec;
    spec.workers = 2;
    return spec;
  }

  static CurveTable make_table() {
    CurveTable table;
    table.name = "contract";
    table.metric = {.name = "accuracy", .goal = Goal::maximize};
    table.max_epoch = kContractEpochs;
    for (const Plan plan : {Plan::fine, Plan::diverges, Plan::ends}) {
      CurveTable::Run run;
      for (Epoch epoch = 1; epoch <= (plan == Plan::ends ? 4 : kContractEpochs); ++epoch) {
        const bool broken = plan == Plan::diverges && epoch == 3;
        run.value.push_back(broken ? std::numeric_limits<double>::quiet_NaN() : 0.1 * epoch);
        run.cost.push_back(0.01);
      }
      table.configs.push_back({{0.5 * static_cast<double>(plan)}});
      table.runs.push_back(run);
    }
    return table;
  }

  CurveTable table_;
  ManualClock clock_;
  TableEvaluator evaluator_;
};

INSTANTIATE_TEST_SUITE_P(
    Evaluators,
    EvaluatorContract,
    testing::Values(EvaluatorKind{"table", [] { return std::make_unique<TableLab>(); }},
                    EvaluatorKind{"process_counted", [] { return std::make_unique<ProcessLab>(Meter::epochs); }},
                    EvaluatorKind{"process_timed", [] { return std::make_unique<ProcessLab>(Meter::accrued); }},
                    EvaluatorKind{"process_reported", [] { return std::make_unique<ProcessLab>(Meter::reported); }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace bapi

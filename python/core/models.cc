#include <pybind11/stl.h>

#include "bapi/base/error.h"
#include "bapi/compare/comparison_tables.h"
#include "bapi/model/curve_forecaster.h"
#include "bapi/studies/compare_policies.h"
#include "bapi/studies/simulate_policy.h"
#include "bindings.h"
#include "convert.h"

namespace bapi::python {

namespace py = pybind11;

namespace {

using FreeGil = py::gil_scoped_release;
using Rows = std::vector<std::vector<double>>;

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::unique_ptr<CurveForecaster> fit_curves(
    const Rows& x, const Rows& curves, Epoch max_epoch, bool minimize, std::uint64_t seed) {
  const FreeGil free;
  CurveData data;
  const std::size_t columns = x.empty() ? 0 : x.front().size();
  data.x.resize(std::ssize(x), static_cast<Eigen::Index>(columns));
  for (std::size_t i = 0; i < x.size(); ++i) {
    require(x[i].size() == columns, "the configurations have different numbers of coordinates");
    data.x.row(static_cast<Eigen::Index>(i)) = vector_of(x[i]).transpose();
  }
  data.curves = curves;
  return std::make_unique<CurveForecaster>(
      data,
      CurveForecasterOptions{
          .max_epoch = max_epoch, .goal = minimize ? CurveGoal::minimize : CurveGoal::maximize, .seed = seed});
}

py::dict predict(const CurveForecaster& model,
                 const std::vector<double>& x,
                 const std::vector<Epoch>& epochs,
                 double level) {
  CurveCourse course;
  {
    const FreeGil free;
    course = model.predict(vector_of(x), epochs, level);
  }
  py::dict record;
  record["mean"] = course.mean;
  record["low"] = course.low;
  record["high"] = course.high;
  return record;
}

py::dict run_simulation(const std::string& table,
                        const std::string& policy,
                        const py::dict& policy_options,
                        const std::string& budget,
                        std::uint64_t seed,
                        int workers,
                        bool checkpoints,
                        const std::vector<std::string>& from,
                        const std::string& from_budget) {
  PolicySimulationOptions options{.table = table,
                                  .policy = {.name = policy},
                                  .budget = budget,
                                  .seed = seed,
                                  .workers = workers,
                                  .checkpoint = checkpoints ? Checkpoint::kept : Checkpoint::none,
                                  .from = from,
                                  .from_budget = from_budget};
  for (const auto& [name, value] : policy_options) {
    const auto key = name.cast<std::string>();
    options.policy.options[key] = value_of(value, "policy_options." + key);
  }
  Fields record;
  {
    const FreeGil free;
    const PolicySimulation run = simulate_policy(options);
    record = simulation_record(run);
    record.emplace_back("end", run.summary.end);
  }
  return to_python(Cell(std::move(record)));
}

// The summary of `bapi compare`, the rows of its three tables, and its files.
py::dict run_compare(const ComparisonInput& input, int jobs, const std::string& out) {
  ComparisonResult result;
  {
    const FreeGil free;
    result = compare_policies(comparison_of(input), out, {.jobs = jobs});
  }
  py::list files;
  for (const std::filesystem::path& file : result.files) files.append(file.string());
  py::dict record;
  record["summary"] = to_python(summary_cell(result.rankings));
  record["runs"] = to_python(runs_table(result.records));
  record["ranks"] = to_python(ranks_table(result.rankings));
  record["curves"] = to_python(curves_table(result.curves));
  record["files"] = files;
  return record;
}

ComparisonInput comparison_input(const std::vector<std::string>& tables,
                                 const std::vector<std::string>& policies,
                                 const std::vector<std::string>& from,
                                 const std::string& from_budget,
                                 int seeds,
                                 std::uint64_t first_seed,
                                 const std::vector<std::string>& budgets,
                                 const std::vector<int>& workers,
                                 int draw,
                                 bool checkpoints,
                                 bool charge_overhead,
                                 const std::string& overhead_from) {
  using Charge = ComparisonInput::Charge;
  return {.tables = tables,
          .policies = policies,
          .from = from,
          .from_budget = from_budget,
          .seeds = seeds,
          .first_seed = first_seed,
          .budgets = budgets,
          .workers = workers,
          .draw = draw,
          .checkpoint = checkpoints ? Checkpoint::kept : Checkpoint::none,
          .charge = charge_overhead ? Charge::measured : Charge::none,
          .overhead_from = overhead_from};
}

}  // namespace

void bind_models(py::module_& module) {
  py::class_<CurveForecaster>(module, "CurveModel")
      .def(py::init(&fit_curves),
           py::arg("x"),
           py::arg("curves"),
           py::arg("max_epoch"),
           py::arg("minimize"),
           py::arg("seed"))
      .def("predict", &predict, py::arg("x"), py::arg("epochs"), py::arg("level"))
      .def_property_readonly("max_epoch", &CurveForecaster::max_epoch)
      .def_property_readonly("log_likelihood", [](const CurveForecaster& model) { return model.fit().log_likelihood; });
  module.def("simulate",
             &run_simulation,
             py::arg("table"),
             py::arg("policy"),
             py::arg("policy_options"),
             py::arg("budget"),
             py::arg("seed"),
             py::arg("workers"),
             py::arg("checkpoints"),
             py::arg("from_tables"),
             py::arg("from_budget"));
  py::class_<ComparisonInput>(module, "ComparisonInput")
      .def(py::init(&comparison_input),
           py::kw_only(),
           py::arg("tables"),
           py::arg("policies"),
           py::arg("from_tables"),
           py::arg("from_budget"),
           py::arg("seeds"),
           py::arg("first_seed"),
           py::arg("budgets"),
           py::arg("workers"),
           py::arg("draw"),
           py::arg("checkpoints"),
           py::arg("charge_overhead"),
           py::arg("overhead_from"));
  module.def("compare", &run_compare, py::arg("input"), py::arg("jobs"), py::arg("out"));
}

}  // namespace bapi::python

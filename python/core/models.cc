#include <pybind11/stl.h>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/compare/comparison_tables.h"
#include "bapi/compare/html_report.h"
#include "bapi/compare/run_comparison.h"
#include "bapi/model/curve_forecaster.h"
#include "bapi/policy/registry.h"
#include "bapi/studies/policy_input.h"
#include "bapi/studies/table_input.h"
#include "bapi/tables/simulate.h"
#include "bapi/tables/timed_policy.h"
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

py::dict run_simulation(const std::string& table_name,
                        const std::string& policy_name,
                        const py::dict& options,
                        const py::object& budget,
                        std::uint64_t seed,
                        int workers) {
  PolicySpec spec{.name = policy_name};
  for (const auto& [name, value] : options) {
    const auto key = name.cast<std::string>();
    spec.options[key] = value_of(value, "policy_options." + key);
  }
  const auto limit = py::str(budget).cast<std::string>();
  std::string table_title;
  SimulationSummary summary;
  SimulationOptions run{.seed = seed, .workers = workers};
  double overhead = 0.0;
  {
    const FreeGil free;
    const CurveTable table = load_table(table_name);
    const std::unique_ptr<Policy> policy = make_policy(spec);
    const ThreadClock clock;
    TimedPolicy timed(*policy, clock);
    run.budget = parse_table_budget(limit).on(table);
    summary = simulate(table, spec, timed, run);
    overhead = timed.seconds();
    table_title = table.name;
  }
  py::dict record;
  record["policy"] = spec.name;
  record["table"] = table_title;
  record["seed"] = seed;
  record["budget"] = run.budget;
  record["spent"] = summary.spent;
  record["best"] = summary.best;
  record["regret"] = summary.regret;
  record["normalised_regret"] = summary.normalised_regret;
  record["decisions"] = summary.decisions;
  record["trials"] = summary.trials;
  record["overhead_seconds"] = overhead;
  record["end"] = summary.end;
  record["trajectory"] = summary.trajectory;
  return record;
}

// What `bapi compare` computes: the summary, and the rows of its three tables.
py::dict run_compare(const std::vector<std::string>& tables,
                     const std::vector<std::string>& policy_names,
                     int seeds,
                     const std::vector<std::string>& budgets,
                     const std::vector<int>& workers,
                     bool charge_overhead,
                     int jobs,
                     const std::string& out) {
  Cell summary;
  std::optional<Table> runs;
  std::optional<Table> ranks;
  std::optional<Table> curves;
  {
    const FreeGil free;
    Comparison comparison;
    for (const std::string& text : tables) {
      for (const std::string& source : table_names(text)) comparison.tables.push_back(load_table(source));
    }
    for (const std::string& text : policy_names) comparison.policies.push_back(parse_compared_policy(text));
    comparison.seeds = seeds;
    for (const std::string& text : budgets) comparison.budgets.push_back(parse_table_budget(text));
    comparison.workers = workers;
    comparison.overhead = charge_overhead ? OverheadCharge::measured : OverheadCharge::none;
    comparison.validate();
    RunLog log(out, comparison);
    run_comparison(comparison, log, {.jobs = jobs});
    const std::vector<RunRecord> records = records_of(comparison, log);
    const std::vector<Ranking> rankings = rankings_of(comparison, records);
    const std::vector<AnytimeCurve> anytime = anytime_curves(comparison, records);
    summary = summary_cell(rankings);
    runs = runs_table(records);
    ranks = ranks_table(rankings);
    curves = curves_table(anytime);
    replace_file(std::filesystem::path(out) / "report.html", html_report(comparison, rankings, anytime));
  }
  py::dict record;
  record["summary"] = to_python(summary);
  record["runs"] = to_python(*runs);
  record["ranks"] = to_python(*ranks);
  record["curves"] = to_python(*curves);
  return record;
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
             py::arg("workers"));
  module.def("compare",
             &run_compare,
             py::arg("tables"),
             py::arg("policies"),
             py::arg("seeds"),
             py::arg("budgets"),
             py::arg("workers"),
             py::arg("charge_overhead"),
             py::arg("jobs"),
             py::arg("out"));
}

}  // namespace bapi::python

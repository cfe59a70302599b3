#include <fmt/format.h>
#include <pybind11/stl.h>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/match.h"
#include "bapi/dashboard/html_report.h"
#include "bapi/report/plots.h"
#include "bapi/report/reasons.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/forecast.h"
#include "bapi/studies/plan.h"
#include "bapi/studies/provenance.h"
#include "bapi/studies/what_if.h"
#include "bapi/study/codec.h"
#include "bapi/study/direction.h"
#include "bapi/study/user_request.h"
#include "bindings.h"
#include "convert.h"
#include "segment_record.h"
#include "specification.h"
#include "study_handle.h"

namespace bapi::python {

namespace py = pybind11;

namespace {

using FreeGil = py::gil_scoped_release;
using Log = std::span<const StoredEvent>;
using bapi::python::to_python;

py::tuple drive(const StudySpec& spec, const std::optional<std::string>& root) {
  std::vector<std::string> notes;
  std::unique_ptr<StudyHandle> handle;
  {
    const std::string python = python_version();
    const FreeGil free;
    StudySpec recorded = spec;
    recorded.provenance = provenance_of(BAPI_VERSION, "");
    recorded.provenance.python = python;
    handle = StudyHandle::drive(recorded, root ? std::optional<std::filesystem::path>(*root) : std::nullopt, notes);
  }
  return py::make_tuple(std::move(handle), notes);
}

// The fields of a segment, or None.
py::object ask(StudyHandle& study) {
  std::optional<Segment> segment;
  {
    const FreeGil free;
    segment = study.ask();
  }
  if (!segment) return py::none();
  return segment_record(study.spec(), *segment);
}

// (advice, until).
// {name: a list with a value for every reported epoch, None where the report did not have it}
py::dict metrics_of(const Trial& trial) {
  std::map<std::string, std::vector<std::optional<double>>> columns;
  const std::span<const Measurement> points = trial.curve.points();
  for (std::size_t row = 0; row < points.size(); ++row) {
    const auto others = trial.others.find(points[row].epoch);
    if (others == trial.others.end()) continue;
    for (const auto& [name, value] : others->second) {
      columns.try_emplace(name, points.size()).first->second[row] = value;
    }
  }
  return py::cast(columns);
}

py::tuple report(StudyHandle& study,
                 std::int64_t trial,
                 Epoch epoch,
                 double value,
                 std::optional<Cost> cost,
                 const OtherMetrics& others) {
  Advice advice = Advice::stop;
  Epoch until = 0;
  {
    const FreeGil free;
    study.with_loop([&](AskTell& loop) {
      advice = loop.report(TrialId{trial}, {.epoch = epoch, .value = value, .cost = cost, .others = others});
    });
    study.with_history([&](const History& history) { until = history.trial(TrialId{trial}).asked_until; });
  }
  const std::string_view text = to_string(advice);
  return py::make_tuple(py::str(text.data(), text.size()), until);
}

// One dict per notice: event, trial, epoch, value, metrics, config, state, reason; None where there is nothing to say.
py::list notices(StudyHandle& study) {
  std::vector<Notice> taken;
  std::vector<Config> configs;
  {
    const FreeGil free;
    taken = study.take_notices();
    study.with_history([&](const History& history) {
      for (const Notice& notice : taken) {
        configs.push_back(notice.trial ? history.trial(*notice.trial).config : Config{});
      }
    });
  }
  py::list list;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const Notice& notice = taken[i];
    py::dict record;
    record["event"] = std::string(word(notice.kind));
    record["trial"] = notice.trial ? py::object(py::int_(index(*notice.trial))) : py::none();
    record["epoch"] = notice.trial ? py::object(py::int_(notice.epoch)) : py::none();
    record["value"] = notice.value ? py::object(py::float_(*notice.value)) : py::none();
    record["metrics"] = py::cast(notice.others);
    record["state"] = notice.state;
    record["reason"] = text_to_python(notice.reason);
    record["config"] = notice.trial ? py::object(to_python(configs[i], study.spec().space)) : py::none();
    list.append(record);
  }
  return list;
}

void enqueue(StudyHandle& study, const py::dict& config) {
  NamedValues given;
  for (const auto& [name, value] : config) {
    const auto key = name.cast<std::string>();
    given[key] = value_of(value, key);
  }
  const FreeGil free;
  study.enqueue(given);
}

std::int64_t adopt(StudyHandle& study,
                   const py::dict& config,
                   const std::vector<double>& values,
                   const std::vector<double>& costs,
                   const std::string& end,
                   const std::string& message) {
  require(values.size() == costs.size(), "costs: expected as many as there are values");
  OutsideTrial trial{.config = config_of(config, study.spec().space), .message = message};
  trial.end = end == "failed"   ? OutsideTrial::End::failed
              : end == "paused" ? OutsideTrial::End::paused
                                : OutsideTrial::End::completed;
  for (std::size_t i = 0; i < values.size(); ++i) {
    trial.curve.push_back({.epoch = static_cast<Epoch>(i) + 1, .value = values[i], .cost = costs[i]});
  }
  const FreeGil free;
  return index(study.with_loop([&](AskTell& loop) { return loop.adopt(trial); }));
}

std::string trial_dir(StudyHandle& study, std::int64_t trial) {
  const FreeGil free;
  return study.with_history([&](const History& history) {
    require(study.dir().has_value(), "a study in memory, or in a database, has no directory of its own here");
    const TrialDir dir = study.dir()->trial(TrialId{trial});
    dir.create();
    replace_file(dir.config(), encode(history.trial(TrialId{trial}).config, history.spec().space) + "\n");
    return dir.root.string();
  });
}

py::dict status(StudyHandle& study) {
  Fields record;
  {
    const FreeGil free;
    const Controller controller = study.controller();
    study.with_history([&](const History& history) {
      const std::optional<StudyDir> files = study.files();
      record = files ? status_of(*files, history, controller) : status_record(history, controller, {});
      record.emplace_back("reason", history.finish_reason());
    });
  }
  return to_python(Cell(std::move(record)));
}

// (number of the first event that does not count, what is wrong with it), or None.
py::object damage(StudyHandle& study) {
  std::optional<Damage> found;
  {
    const FreeGil free;
    found = study.damage();
  }
  if (!found) return py::none();
  return py::make_tuple(found->seq, found->text());
}

// One dict per parameter: name, kind ("float", "int", "choice", "constant"), low, high, log, options, value.
py::list space_record(StudyHandle& study) {
  const auto is_log = [](Scale scale) { return scale == Scale::log; };
  py::list params;
  for (const Param& param : study.spec().space.params()) {
    py::dict record;
    record["name"] = param.name;
    std::visit(Match{[&](const RealRange& range) {
                       record["kind"] = "float";
                       record["low"] = range.low;
                       record["high"] = range.high;
                       record["log"] = is_log(range.scale);
                     },
                     [&](const IntRange& range) {
                       record["kind"] = "int";
                       record["low"] = range.low;
                       record["high"] = range.high;
                       record["log"] = is_log(range.scale);
                     },
                     [&](const Choice& choice) {
                       record["kind"] = "choice";
                       py::list options;
                       for (const Value& option : choice.options) options.append(to_python(option));
                       record["options"] = options;
                     },
                     [&](const Constant& constant) {
                       record["kind"] = "constant";
                       record["value"] = to_python(constant.value);
                     }},
               param.domain);
    params.append(record);
  }
  return params;
}

// "12m05s of 30m00s", "150 of 300 epochs".
std::string spending_text(StudyHandle& study) {
  const FreeGil free;
  return study.with_history([](const History& history) {
    const BudgetSpec& unit = history.spec().budget;
    const Budget budget = history.budget();
    const bool time = unit.meter == Meter::accrued && unit.unit == "s";
    return (time ? short_duration(budget.spent()) : short_number(budget.spent())) + " of " +
           short_cost(budget.total(), unit);
  });
}

// Cheap enough for every report: (spent, total, best or None, trials).
py::tuple progress(StudyHandle& study) {
  double spent = 0.0;
  double total = 0.0;
  std::optional<double> best;
  std::size_t trials = 0;
  {
    const FreeGil free;
    study.with_history([&](const History& history) {
      spent = history.budget().spent();
      total = history.budget().total();
      trials = history.trials().size();
      if (const std::optional<Best> found = bapi::best(history)) best = found->value;
    });
  }
  return py::make_tuple(spent, total, best, trials);
}

void require_trial(const History& history, std::int64_t number) {
  require(number >= 0 && number < std::ssize(history.trials()),
          fmt::format("there is no trial {}; the study has {}", number, history.trials().size()));
}

py::dict trial_record(StudyHandle& study, std::int64_t number) {
  std::optional<Trial> trial;
  Controller controller = Controller::absent;
  {
    const FreeGil free;
    controller = study.controller();
    study.with_history([&](const History& history) {
      require_trial(history, number);
      trial = history.trial(TrialId{number});
    });
  }
  py::list reported;
  py::list values;
  py::list counted;
  py::list costs;
  for (const Measurement& m : trial->curve.reports()) {
    reported.append(m.epoch);
    values.append(oriented(m.value, study.spec().metric.goal));
    costs.append(m.cost);
  }
  for (const Measurement& m : trial->curve.points()) counted.append(oriented(m.value, study.spec().metric.goal));
  py::dict record;
  record["number"] = number;
  record["state"] = std::string(to_string(shown_state(*trial, controller)));
  record["config"] = to_python(trial->config, study.spec().space);
  record["reported"] = reported;
  record["values"] = values;
  record["costs"] = costs;
  record["counted"] = counted;
  const std::optional<RepeatPlace>& repeat = trial->assignment.repeat;
  record["repeat_of"] = repeat ? py::object(py::int_(index(repeat->of))) : py::none();
  record["metrics"] = metrics_of(*trial);
  record["spent"] = trial->spent();
  record["failure"] = text_to_python(trial->failure);
  record["why"] = text_to_python(in_brief(trial->why));
  return record;
}

template <typename Make>
py::list listing(StudyHandle& study, Make make) {
  std::optional<Table> table;
  {
    const FreeGil free;
    table = study.with_log(make);
  }
  return to_python(*table);
}

std::string plot(StudyHandle& study, const std::string& kind) {
  const FreeGil free;
  return study.with_log(
      [&](const History& history, std::span<const StoredEvent> events) { return picture(kind, history, events); });
}

std::string html(StudyHandle& study, bool planner) {
  const FreeGil free;
  return html_report(study.view(), {.planner = planner}, SystemClock().now());
}

py::dict to_python(const Prediction& prediction) {
  py::dict record;
  record["mean"] = prediction.mean;
  record["low"] = prediction.low;
  record["high"] = prediction.high;
  return record;
}

// As `bapi plan -f json` has it, without the decision of the policy; with the outlook after none, one, ... of the runs.
py::dict plan_of(StudyHandle& study, std::optional<int> horizon) {
  std::optional<StudyView> view;
  PlanSummary summary;
  {
    const FreeGil free;
    view = study.view();
    summary = plan(*view, horizon);
  }
  py::dict record = to_python(Cell(plan_record(*view, summary, std::nullopt)));
  py::list outlook;
  for (const Outlook& at : summary.outlook) {
    py::dict row = to_python(at.best);
    row["cost"] = at.cost;
    outlook.append(row);
  }
  record["outlook"] = outlook;
  return record;
}

// As `bapi what-if -f json` has it.
py::list what_if_rows(StudyHandle& study, const std::string& budget) {
  std::optional<Table> table;
  {
    const FreeGil free;
    table = what_if_table(what_if(study.view(), budget));
  }
  return to_python(*table);
}

// As `bapi forecast -f json` has them.
py::list forecast_rows(StudyHandle& study) {
  std::optional<Table> table;
  {
    const FreeGil free;
    const StudyView view = study.view();
    table = forecast_table(view, forecast(view, std::nullopt));
  }
  return to_python(*table);
}

// Of one trial; `rows` as `bapi forecast STUDY TRIAL -f json` has them.
py::dict forecast_record(StudyHandle& study, std::int64_t trial) {
  CurveForecast found;
  std::optional<Table> rows;
  {
    const FreeGil free;
    const StudyView view = study.view();
    found = forecast(view, trial).front();
    rows = course_table(view, found);
  }
  py::dict record;
  record["trial"] = trial;
  record["done"] = found.done;
  record["stop"] = found.stop;
  record["cost_to_finish"] = found.cost_to_finish;
  record["chance_of_best"] = found.chance_of_best;
  py::list course;
  for (std::size_t i = 0; i < found.epochs.size(); ++i) {
    py::dict at = to_python(found.curve[i]);
    at["epoch"] = found.epochs[i];
    course.append(at);
  }
  record["course"] = course;
  record["rows"] = to_python(*rows);
  return record;
}

// What other programs call the trials.
std::map<std::string, std::int64_t> trial_names(StudyHandle& self) {
  const FreeGil free;
  return self.with_log([](const History&, std::span<const StoredEvent> events) {
    std::map<std::string, std::int64_t> numbers;
    for (const auto& [name, trial] : other_names(events)) numbers[name] = index(trial);
    return numbers;
  });
}

// A method that does `use(loop, arguments...)` while other Python threads may run.
template <typename... Arguments, typename Use>
auto on_loop(Use use) {
  return [use](StudyHandle& self, Arguments... arguments) {
    const FreeGil free;
    return self.with_loop([&](AskTell& loop) { return use(loop, arguments...); });
  };
}

void bind_loop(py::class_<StudyHandle>& study) {
  using Number = std::int64_t;
  using Text = const std::string&;
  study.def_static("drive", &drive, py::arg("spec"), py::arg("root"))
      .def("ask", &ask)
      .def("report",
           &report,
           py::arg("trial"),
           py::arg("epoch"),
           py::arg("value"),
           py::arg("cost") = py::none(),
           py::arg("others") = OtherMetrics{})
      .def("adopt", &adopt)
      .def("enqueue", &enqueue)
      .def("notices", &notices)
      .def("charge",
           on_loop<Number, Cost>([](AskTell& loop, Number trial, Cost cost) { loop.charge(TrialId{trial}, cost); }))
      .def("fail", on_loop<Number, Text>([](AskTell& loop, Number trial, Text why) { loop.fail(TrialId{trial}, why); }))
      .def("complete", on_loop<Number>([](AskTell& loop, Number trial) { loop.complete(TrialId{trial}); }))
      .def("put_back",
           on_loop<Number, Text>([](AskTell& loop, Number trial, Text why) { loop.put_back(TrialId{trial}, why); }))
      .def("wait_for_place", on_loop<Number>([](AskTell& loop, Number trial) { loop.wait_for_place(TrialId{trial}); }))
      .def("placed", on_loop<Number>([](AskTell& loop, Number trial) { loop.placed(TrialId{trial}); }))
      .def("name_trial",
           on_loop<Number, Text>([](AskTell& loop, Number trial, Text name) { loop.name(TrialId{trial}, name); }))
      .def("pause", on_loop<Text>([](AskTell& loop, Text why) { loop.pause(why); }))
      .def("finish", on_loop<Text>([](AskTell& loop, Text why) { loop.finish(why); }))
      .def("is_handed_out",
           on_loop<Number>([](AskTell& loop, Number trial) { return loop.is_handed_out(TrialId{trial}); }))
      .def("ended", on_loop([](AskTell& loop) { return loop.ended(); }))
      .def("gave_up", on_loop([](AskTell& loop) { return loop.gave_up(); }))
      .def("asked_to_pause", on_loop([](AskTell& loop) { return loop.asked_to_pause(); }))
      .def("end_reason", on_loop([](AskTell& loop) { return loop.end_reason(); }))
      .def("close", [](StudyHandle& self) {
        const FreeGil free;
        self.close();
      });
}

void bind_reading(py::class_<StudyHandle>& study) {
  study
      .def_static("look",
                  [](const std::string& text) {
                    const FreeGil free;
                    return StudyHandle::look(text);
                  })
      .def_property_readonly("driving", &StudyHandle::driving)
      .def_property_readonly("database", &StudyHandle::database)
      .def_property_readonly("root",
                             [](StudyHandle& self) -> std::optional<std::string> {
                               if (!self.dir()) return std::nullopt;
                               return self.dir()->root().string();
                             })
      .def("abandon", &StudyHandle::abandon)
      .def("damage", &damage)
      .def("trial_dir", &trial_dir)
      .def("trial_names", &trial_names)
      .def("about", [](const StudyHandle& self) { return about_record(self.spec()); })
      .def_property_readonly("spec", &StudyHandle::spec)
      .def("space", &space_record)
      .def("status", &status)
      .def("spending", &spending_text)
      .def("progress", &progress)
      .def("trial", &trial_record)
      .def("trials",
           [](StudyHandle& self) {
             const Controller controller = self.controller();
             return listing(self, [&](const History& history, Log) { return trials_table(history, controller); });
           })
      .def("ledger",
           [](StudyHandle& self) {
             return listing(self, [](const History&, Log events) { return ledger_table(events); });
           })
      .def("decisions",
           [](StudyHandle& self) {
             return listing(self, [](const History&, Log events) { return decisions_table(events); });
           })
      .def(
          "explain",
          [](StudyHandle& self, std::optional<std::int64_t> trial) {
            return listing(self, [&](const History& history, Log events) {
              if (trial) require_trial(history, *trial);
              const std::optional<TrialId> about = trial ? std::optional(TrialId{*trial}) : std::nullopt;
              return explanation_table(events, history.spec(), about);
            });
          },
          py::arg("trial") = py::none())
      .def("plot", &plot)
      .def("html", &html, py::arg("planner"))
      .def("plan", &plan_of, py::arg("horizon") = py::none())
      .def("what_if", &what_if_rows, py::arg("budget"))
      .def("forecasts", &forecast_rows)
      .def("forecast", &forecast_record, py::arg("trial"));
}

}  // namespace

void bind_study(py::module_& module) {
  py::class_<StudyHandle> study(module, "Study");
  bind_loop(study);
  bind_reading(study);
}

}  // namespace bapi::python

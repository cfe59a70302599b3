#include "bapi/cli/controller.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/cli/event_tap.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/live_view.h"
#include "bapi/cli/plain_view.h"
#include "bapi/cli/plot_files.h"
#include "bapi/cli/study_text.h"
#include "bapi/control/tune.h"
#include "bapi/policy/registry.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/report/text.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_lock.h"
#include "bapi/studies/study_opening.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

void tell(const std::string& text, const ControlOptions& options) {
  if (options.verbosity == Verbosity::normal) write_error(text + "\n");
}

std::unique_ptr<Progress> make_progress(const StudySpec& spec, const Clock& clock, const ControlOptions& options) {
  if (options.verbosity == Verbosity::quiet) return std::make_unique<NoProgress>();
  if (can_redraw()) return std::make_unique<LiveView>(spec, clock, terminal_style());
  return std::make_unique<PlainView>(spec, clock);
}

TuneSummary drive(SqliteStore& store, const StudyDir& dir, const ControlOptions& options) {
  const SystemClock clock;
  const StudySpec& spec = store.spec();
  const InterruptFlag interrupt;
  const std::unique_ptr<Policy> policy = make_policy(spec.policy);
  const std::unique_ptr<Progress> progress = make_progress(spec, clock, options);
  EventTap tap(store, [&](const Event& event) { progress->event(event); });
  Session session(tap, *policy, clock);

  ProcessEvaluatorOptions process_options;
  if (spec.deadline) process_options.deadline = session.started_at() + *spec.deadline;
  if (spec.budget.meter != Meter::seconds) {
    process_options.at_segment_end = ProcessEvaluatorOptions::AtSegmentEnd::hold;
  }
  process_options.remark = [](const std::string& text) { write_error(fmt::format("bapi: {}\n", text)); };
  ProcessEvaluator evaluator(spec, dir, clock, process_options);
  if (!session.history().trials().empty()) session.record(evaluator.recover(session.history()));

  const TuneSummary summary = tune(
      session, evaluator, clock, {.interrupt = interrupt.flag(), .observer = [&](const Session& s, const Evaluator& e) {
                                    progress->update(s, e);
                                  }});
  progress->finish();
  return summary;
}

void print_result(const StudyDir& dir, const TuneSummary& summary, const ControlOptions& options) {
  StudyView study = open_study(dir.root().string());
  study.controller = Controller::absent;  // this process still holds the lock
  if (options.format != Format::table) {
    const Fields record = status_record(study.history, study.controller, best_checkpoint(dir, study.history));
    std::fputs(render(record, options.format).c_str(), stdout);
    return;
  }
  std::string text = study_text(study);
  if (!study.history.trials().empty()) {
    write_plots(study, plot_folder(dir));
    text += fmt::format("{:<11}{}/{{curves,incumbent,budget}}.svg\n", "plots", shown_path(plot_folder(dir)));
  }
  if (summary.end == TuneEnd::finished) text += fmt::format("{:<11}{}\n", "go on", raise_hint(study));
  std::fputs(text.c_str(), stdout);
}

int exit_code(const TuneSummary& summary, const StudyDir& dir, const History& history) {
  const std::string resume = "bapi resume " + shown_path(dir.root());
  switch (summary.end) {
    case TuneEnd::interrupted:
      write_error(fmt::format("bapi: interrupted; nothing is lost. Continue with: {}\n", resume));
      return kInterrupted;
    case TuneEnd::too_many_failures:
      write_error(fmt::format("bapi: {}\n", summary.reason));
      return kRunFailed;
    case TuneEnd::finished:
      break;
  }
  if (history.incumbent()) return kDone;
  write_error("bapi: the study has ended and no trial has reported a value; bapi trials and bapi show say why\n");
  return kRunFailed;
}

int run_to_end(SqliteStore& store, const StudyDir& dir, const ControlOptions& options) {
  const TuneSummary summary = drive(store, dir, options);
  print_result(dir, summary, options);
  std::fflush(stdout);
  return exit_code(summary, dir, replay(store.spec(), store.events(0)));
}

}  // namespace

int run_study(const StudyDir& dir, const StudySpec& spec, const ControlOptions& options) {
  dir.create();
  const StudyLock lock = StudyLock::take(dir.root());
  SqliteStore store = open_or_create_study(dir, spec, [&](const std::string& line) { tell(line, options); });
  store.write_under(lock);
  return run_to_end(store, dir, options);
}

int resume_study(const StudyDir& dir, const StudyOverrides& overrides, const ControlOptions& options) {
  require_own_directory(dir.root());
  const StudyLock lock = StudyLock::take(dir.root());
  const StudyView study = open_study(dir.root().string());
  require(
      !study.spec().command.empty(),
      fmt::format("{} has no training program to start: it is driven by the program that made it, from Python or C++; "
                  "run that again",
                  shown_path(dir.root())));
  StudySpec wanted = study.spec();
  wanted.budget.limit = study.history.budget().total();
  apply(overrides, wanted);
  wanted.validate();
  SqliteStore store = reopen_study(dir, wanted, [&](const std::string& line) { tell(line, options); });
  store.write_under(lock);
  return run_to_end(store, dir, options);
}

}  // namespace bapi

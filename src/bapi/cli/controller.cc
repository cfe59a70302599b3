#include "bapi/cli/controller.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "bapi/base/clock.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/live_view.h"
#include "bapi/cli/plain_view.h"
#include "bapi/cli/plot_files.h"
#include "bapi/cli/study_text.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/clean.h"

namespace bapi {

namespace {

std::unique_ptr<RunView> make_view(const StudySpec& spec, const Clock& clock) {
  if (can_redraw()) return std::make_unique<LiveView>(spec, clock, terminal_style());
  return std::make_unique<PlainView>(spec, clock);
}

StudySummary run_in_view(const std::function<StudySummary(const RunOptions&)>& run, const ControlOptions& options) {
  const InterruptFlag interrupt;
  RunOptions watched{.interrupt = interrupt.flag(),
                     .home = options.home,
                     .keep_going = options.keep_going,
                     .version = BAPI_VERSION,
                     .cluster = options.cluster};
  watched.remark = [](const std::string& text) { write_error(fmt::format("bapi: {}\n", text)); };
  if (options.verbosity == Verbosity::quiet) return run(watched);
  const SystemClock clock;
  std::unique_ptr<RunView> view;  // begins with the run: what is told before stands above it
  watched.tell = [](const std::string& line) { write_error(line + "\n"); };
  watched.listener = [&](const RunUpdate& update) {
    if (!view) {
      if (!options.watch.empty()) write_error(fmt::format("watch it in a browser: {}\n", options.watch));
      view = make_view(update.session.history().spec(), clock);
    }
    view->update(update);
  };
  return run(watched);
}

void print_result(const StudySummary& summary, const ControlOptions& options) {
  const StudyView& study = summary.study;
  if (options.format != Format::table) {
    std::fputs(render(status_of(study.dir, study.history, study.controller), options.format).c_str(), stdout);
    return;
  }
  std::string text = study_text(study);
  if (study.history.incumbent()) {
    write_plots(study, plot_folder(study));
    text += fmt::format("{:<11}{}/*.svg\n", "plots", shown_path(plot_folder(study)));
  }
  if (summary.end == TuneEnd::finished) {
    text += fmt::format("{:<11}{}\n", "continue", is_exhausted(study.history) ? kExhaustedHint : raise_hint(study));
  }
  std::fputs(text.c_str(), stdout);
}

int exit_code(const StudySummary& summary) {
  const std::string resume = "bapi resume " + summary.study.shown();
  switch (summary.end) {
    case TuneEnd::interrupted:
      write_error(fmt::format("bapi: interrupted; nothing is lost. Continue with: {}\n", resume));
      return kInterrupted;
    case TuneEnd::too_many_failures:
    case TuneEnd::program_failed:
      write_error(fmt::format("bapi: {}\n", summary.reason));
      return kRunFailed;
    case TuneEnd::finished:
      break;
  }
  if (summary.study.history.incumbent()) return kDone;
  write_error("bapi: the study has ended and no trial has reported a value; bapi trials and bapi show say why\n");
  return kRunFailed;
}

}  // namespace

int run_to_end(const std::function<StudySummary(const RunOptions&)>& run, const ControlOptions& options) {
  const StudySummary summary = run_in_view(run, options);
  print_result(summary, options);
  std::fflush(stdout);
  return exit_code(summary);
}

}  // namespace bapi

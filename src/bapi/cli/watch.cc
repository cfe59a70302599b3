#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "bapi/base/clock.h"
#include "bapi/base/utf8.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/live_lines.h"
#include "bapi/cli/screen_lines.h"
#include "bapi/cli/study_text.h"
#include "bapi/cli/terminal.h"
#include "bapi/control/allowance.h"
#include "bapi/process/failure_text.h"
#include "bapi/report/describe.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

constexpr std::size_t kMostEntries = 40;  // more than fit a screen
constexpr auto kBetweenLooks = std::chrono::milliseconds(500);

double began(const StudyView& study) { return study.events.empty() ? 0.0 : study.events.front().at; }

// Seconds until the budget is spent if training continues at its average pace.
std::optional<double> time_left(const StudyView& study, double now) {
  const double elapsed = now - began(study);
  const Budget budget = study.history.budget();
  const Running running{.accrued = 0.0, .rate = elapsed > 1.0 ? budget.spent() / elapsed : 0.0};
  return seconds_left(
      study.history, running, {.started_at = first_decision_at(study.events).value_or(now), .now = now});
}

LiveState state_of(const StudyView& study, double now) {
  LiveState state{.elapsed = study.events.empty() ? 0.0 : now - began(study),
                  .spent = study.history.budget().spent(),
                  .seconds_left = time_left(study, now)};
  for (auto stored = study.events.rbegin(); stored != study.events.rend() && state.recent.size() < kMostEntries;
       ++stored) {
    if (auto entry = live_entry(stored->event, study.spec(), stored->at - began(study))) {
      state.recent.insert(state.recent.begin(), *std::move(entry));
    }
  }
  return state;
}

// Where lines cannot be drawn again: each decision once.
void print_news(const StudyView& study, EventSeq& shown) {
  for (const StoredEvent& stored : study.events) {
    if (stored.seq <= shown) continue;
    shown = stored.seq;
    if (!live_entry(stored.event, study.spec(), 0.0)) continue;
    const std::optional<TrialId> trial = trial_of(stored.event);
    const std::string text = describe(stored.event, study.spec());
    print(fmt::format("{:>8}  {:<10} {}\n",
                      short_duration(stored.at - began(study)),
                      trial ? fmt::format("trial {}", index(*trial)) : "study",
                      visible_line(failure_headline(text))));
  }
  std::fflush(stdout);
}

int watch(const std::string& name) {
  const InterruptFlag interrupt;
  const SystemClock clock;
  StudyView study = study_to_show(name);
  EventSeq shown = 0;
  {
    std::optional<ScreenLines> screen;
    if (can_redraw()) screen.emplace();
    while (study.controller == Controller::present && !interrupt.flag()->load()) {
      if (screen) {
        const TerminalSize size = terminal_size();
        screen->draw(live_lines(study.history, state_of(study, clock.now()), size, terminal_style()), size.columns);
      } else {
        print_news(study, shown);
      }
      std::this_thread::sleep_for(kBetweenLooks);
      study = open_study(study.database.empty() ? study.dir.root().string() : study.database);
    }
    if (!screen) print_news(study, shown);
  }
  if (study.controller == Controller::absent) print(study_text(study));
  return kDone;
}

}  // namespace

Command watch_command() {
  return {
      .name = "watch",
      .summary = "Watch a study that runs elsewhere",
      .examples =
          "Examples:\n"
          "  bapi watch mlp\n\n"
          "Shows the live view of bapi run for a study that runs in another terminal, in the background or from\n"
          "Python. When the study stops running, it shows the status and exits; Ctrl-C only ends watching. In a pipe,\n"
          "each decision is a line.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto name = std::make_shared<std::string>();
        arguments.optional_positional("STUDY", *name, kStudyHelp);
        return [name] { return watch(*name); };
      }};
}

}  // namespace bapi

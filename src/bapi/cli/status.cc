#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/study_text.h"
#include "bapi/report/summary.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/running_ahead.h"

namespace bapi {

namespace {

// Whether programs run ahead of decisions. Functions never do.
std::string lockstep_text(const StudyView& study) {
  const StudySpec& spec = study.spec();
  if (!spec.withholds_epochs_ahead()) return "no: programs keep training while bapi decides; another run may differ";
  const RunningAhead ahead = running_ahead(study.dir, study.history);
  const std::string how = spec.in_lockstep() ? "yes" : "no: workers report in any order";
  if (ahead.epochs == 0) return how + (spec.in_lockstep() ? ": programs wait for every decision" : "");
  std::vector<std::int64_t> trials;
  for (const TrialId trial : ahead.trials) trials.push_back(index(trial));
  return fmt::format("{}; trained ahead: {} epoch{}, counted when {} {} continue{}",
                     how,
                     ahead.epochs,
                     ahead.epochs == 1 ? "" : "s",
                     trials.size() == 1 ? "trial" : "trials",
                     fmt::join(trials, ", "),
                     trials.size() == 1 ? "s" : "");
}

int status(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  const StudyView study = study_to_show(arguments.study);
  if (format == Format::table) {
    print(study_text(study));
    if (!study.spec().command.empty()) print(fmt::format("lockstep   {}\n", lockstep_text(study)));
    return kDone;
  }
  print(render(status_of(study.dir, study.history, study.controller), format));
  return kDone;
}

}  // namespace

Command status_command() {
  return {
      .name = "status",
      .summary = "Show progress: budget, trials, best value",
      .examples =
          "Examples:\n"
          "  bapi status\n"
          "  bapi status mlp -f json\n\n"
          "JSON: {name, policy, state, budget: {total, spent, remaining, unit}, trials: {running, interrupted, "
          "paused,\n"
          "completed, stopped, failed}, enqueued, best, from: [{study, trials, left_out}], provenance: {host, system,\n"
          "bapi, python, commit, dirty}, disk: {checkpoints, snapshots}, lockstep, ahead}. state is new, running,\n"
          "interrupted or finished; enqueued counts the configurations of bapi add, try and from that wait; best is "
          "as\n"
          "in bapi best, or null before the first report; from lists the studies of the warm start; provenance is "
          "that\n"
          "of the last run; disk is in bytes; ahead counts the epochs that programs reported past what was decided, "
          "not\n"
          "charged yet.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<ListingArguments>();
        parsed->declare(arguments);
        return [parsed] { return status(*parsed); };
      }};
}

}  // namespace bapi

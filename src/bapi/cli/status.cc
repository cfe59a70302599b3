#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/study_text.h"
#include "bapi/report/summary.h"

namespace bapi {

namespace {

int status(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  const StudyView study = study_to_show(arguments.study);
  if (format == Format::table) {
    print(study_text(study));
    return kDone;
  }
  print(render(status_record(study.history, study.controller, best_checkpoint(study.dir, study.history)), format));
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
          "JSON: {name, policy, state, budget: {total, spent, remaining, unit}, trials: {running, interrupted, paused,"
          "\ncompleted, stopped, failed}, best}. state is new, running, interrupted or finished; best is as in "
          "bapi best, null\nbefore the first report.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<ListingArguments>();
        parsed->declare(arguments);
        return [parsed] { return status(*parsed); };
      }};
}

}  // namespace bapi

#include <fmt/format.h>

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/summary.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

int show_best(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  const StudyView study = study_to_show(arguments.study);
  const Cell found = best_cell(study.history, best_checkpoint(study.dir, study.history));
  if (found.is_object()) {
    print(render(found.get_ref<const Fields&>(), format));
    return kDone;
  }
  if (format == Format::json) print("null\n");
  note(fmt::format("no trial of {} has reported yet", study.spec().name));
  return kDone;
}

}  // namespace

Command best_command() {
  return {.name = "best",
          .summary = "Show the best configuration so far, its value and checkpoint",
          .examples =
              "Examples:\n"
              "  bapi best mlp\n"
              "  bapi best mlp -f json | jq -r .checkpoint\n\n"
              "JSON: {trial, epoch, value, config, checkpoint}. epoch is where the value was reached; the checkpoint "
              "is the\ntrial's newest, null if the program left none. Before the first report the result is null (a "
              "note on\nstandard error says so) and the exit code 0.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ListingArguments>();
            parsed->declare(arguments);
            return [parsed] { return show_best(*parsed); };
          }};
}

}  // namespace bapi

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/policy/calibration.h"
#include "bapi/studies/records.h"

namespace bapi {
namespace {

int show_calibration(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  const StudyView study = study_to_show(arguments.study);
  Table table = calibration_table(calibration(study.history, study.events));
  table.head("within_50", "within 50 %").head("within_80", "within 80 %").head("within_95", "within 95 %");
  print(render(table, format));
  if (table.rows().front()[1] == 0)
    note("no predicted epoch has been reached yet (policies without a model of values predict none)");
  return kDone;
}

}  // namespace

Command calibration_command() {
  return {.name = "calibration",
          .summary = "Show how often the planner's predictions came true",
          .examples =
              "Examples:\n"
              "  bapi calibration mlp\n\n"
              "Every decision stores a prediction of the value and of the cost. The table shows what share of the "
              "outcomes\n"
              "fell into the central 50, 80 and 95 % intervals of these predictions; ideal are 0.5, 0.8 and 0.95.\n"
              "JSON: [{predicted, count, within_50, within_80, within_95}].",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ListingArguments>();
            parsed->declare(arguments);
            return [parsed] { return show_calibration(*parsed); };
          }};
}

}  // namespace bapi

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/policy/calibration.h"
#include "bapi/studies/study_view.h"

namespace bapi {
namespace {

int show_calibration(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  const StudyView study = study_to_show(arguments.study);
  const Calibration result = calibration(study.history, study.events);
  Table table({"predicted", "count", "within_50", "within_80", "within_95"});
  for (const auto& [name, c] : {std::pair{"value", result.value}, std::pair{"cost", result.cost}}) {
    if (c.count > 0) {
      table.add({name, c.count, c.within_50, c.within_80, c.within_95});
    } else {
      table.add({name, 0, Cell(), Cell(), Cell()});
    }
  }
  print(render(table, format));
  if (result.value.count == 0)
    note("no prediction has come to its epoch yet; policies without a model of values make none");
  return kDone;
}

}  // namespace

Command calibration_command() {
  return {.name = "calibration",
          .summary = "Show how often the planner's predictions came true",
          .examples =
              "Examples:\n"
              "  bapi calibration mlp\n\n"
              "Shares of the predictions stored with the decisions whose outcome fell into their central 50, 80 and\n"
              "95 % bands: of the value at the epoch looked at, and of the cost of the segment. Well calibrated means\n"
              "0.5, 0.8 and 0.95.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ListingArguments>();
            parsed->declare(arguments);
            return [parsed] { return show_calibration(*parsed); };
          }};
}

}  // namespace bapi

#include "bapi/studies/what_if.h"

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/plot_files.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

struct WhatIfArguments {
  ListingArguments listing;
  std::optional<std::string> budget;
  std::string out;
};

int show_what_if(const WhatIfArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  require(arguments.budget.has_value(), "what-if needs --budget, for example --budget 3h or --budget +1h");
  const StudyView study = study_to_show(arguments.listing.study);
  const WhatIf outlook = what_if(study, *arguments.budget);
  Table table = what_if_table(outlook);
  table.head("runs", "further trials").head("budget", with_unit("budget", study.spec().budget));
  table.head("best", "best " + study.spec().metric.name);
  print(render(table, format));
  note(outlook.ending);
  note("plot: " + write_picture(study, arguments.out, "what-if.svg", plot_what_if(study, outlook)));
  return kDone;
}

}  // namespace

Command what_if_command() {
  return {
      .name = "what-if",
      .summary = "Predict the best value with another budget",
      .examples =
          "Examples:\n"
          "  bapi what-if mlp --budget 3h       a total of three hours\n"
          "  bapi what-if mlp --budget +1h      one hour more than now\n\n"
          "Simulates the planner on its own model. Each row shows the total spent after one more trial and the best\n"
          "value expected then, with its 80 % interval. The table ends when the budget is spent or further trials\n"
          "would add almost nothing; the last row is the budget you asked for. Writes what-if.svg and changes nothing\n"
          "in the study. JSON: [{runs, budget, best, low, high}], runs being the number of further trials.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<WhatIfArguments>();
        parsed->listing.declare(arguments);
        arguments.option("-b,--budget", parsed->budget, "Total budget, or an increment: +1h");
        arguments.option("-o,--out", parsed->out, "Directory for the plot; default: plots/ in the study directory");
        return [parsed] { return show_what_if(*parsed); };
      }};
}

}  // namespace bapi

#include "bapi/studies/what_if.h"

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/plot_files.h"

namespace bapi {
namespace {

struct WhatIfArguments {
  ListingArguments listing;
  std::optional<std::string> budget;
  std::string out;
};

int show_what_if(const WhatIfArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  require(arguments.budget.has_value(), "bapi what-if needs --budget, as in --budget 3h or --budget +1h");
  const StudyView study = study_to_show(arguments.listing.study);
  const WhatIf outlook = what_if(study, *arguments.budget);
  print(render(what_if_table(outlook), format));
  note(outlook.ending);
  note("picture: " + write_picture(study, arguments.out, "what-if.svg", plot_what_if(study, outlook)));
  return kDone;
}

}  // namespace

Command what_if_command() {
  return {
      .name = "what-if",
      .summary = "Predict the best value with another budget",
      .examples =
          "Examples:\n"
          "  bapi what-if mlp --budget 3h       a total\n"
          "  bapi what-if mlp --budget +1h      more than now\n\n"
          "Rolls the planner forward on its model: after each further run, what has been spent in total and the\n"
          "best value expected then, with its 80 % band. Ends when the budget does, or when further runs add hardly\n"
          "anything; the last row is the budget that was asked for. Writes what-if.svg. Nothing is changed in the\n"
          "study. JSON: [{runs, budget, best, low, high}].",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<WhatIfArguments>();
        parsed->listing.declare(arguments);
        arguments.option("-b,--budget", parsed->budget, "Total, or +more");
        arguments.option("-o,--out", parsed->out, "Directory for the picture; default: plots/ of the study");
        return [parsed] { return show_what_if(*parsed); };
      }};
}

}  // namespace bapi

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/plot_files.h"

namespace bapi {

namespace {

struct PlotArguments {
  std::string study;
  std::string out;
};

int plot(const PlotArguments& arguments) {
  const StudyView study = study_to_show(arguments.study);
  const std::filesystem::path folder =
      arguments.out.empty() ? plot_folder(study.dir) : std::filesystem::path(arguments.out);
  for (const std::filesystem::path& path : write_plots(study, folder)) print(shown_path(path) + "\n");
  return kDone;
}

}  // namespace

Command plot_command() {
  return {.name = "plot",
          .summary = "Draw learning curves, best value over cost and budget by trial (SVG)",
          .examples =
              "Examples:\n"
              "  bapi plot mlp\n"
              "  bapi plot mlp --out figures\n\n"
              "Writes curves.svg, incumbent.svg and budget.svg and prints their paths. Works while the study runs.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<PlotArguments>();
            arguments.optional_positional("STUDY", parsed->study, kStudyHelp);
            arguments.option("-o,--out", parsed->out, "Directory to write to; default: plots/ of the study");
            return [parsed] { return plot(*parsed); };
          }};
}

}  // namespace bapi

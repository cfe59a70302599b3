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
  std::string format = "table";
};

int plot(const PlotArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const StudyView study = study_to_show(arguments.study);
  const std::filesystem::path folder =
      arguments.out.empty() ? plot_folder(study) : std::filesystem::path(arguments.out);
  Table table({"plot", "path"});
  for (const std::filesystem::path& path : write_plots(study, folder)) {
    if (format == Format::table) print(shown_path(path) + "\n");
    table.add({path.stem().string(), path.string()});
  }
  if (format != Format::table) print(render(table, format));
  return kDone;
}

}  // namespace

Command plot_command() {
  return {
      .name = "plot",
      .summary = "Plot curves, best value, costs and parameters (SVG)",
      .examples =
          "Examples:\n"
          "  bapi plot mlp\n"
          "  bapi plot mlp --out figures\n\n"
          "Writes curves.svg, incumbent.svg (best value over budget), budget.svg (what each trial cost), slices.svg\n"
          "(results over each parameter), parallel.svg (configurations as lines), cost.svg (cost against result) and\n"
          "importance.svg (which parameters matter), and metrics.NAME.svg for every other metric of the reports; "
          "prints\n"
          "their paths. Works while the study runs.\n"
          "JSON: [{plot, path}].",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<PlotArguments>();
        arguments.optional_positional("STUDY", parsed->study, kStudyHelp);
        arguments.option("-o,--out", parsed->out, "Directory to write to; default: plots/ in the study directory");
        arguments.option("-f,--format", parsed->format, "Output format: table (paths), json or csv");
        return [parsed] { return plot(*parsed); };
      }};
}

}  // namespace bapi

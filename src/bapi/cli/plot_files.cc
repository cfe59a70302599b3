#include "bapi/cli/plot_files.h"

#include <fmt/format.h>

#include <fstream>

#include "bapi/base/error.h"
#include "bapi/report/plots.h"

namespace bapi {

namespace fs = std::filesystem;

std::vector<fs::path> write_plots(const StudyView& study, const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  const std::vector<std::pair<std::string, std::string>> pictures = {
      {"curves.svg", plot_curves(study.history)},
      {"incumbent.svg", plot_incumbent(study.history, study.events)},
      {"budget.svg", plot_budget(study.history, study.events)}};
  std::vector<fs::path> paths;
  for (const auto& [name, svg] : pictures) {
    const fs::path path = folder / name;
    std::ofstream out(path, std::ios::binary);
    out << svg;
    out.close();
    if (!out) throw StoreError(fmt::format("{}: cannot be written", path.string()));
    paths.push_back(path);
  }
  return paths;
}

fs::path plot_folder(const StudyDir& dir) { return dir.root() / "plots"; }

}  // namespace bapi

#include "bapi/cli/plot_files.h"

#include "bapi/base/file.h"
#include "bapi/report/plots.h"

namespace bapi {

namespace fs = std::filesystem;

std::vector<fs::path> write_plots(const StudyView& study, const fs::path& folder) {
  make_directories(folder);
  const std::vector<std::pair<std::string, std::string>> pictures = {
      {"curves.svg", plot_curves(study.history)},
      {"incumbent.svg", plot_incumbent(study.history, study.events)},
      {"budget.svg", plot_budget(study.history, study.events)}};
  std::vector<fs::path> paths;
  for (const auto& [name, svg] : pictures) {
    replace_file(folder / name, svg);
    paths.push_back(folder / name);
  }
  return paths;
}

fs::path plot_folder(const StudyDir& dir) { return dir.root() / "plots"; }

std::string write_picture(const StudyView& study,
                          const std::string& folder,
                          const std::string& name,
                          const std::string& svg) {
  const fs::path place = folder.empty() ? plot_folder(study.dir) : fs::path(folder);
  make_directories(place);
  replace_file(place / name, svg);
  return shown_path(place / name);
}

}  // namespace bapi

#include "bapi/cli/plot_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "bapi/base/file.h"
#include "bapi/report/plots.h"

namespace bapi {

namespace fs = std::filesystem;

namespace {

// Of a picture; the name of a metric may hold what a file's may not ("val/loss").
std::string file_name(std::string picture) {
  constexpr std::size_t kLongest = 200;
  for (char& c : picture) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
  }
  return picture.substr(0, kLongest);
}

fs::path unused(const std::vector<fs::path>& taken, const fs::path& folder, const std::string& name) {
  fs::path path = folder / (name + ".svg");
  for (int number = 2; std::find(taken.begin(), taken.end(), path) != taken.end(); ++number) {
    path = folder / fmt::format("{}-{}.svg", name, number);
  }
  return path;
}

}  // namespace

std::vector<fs::path> write_plots(const StudyView& study, const fs::path& folder) {
  make_directories(folder);
  std::vector<fs::path> paths;
  for (const std::string& name : picture_names(study.history)) {
    paths.push_back(unused(paths, folder, file_name(name)));
    replace_file(paths.back(), picture(name, study.history, study.events));
  }
  return paths;
}

fs::path plot_folder(const StudyView& study) {
  return is_nowhere(study.dir) ? fs::path(study.spec().name + "-plots") : study.dir.root() / "plots";
}

std::string write_picture(const StudyView& study,
                          const std::string& folder,
                          const std::string& name,
                          const std::string& svg) {
  const fs::path place = folder.empty() ? plot_folder(study) : fs::path(folder);
  make_directories(place);
  replace_file(place / name, svg);
  return shown_path(place / name);
}

}  // namespace bapi

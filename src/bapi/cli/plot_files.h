#pragma once

#include <filesystem>
#include <vector>

#include "bapi/studies/study_view.h"

namespace bapi {

// Writes every picture of the study into `folder`, which is made if it is missing; returns their paths.
// Throws StoreError.
std::vector<std::filesystem::path> write_plots(const StudyView& study, const std::filesystem::path& folder);

std::filesystem::path plot_folder(const StudyView& study);

// Writes one picture into `folder`, or if that is empty into plots/ of the study. Returns its path as the user would
// type it. Throws StoreError.
std::string write_picture(const StudyView& study,
                          const std::string& folder,
                          const std::string& name,
                          const std::string& svg);

}  // namespace bapi

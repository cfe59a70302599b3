#pragma once

#include <filesystem>
#include <optional>

#include "bapi/studies/study_opening.h"
#include "bapi/study/spec.h"

namespace bapi {

// Reads the earlier studies of `spec.from` into `spec.earlier`, for a study that is about to be created in `own` (none:
// in memory). Says what was read in a line each. Throws InvalidInput, naming the study and what to do: there is none,
// it cannot be read, it is the study itself, its metric or goal differs and `metric` does not say that it counts all
// the same, or there is nothing to learn from it.
StudySpec with_earlier_studies(StudySpec spec, const std::optional<std::filesystem::path>& own, const Tell& tell);

// "mlp.bapi: 40 trials, 3 outside the new ranges left out, momentum not known there".
std::string earlier_text(const EarlierStudy& earlier);

}  // namespace bapi

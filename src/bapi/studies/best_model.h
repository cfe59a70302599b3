#pragma once

#include <filesystem>
#include <string>

#include "bapi/report/summary.h"
#include "bapi/store/study_dir.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/history.h"

namespace bapi {

// The files of a study's best model: the snapshot that was taken when its epoch was reported. Without one, the best
// there is: a snapshot of another epoch of the trial, or what the program saved last; the note says so.
ModelFiles best_model(const StudyDir& dir, const History& history);

// Everything that is to be known about the best model: {study, metric, goal, value, trial, epoch, checkpoint_epoch,
// checkpoint_note, parameters, cost: {trial, study, unit}, seed, trial_seed, policy, command}.
Fields model_card(const StudyView& study);

// Collects the best model in a new directory: model/ (its files), config.json, card.json and card.md. All or nothing.
// Throws InvalidInput if the directory exists and is not empty, or if there is no model; StoreError if it cannot be
// written.
void copy_best_model(const StudyView& study, const std::filesystem::path& to);

}  // namespace bapi

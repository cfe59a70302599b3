#pragma once

#include <span>
#include <string>
#include <vector>

#include "archive.h"
#include "trial.h"

namespace experiments {

// What the epochs of a training measured, oldest first: each has as many figures as every other.
using Figures = std::vector<std::vector<double>>;

// A training that can be interrupted after every epoch. Everything that an epoch changes is in `save`, so that a
// learner that was loaded continues bit by bit like one that was never interrupted.
class Learner {
 public:
  virtual ~Learner() = default;
  virtual std::vector<double> train_epoch(int epoch) = 0;                               // its figures
  virtual ReportFields report_fields(std::span<const std::vector<double>> epochs) = 0;  // of the last of these epochs
  virtual void save(ArchiveWriter& archive) = 0;
  virtual void load(ArchiveReader& archive) = 0;
};

// Trains from the checkpoint, if there is one, to the last epoch. Saves, then reports, every epoch with its cost in
// processor seconds, the checkpoint not included. An epoch that was saved but never reported is reported first. Ends
// after an epoch whose first field is not a finite number: the trial has failed. `owner` says which training this is,
// hyperparameters and seed included; a checkpoint of another one is refused. Throws std::runtime_error.
void run_training(Learner& learner,
                  const std::string& owner,
                  const TrialSettings& settings,
                  const std::string& file_name);

}  // namespace experiments

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/cli/interrupt.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/study/curve.h"

namespace bapi {

// What came of training one trial for some epochs in one process.
struct Attempt {
  std::vector<Measurement> measured = {};
  std::vector<double> seconds = {};  // from the start of the process to each of these
  std::optional<std::string> failure = {};
  FailureCause cause = FailureCause::other;  // of the failure
  Cost start_up = 0.0;  // as the program told by its ready mark, or as far as it can be told from earlier epochs
  Cost repeated = 0.0;
  bool ended_by_itself = false;        // before the last of the epochs
  bool gone_with_its_reports = false;  // all of them were first seen when the process had ended
};

// The files below the checkpoint directory, by their path relative to it.
struct CheckpointFile {
  std::uintmax_t inode = 0;
  std::filesystem::file_time_type written = {};
};
using CheckpointFiles = std::map<std::string, CheckpointFile>;

// A training program under examination: one trial of a study in a scratch directory, started as `bapi run` does.
class Patient {
 public:
  // No attempt takes longer than `timeout` seconds.
  Patient(const StudySpec& spec, const std::filesystem::path& scratch, double timeout);

  // Epochs (from, until] and nothing more.
  Attempt train(const Config& config, Epoch from, Epoch until);

  TrialDir files() const { return dir_.trial(TrialId{0}); }
  CheckpointFiles checkpoint() const;

  // Every report of all attempts, as the program wrote it.
  std::vector<ReportLine> reports() const;
  bool prints_its_reports() const;  // instead of writing them to the file for reports

 private:
  bool ends_by_itself(double start, Attempt& attempt);
  void note(const Event& fact, double seconds, Attempt& attempt) const;

  const StudySpec& spec_;
  StudyDir dir_;
  SystemClock clock_;
  InterruptFlag interrupt_;
  ProcessEvaluator evaluator_;
  Curve curve_;  // of all attempts
  double timeout_;
};

}  // namespace bapi

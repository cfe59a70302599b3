#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "bapi/report/table.h"
#include "bapi/studies/run_study.h"

namespace bapi {

enum class Verbosity { normal, quiet };

struct ControlOptions {
  Verbosity verbosity = Verbosity::normal;
  Format format = Format::table;    // of the result on standard output
  bool keep_going = false;          // record failures also before anything was reported
  std::filesystem::path home = {};  // where the programs of a new study run
  ClusterRun cluster = {};          // of a study in a database
  std::string watch = {};           // the command that shows the study in a browser; empty: it is not mentioned
};

// Runs a study with a display on standard error and Ctrl-C as its interrupt, and prints the result. `run` is run_study
// or resume_study. Returns the exit code.
int run_to_end(const std::function<StudySummary(const RunOptions&)>& run, const ControlOptions& options);

}  // namespace bapi

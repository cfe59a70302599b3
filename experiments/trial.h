#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace experiments {

// What bapi tells a training program through its environment; docs/training.md is the contract. Without bapi, what the
// command line says.
struct TrialSettings {
  int from_epoch = 0;    // the last epoch that bapi knows
  int last_epoch = 100;  // train up to here
  std::uint64_t seed = 0;
  std::filesystem::path checkpoint;  // directory; empty: keep none

  // Takes over what BAPI_FROM_EPOCH, BAPI_MAX_EPOCH, BAPI_SEED and BAPI_CHECKPOINT_DIR say. Throws std::runtime_error
  // on a value that is not a whole number.
  void read_environment();
};

// One line of a report: {"epoch": 3, "score": 12.5, "cost": 0.04}. Numbers are written so that reading gives the same
// bits; NaN and infinities as Python writes them, which bapi understands.
using ReportFields = std::vector<std::pair<std::string_view, double>>;
std::string report_line(int epoch, const ReportFields& fields);

// Appends to the file BAPI_REPORT names, or prints "bapi: {...}" without one. Throws std::runtime_error.
void report(std::string_view line);

// Processor seconds of this process so far.
double processor_seconds();

// Whole or not at all, whatever happens: written beside, made durable, renamed. Throws std::runtime_error.
void replace_file(const std::filesystem::path& file, std::string_view bytes);

// nullopt if there is no such file. Throws std::runtime_error if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& file);

}  // namespace experiments

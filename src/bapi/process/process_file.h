#pragma once

#include <filesystem>
#include <optional>

#include "bapi/base/units.h"
#include "bapi/process/process_identity.h"

namespace bapi {

// What a later controller must know about a trial's process if this one dies: how to end it, where its reports begin,
// and how much of it is in the log. Kept beside the trial while the process lives, and until the facts of its end are
// recorded. The file's modification time is the last sign of life of the controller.
struct ProcessFile {
  ProcessIdentity identity;
  double started_at = 0.0;         // seconds since the Unix epoch
  Cost spent_before = 0.0;         // everything charged to the trial when the process started
  Epoch recorded = 0;              // the trial's last epoch when the process started
  Epoch from = 0;                  // what the program was told
  Epoch until = 0;                 // what the program was told
  Epoch max_epoch = 0;             // the last epoch that may be recorded
  std::int64_t report_offset = 0;  // bytes of the report file that are older than the process
  std::int64_t log_offset = 0;     // the same of the log
  bool operator==(const ProcessFile&) const = default;
};

void write_process_file(const std::filesystem::path& file, const ProcessFile& content);  // throws StoreError

// nullopt if there is none or it was torn by a power cut.
std::optional<ProcessFile> read_process_file(const std::filesystem::path& file);

}  // namespace bapi

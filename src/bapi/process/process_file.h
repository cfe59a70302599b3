#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bapi/base/units.h"
#include "bapi/process/process_identity.h"

namespace bapi {

// What a later controller must know about a trial's process if this one dies: how to end it, where its reports begin,
// how much of it is in the log, and for how long it trained. Kept beside the trial while the process lives, and until
// the facts of its end are recorded.
//
// Time is kept as a duration, renewed in place (`renew_lived`) while the process trains. No clock and no time of a file
// is believed later, so copies, touched files and clocks that were set charge nothing.
struct ProcessFile {
  ProcessIdentity identity = {};
  ProcessIdentity guardian = {};   // who ends the process when the controller is gone
  std::string mark = {};           // NAME=value in the environment of everything this controller started
  std::string dir = {};            // of the trial, when the process was started
  Cost spent_before = 0.0;         // everything charged to the trial when the process started
  Epoch recorded = 0;              // the trial's last epoch when the process started
  Epoch paid = 0;                  // the last epoch that was charged by then; past `recorded` if it was not reported
  bool continued = false;          // an earlier process may have saved epochs that it did not report
  Epoch from = 0;                  // what the program was told
  Epoch until = 0;                 // what the program was told
  Epoch max_epoch = 0;             // the last epoch that may be recorded
  std::int64_t report_offset = 0;  // bytes of the report file that are older than the process
  std::int64_t log_offset = 0;     // the same of the log
  double lived = 0.0;              // seconds that the process trained; pauses are no part of it
  bool operator==(const ProcessFile&) const = default;
};

// All or nothing. Throws StoreError.
void write_process_file(const std::filesystem::path& file, const ProcessFile& content);

// Changes `lived` alone, in place, of a file whose `mark` and process are these. No effect if there is none such.
void renew_lived(const std::filesystem::path& file, const std::string& mark, int pid, double lived);

// nullopt if there is none or it is damaged (torn by a power cut, changed by others). What version 0.1 wrote has no
// mark and lived 0 s.
std::optional<ProcessFile> read_process_file(const std::filesystem::path& file);

}  // namespace bapi

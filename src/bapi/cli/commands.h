#pragma once

#include <vector>

#include "bapi/cli/arguments.h"

namespace bapi {

// One file per command; the order is that of the help text.
Command init_command();
Command doctor_command();
Command database_command();
Command run_command();
Command resume_command();
Command retry_command();
Command add_command();
Command pause_command();
Command stop_command();
Command note_command();
Command worker_command();
Command workers_command();
Command lead_command();
Command submit_command();
Command ls_command();
Command watch_command();
Command status_command();
Command best_command();
Command clean_command();
Command trials_command();
Command show_command();
Command ledger_command();
Command plot_command();
Command export_command();
Command policies_command();
Command explain_command();
Command plan_command();
Command what_if_command();
Command forecast_command();
Command calibration_command();
Command simulate_command();
Command compare_command();
Command report_command();
Command completion_command();
Command man_command();

std::vector<Command> all_commands();

}  // namespace bapi

#include "bapi/cli/commands.h"

#include "bapi/cli/dashboard.h"

namespace bapi {

std::vector<Command> all_commands() {
  return {init_command(),     doctor_command(),  run_command(),     resume_command(),     retry_command(),
          add_command(),      pause_command(),   stop_command(),    note_command(),       worker_command(),
          workers_command(),  lead_command(),    submit_command(),  ls_command(),         watch_command(),
          status_command(),   best_command(),    clean_command(),   trials_command(),     show_command(),
          ledger_command(),   plot_command(),    export_command(),  dashboard_command(),  policies_command(),
          explain_command(),  plan_command(),    what_if_command(), forecast_command(),   calibration_command(),
          simulate_command(), compare_command(), report_command(),  completion_command(), man_command(),
          database_command()};
}

}  // namespace bapi

#include "bapi/cli/commands.h"

namespace bapi {

std::vector<Command> all_commands() {
  return {init_command(),     doctor_command(),      run_command(),      resume_command(),  status_command(),
          best_command(),     trials_command(),      show_command(),     ledger_command(),  plot_command(),
          export_command(),   policies_command(),    explain_command(),  plan_command(),    what_if_command(),
          forecast_command(), calibration_command(), simulate_command(), compare_command(), report_command()};
}

}  // namespace bapi

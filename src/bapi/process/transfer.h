#pragma once

#include <string>
#include <vector>

namespace bapi {

// Shell commands that carry a trial's checkpoint directory to the machine that trains it, and away again. They may
// contain the macros of the training command, and see its environment (BAPI_TRIAL, BAPI_CHECKPOINT_DIR, ...).
struct Transfer {
  std::string fetch = {};  // run before a program that continues a trial
  std::string push = {};   // run after every program
  bool given() const { return !fetch.empty() || !push.empty(); }
};

// A command that fetches, runs `command`, pushes, and ends as `command` did. Where fetching fails, the program is not
// run and the exit code is 1. What is told to end by SIGTERM pushes when the program has ended; within the grace
// period, because it is killed then. Macros are left as they are.
std::vector<std::string> with_transfer(const std::vector<std::string>& command, const Transfer& transfer);

}  // namespace bapi

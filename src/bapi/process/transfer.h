#pragma once

#include <map>
#include <string>
#include <vector>

namespace bapi {

// Shell commands that carry a trial's checkpoint directory to the machine that trains it, and away again. They see the
// environment of the training program (BAPI_TRIAL, BAPI_CHECKPOINT_DIR, ...); nothing of the study becomes part of
// their text, which a shell reads.
struct Transfer {
  std::string fetch = {};  // run before a program that continues a trial
  std::string push = {};   // run after every program
  bool given() const { return !fetch.empty() || !push.empty(); }
};

// A command that fetches, runs `command`, pushes, and ends as `command` did. Where fetching fails, the program is not
// run and the exit code is 1. What is told to end by SIGTERM pushes when the program has ended; within the grace
// period, because it is killed then. It finds the two commands in these variables, which `command` does not get.
std::vector<std::string> with_transfer(const std::vector<std::string>& command);
std::map<std::string, std::string> variables_of(const Transfer& transfer);

}  // namespace bapi

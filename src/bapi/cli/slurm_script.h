#pragma once

#include <string>
#include <vector>

namespace bapi {

// A job array of Slurm whose elements all run one command: at most `workers` of them at a time, and `chain` of them,
// one after the other, in the place of each.
struct SlurmArray {
  std::string name;                       // of the job
  std::vector<std::string> command;       // an argument vector; not empty
  int workers = 1;                        // 1 or more
  int chain = 1;                          // 1 or more
  std::vector<std::string> options = {};  // of sbatch, as they are given on its command line; they come last and win
};

// Slurm's own limit of the elements of an array; a cluster's is usually lower (MaxArraySize).
inline constexpr int kMostSlurmElements = 4'000'000;

// Seconds before the end of its time at which an element gets SIGUSR1. Slurm may send it up to a minute earlier.
inline constexpr int kSlurmNotice = 120;

// The script for sbatch. The shell is replaced by the command, so that the signal reaches it; every word is quoted, for
// the shell and for Slurm's reader of options. InvalidInput if the numbers do not fit, for an option that would change
// what the script relies on (--array, --signal, --open-mode, --requeue, --wrap), and for one that no line can hold.
std::string slurm_script(const SlurmArray& array);

}  // namespace bapi

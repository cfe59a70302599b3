#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bapi {

// Which process, for all time: a pid is used again, a pid with its start time and boot is not.
struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_ticks = 0;  // since boot
  std::string boot;
  bool operator==(const ProcessIdentity&) const = default;
};

// nullopt if there is no such process, or only what is left of it (a zombie).
std::optional<ProcessIdentity> identify(int pid);

enum class Leftovers { none, ended };

// Ends what a dead controller left of a training program: every process that carries all `marks` (NAME=value) in its
// environment, and its relatives. Returns when they are gone; throws StoreError if they do not go.
Leftovers end_leftovers(const ProcessIdentity& leader, const std::vector<std::string>& marks);

}  // namespace bapi

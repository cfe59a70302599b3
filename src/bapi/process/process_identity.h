#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

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

// Ends what a dead controller left of the session that `leader` began: its process group while the leader lives, else
// the members that still carry `variable` (NAME=value) in their environment. Returns when they are gone; throws
// StoreError if they do not go.
Leftovers end_leftovers(const ProcessIdentity& leader, const std::string& variable);

}  // namespace bapi

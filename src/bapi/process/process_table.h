#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bapi/process/process_identity.h"

namespace bapi {

// One process as the system lists it (/proc/PID/stat).
struct ProcessEntry {
  int pid = 0;
  int parent = 0;
  int group = 0;
  int session = 0;
  char state = '?';
  std::uint64_t start_ticks = 0;  // since boot

  bool alive() const { return state != 'Z' && state != 'X'; }
  bool stopped() const { return state == 'T' || state == 't'; }
  bool sleeps_in_kernel() const { return state == 'D'; }
};

std::optional<ProcessEntry> process_entry(int pid);
std::vector<ProcessEntry> process_table();

// Whether every living process of a group that got SIGSTOP stands still. One that waits in the kernel for a child to
// begin a program (vfork) cannot be seen to be stopped while the child is: it stands as well.
bool group_stands(const std::vector<ProcessEntry>& table, int group);

// The direct children of a process, dead ones included; nullopt where the kernel does not list them.
std::optional<std::vector<int>> children_of(int pid);

// True if all of these (NAME=value) are in the environment that the process was started with.
bool has_variables(int pid, const std::vector<std::string>& variables);

// How to tell the processes of training programs from all others.
struct FamilyTraits {
  std::vector<ProcessIdentity> leaders;           // each began a session and a process group of its own
  std::function<bool(int pid)> marked = nullptr;  // whether a process carries their mark
  std::uint64_t since = 0;                        // none of them started before (ticks since boot)

  // A process that inherits their orphans (PR_SET_CHILD_SUBREAPER): its children outside its own session belong to
  // the family. 0: none does.
  int heir = 0;

  std::vector<int> outsiders = {};  // never members, whatever else is true of them
};

// The living members: the leaders; who is in their session or group or carries the mark; everyone who descends from a
// member; everyone in a session or group that a member began. So wrappers, `timeout`, `setsid` and daemons do not
// escape. A leader whose number belongs to another process by now counts for nothing.
std::vector<ProcessEntry> family_members(const std::vector<ProcessEntry>& table, const FamilyTraits& traits);

}  // namespace bapi

#include "bapi/process/process_identity.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/process/process_table.h"

namespace bapi {
namespace {

const std::string& current_boot() {
  static const std::string kBoot = [] {
    std::string id = read_whole_file("/proc/sys/kernel/random/boot_id").value_or("unknown");
    return id.substr(0, id.find('\n'));
  }();
  return kBoot;
}

}  // namespace

std::optional<ProcessIdentity> identify(int pid) {
  const std::optional<ProcessEntry> entry = process_entry(pid);
  if (!entry || !entry->alive()) return std::nullopt;
  return ProcessIdentity{.pid = pid, .start_ticks = entry->start_ticks, .boot = current_boot()};
}

Leftovers end_leftovers(const ProcessIdentity& leader, const std::vector<std::string>& marks) {
  constexpr int kAttempts = 500;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 10'000'000};
  if (leader.boot != current_boot()) return Leftovers::none;
  const auto marked = [&](int pid) { return has_variables(pid, marks); };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // Only what carries the marks: a copy of the study names the processes of the original.
    FamilyTraits traits = {.leaders = {}, .marked = marked, .since = leader.start_ticks, .outsiders = {::getpid()}};
    if (identify(leader.pid) == leader && marked(leader.pid)) traits.leaders.push_back(leader);
    const std::vector<ProcessEntry> left = family_members(process_table(), traits);
    if (left.empty()) return attempt == 0 ? Leftovers::none : Leftovers::ended;
    for (const ProcessEntry& entry : left) ::kill(entry.pid, SIGKILL);
    ::nanosleep(&kPause, nullptr);
  }
  throw StoreError(
      fmt::format("process group {} of a former controller does not end; end it by hand, then run again", leader.pid));
}

}  // namespace bapi

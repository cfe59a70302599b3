#include "bapi/process/process_identity.h"

#include <fmt/format.h>
#include <signal.h>
#include <time.h>

#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/base/file.h"

namespace bapi {
namespace {

// What /proc/PID/stat says, as far as we care.
struct ProcessStatus {
  char state = '?';
  int group = 0;
  int session = 0;
  std::uint64_t start_ticks = 0;
};

std::optional<ProcessStatus> status_of(int pid) {
  const std::optional<std::string> text = read_whole_file(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The name of the program stands in parentheses and may hold anything; the fields of interest follow the last one.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  ProcessStatus status;
  int parent = 0;
  fields >> status.state >> parent >> status.group >> status.session;
  std::string skipped;
  for (int field = 7; field < 22; ++field) fields >> skipped;
  fields >> status.start_ticks;
  if (!fields) return std::nullopt;
  return status;
}

bool is_gone(const ProcessStatus& status) { return status.state == 'Z' || status.state == 'X'; }

const std::string& current_boot() {
  static const std::string kBoot = [] {
    std::string id = read_whole_file("/proc/sys/kernel/random/boot_id").value_or("unknown");
    return id.substr(0, id.find('\n'));
  }();
  return kBoot;
}

bool has_variable(int pid, const std::string& variable) {
  const std::string environment = read_whole_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  return ('\0' + environment).find('\0' + variable + '\0') != std::string::npos;
}

std::vector<int> all_pids() {
  std::vector<int> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    int pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

// Members of the leader's group and session that are alive, the leader included. While one of them lives, the kernel
// does not give the group's number away; whether it did so before is told by the leader's identity or by the variable.
std::vector<int> members(const ProcessIdentity& leader, const std::string& variable) {
  const bool leader_lives = identify(leader.pid) == leader;
  std::vector<int> found;
  for (const int pid : all_pids()) {
    const std::optional<ProcessStatus> status = status_of(pid);
    if (!status || is_gone(*status) || status->group != leader.pid || status->session != leader.pid) continue;
    if (leader_lives || (status->start_ticks >= leader.start_ticks && has_variable(pid, variable)))
      found.push_back(pid);
  }
  return found;
}

}  // namespace

std::optional<ProcessIdentity> identify(int pid) {
  const std::optional<ProcessStatus> status = status_of(pid);
  if (!status || is_gone(*status)) return std::nullopt;
  return ProcessIdentity{.pid = pid, .start_ticks = status->start_ticks, .boot = current_boot()};
}

Leftovers end_leftovers(const ProcessIdentity& leader, const std::string& variable) {
  constexpr int kAttempts = 500;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 10'000'000};
  if (leader.boot != current_boot()) return Leftovers::none;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<int> left = members(leader, variable);
    if (left.empty()) return attempt == 0 ? Leftovers::none : Leftovers::ended;
    for (const int pid : left) ::kill(pid, SIGKILL);
    ::nanosleep(&kPause, nullptr);
  }
  throw StoreError(
      fmt::format("process group {} of a former controller does not end; end it by hand, then run again", leader.pid));
}

}  // namespace bapi

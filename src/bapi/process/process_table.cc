#include "bapi/process/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "bapi/base/file.h"
#include "bapi/base/number.h"

namespace bapi {
namespace {

// Without streams: a look at the whole table reads hundreds of these.
std::optional<std::string> read_small(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::vector<int> numbered_folders(const std::string& path) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (const std::optional<int> pid = number_in<int>(entry->d_name)) numbers.push_back(*pid);
  }
  return numbers;
}

std::string_view next_field(std::string_view& text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
  const std::string_view field = text.substr(0, text.find(' '));
  text.remove_prefix(field.size());
  return field;
}

class FamilySearch {
 public:
  FamilySearch(const std::vector<ProcessEntry>& table, const FamilyTraits& traits) : table_(table), traits_(traits) {
    for (const ProcessIdentity& leader : traits.leaders) {
      if (!number_is_reused(leader)) numbers_.insert(leader.pid);
    }
    for (const ProcessEntry& entry : table) {
      if (entry.pid == traits.heir) heir_session_ = entry.session;
    }
  }

  std::vector<ProcessEntry> run() {
    while (add_relatives()) {
    }
    if (traits_.marked && add_marked()) {
      while (add_relatives()) {
      }
    }
    std::vector<ProcessEntry> living;
    for (const ProcessEntry& entry : table_) {
      if (members_.contains(entry.pid) && entry.alive()) living.push_back(entry);
    }
    return living;
  }

 private:
  bool number_is_reused(const ProcessIdentity& leader) const {
    return std::any_of(table_.begin(), table_.end(), [&](const ProcessEntry& entry) {
      return entry.pid == leader.pid && entry.start_ticks != leader.start_ticks;
    });
  }

  bool may_join(const ProcessEntry& entry) const {
    const std::vector<int>& outsiders = traits_.outsiders;
    return !members_.contains(entry.pid) && entry.start_ticks >= traits_.since &&
           std::find(outsiders.begin(), outsiders.end(), entry.pid) == outsiders.end();
  }

  bool is_orphan(const ProcessEntry& entry) const {
    return heir_session_ && entry.parent == traits_.heir && entry.session != *heir_session_;
  }

  bool is_relative(const ProcessEntry& entry) const {
    return numbers_.contains(entry.pid) || numbers_.contains(entry.parent) || numbers_.contains(entry.session) ||
           numbers_.contains(entry.group) || is_orphan(entry);
  }

  bool add_relatives() {
    const std::size_t before = members_.size();
    for (const ProcessEntry& entry : table_) {
      if (may_join(entry) && is_relative(entry)) add(entry);
    }
    return members_.size() > before;
  }

  bool add_marked() {
    const std::size_t before = members_.size();
    for (const ProcessEntry& entry : table_) {
      if (may_join(entry) && entry.alive() && traits_.marked(entry.pid)) add(entry);
    }
    return members_.size() > before;
  }

  void add(const ProcessEntry& entry) {
    members_.insert(entry.pid);
    numbers_.insert(entry.pid);
  }

  const std::vector<ProcessEntry>& table_;
  const FamilyTraits& traits_;
  std::set<int> members_;
  std::set<int> numbers_;  // of members and leaders: whose children, sessions and groups belong to the family
  std::optional<int> heir_session_;
};

}  // namespace

// The name of the program stands in parentheses and may hold anything; the fields of interest follow the last one.
std::optional<ProcessEntry> process_entry(int pid) {
  const std::optional<std::string> text = read_small(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 1);
  const std::string_view state = next_field(rest);
  const std::optional<int> parent = number_in<int>(next_field(rest));
  const std::optional<int> group = number_in<int>(next_field(rest));
  const std::optional<int> session = number_in<int>(next_field(rest));
  for (int field = 7; field < 22; ++field) next_field(rest);
  const std::string_view ticks = next_field(rest);
  ProcessEntry entry;
  if (state.size() != 1 || !parent || !group || !session) return std::nullopt;
  if (std::from_chars(ticks.data(), ticks.data() + ticks.size(), entry.start_ticks).ec != std::errc()) {
    return std::nullopt;
  }
  entry.pid = pid;
  entry.parent = *parent;
  entry.group = *group;
  entry.session = *session;
  entry.state = state.front();
  return entry;
}

std::vector<ProcessEntry> process_table() {
  std::vector<ProcessEntry> table;
  for (const int pid : numbered_folders("/proc")) {
    if (const std::optional<ProcessEntry> entry = process_entry(pid)) table.push_back(*entry);
  }
  return table;
}

bool group_stands(const std::vector<ProcessEntry>& table, int group) {
  const auto has_stopped_child = [&](const ProcessEntry& parent) {
    return std::ranges::any_of(
        table, [&](const ProcessEntry& entry) { return entry.parent == parent.pid && entry.stopped(); });
  };
  return std::ranges::none_of(table, [&](const ProcessEntry& entry) {
    if (entry.group != group || !entry.alive() || entry.stopped()) return false;
    return !entry.sleeps_in_kernel() || !has_stopped_child(entry);
  });
}

std::optional<std::vector<int>> children_of(int pid) {
  const std::vector<int> threads = numbered_folders(fmt::format("/proc/{}/task", pid));
  if (threads.empty()) return std::nullopt;
  std::vector<int> children;
  for (const int thread : threads) {
    const std::optional<std::string> text = read_small(fmt::format("/proc/{}/task/{}/children", pid, thread));
    if (!text) return std::nullopt;
    std::istringstream numbers(*text);
    for (int child = 0; numbers >> child;) children.push_back(child);
  }
  return children;
}

bool has_variables(int pid, const std::vector<std::string>& variables) {
  const std::string environment = '\0' + read_small(fmt::format("/proc/{}/environ", pid)).value_or("");
  return std::all_of(variables.begin(), variables.end(), [&](const std::string& variable) {
    return environment.find('\0' + variable + '\0') != std::string::npos;
  });
}

std::vector<ProcessEntry> family_members(const std::vector<ProcessEntry>& table, const FamilyTraits& traits) {
  return FamilySearch(table, traits).run();
}

}  // namespace bapi

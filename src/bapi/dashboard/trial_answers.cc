#include "bapi/dashboard/trial_answers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/utf8.h"
#include "bapi/dashboard/chart_answers.h"
#include "bapi/dashboard/decision_answers.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"
#include "bapi/studies/records.h"

namespace bapi {
namespace {

constexpr std::size_t kMostRows = 100'000;

// What rows are sorted by: a column, or a parameter as config.NAME. null for what is missing.
Cell sort_key(const std::vector<Cell>& row, const std::vector<std::string>& columns, const std::string& key) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == key) return row[i];
    if (columns[i] == "config" && key.starts_with("config.")) {
      const auto found = row[i].find(key.substr(7));
      return found == row[i].end() ? Cell() : *found;
    }
  }
  throw InvalidInput(fmt::format("sort: there is no column {}", visible_line(clipped(key, 40))));
}

bool precedes(const Cell& a, const Cell& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_string() && b.is_string()) return a.get_ref<const std::string&>() < b.get_ref<const std::string&>();
  return a.is_number() && !b.is_number();
}

void sort_trials(std::vector<std::vector<Cell>>& rows, const std::vector<std::string>& columns, std::string key) {
  const bool descending = key.starts_with('-');
  if (descending) key.erase(0, 1);
  std::vector<std::pair<Cell, std::size_t>> order;
  for (std::size_t i = 0; i < rows.size(); ++i) order.emplace_back(sort_key(rows[i], columns, key), i);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first.is_null() || b.first.is_null()) return !a.first.is_null() && b.first.is_null();
    return descending ? precedes(b.first, a.first) : precedes(a.first, b.first);
  });
  std::vector<std::vector<Cell>> sorted;
  for (const auto& [key_cell, i] : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

// ---- Files of a trial, below the study's own directory: no link is followed anywhere on the way.

FileDescriptor open_below(const FileDescriptor& parent, const std::string& name, int flags) {
  return FileDescriptor(::openat(parent.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

FileDescriptor open_trial(const ShownStudy& study, TrialId trial) {
  const FileDescriptor root(::open(study.dir.root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  const FileDescriptor trials = open_below(root, "trials", O_RDONLY | O_DIRECTORY);
  if (!trials) return {};
  return open_below(trials, study.dir.trial(trial).root.filename().string(), O_RDONLY | O_DIRECTORY);
}

Cell checkpoint_files(const ShownStudy& study, TrialId trial) {
  constexpr std::size_t kMostFiles = 100;
  std::vector<Cell> files;
  const FileDescriptor dir = open_trial(study, trial);
  if (!dir) return files;
  const FileDescriptor checkpoint = open_below(dir, "checkpoint", O_RDONLY | O_DIRECTORY);
  const int descriptor = checkpoint ? ::fcntl(checkpoint.get(), F_DUPFD_CLOEXEC, 0) : -1;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(descriptor < 0 ? nullptr : ::fdopendir(descriptor), &::closedir);
  while (list && files.size() < kMostFiles) {
    const dirent* entry = ::readdir(list.get());
    if (!entry) break;
    struct stat status {};
    if (::fstatat(checkpoint.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    files.emplace_back(Fields{{"name", well_formed(entry->d_name)}, {"bytes", status.st_size}});
  }
  std::ranges::sort(files, {}, [](const Cell& file) { return file["name"].get<std::string>(); });
  return files;
}

}  // namespace

Fields trials_page(const ShownStudy& study, const HttpQuery& query) {
  const Table table = trials_table(study.history, study.controller);
  const std::string_view state = parameter_of(query, "state");
  const std::string_view text = parameter_of(query, "q");
  std::vector<std::vector<Cell>> rows;
  for (const std::vector<Cell>& row : table.rows()) {
    if (!state.empty() && row[1] != state) continue;
    if (!text.empty()) {
      const std::string all = fmt::format("{} {} {}", row[0].dump(), row[1].get<std::string>(), to_text(row[5]));
      if (all.find(text) == std::string::npos) continue;
    }
    rows.push_back(row);
  }
  const std::string_view key = parameter_of(query, "sort");
  if (!key.empty()) sort_trials(rows, table.columns(), std::string(key));
  const auto total = std::ssize(rows);
  const auto begin = std::min(integer_in(query, "cursor", 0, 0, std::numeric_limits<std::int64_t>::max()), total);
  const auto end = std::min(begin + integer_in(query, "limit", 200, 1, kMostRows), total);
  Table page(table.columns());
  for (auto i = begin; i < end; ++i) page.add(std::move(rows[static_cast<std::size_t>(i)]));
  return {{"trials", list_of(page)}, {"total", total}, {"next", end < total ? Cell(end) : Cell()}};
}

Fields trial_page(const ShownStudy& study, const Trial& trial) {
  const std::vector<StoredEvent> events = study.log.events_of(trial.id, study.history);
  Fields record = trial_record(study, trial, events);
  for (const char* path : {"log", "report", "checkpoint"}) record.erase(path);
  record.emplace_back(
      "segment", trial.segment ? Cell(Fields{{"from", trial.segment->from}, {"until", trial.segment->until}}) : Cell());
  record.emplace_back("spending", spending_cell(spending(ledger(events))));
  record.emplace_back("decisions", decisions_about(study, trial.id));
  record.emplace_back("files", checkpoint_files(study, trial.id));
  return record;
}

Fields log_page(const ShownStudy& study, const Trial& trial, const HttpQuery& query) {
  const std::int64_t most = integer_in(query, "bytes", 64 * 1024, 1, 256 * 1024);
  Fields empty = {{"text", ""}, {"from", 0}, {"to", 0}, {"size", 0}};
  const FileDescriptor dir = open_trial(study, trial.id);
  if (!dir) return empty;
  const FileDescriptor file = open_below(dir, "log", O_RDONLY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return empty;
  const auto size = static_cast<std::int64_t>(status.st_size);
  const std::int64_t to =
      std::min(size, integer_in(query, "before", size, 0, std::numeric_limits<std::int64_t>::max()));
  const std::int64_t from = std::max<std::int64_t>(0, to - most);
  std::string text(static_cast<std::size_t>(to - from), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(from));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return {{"text", well_formed(text)}, {"from", from}, {"to", to}, {"size", size}};
}

}  // namespace bapi

#include "bapi/store/mailbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>

#include "bapi/base/file.h"
#include "bapi/store/study_dir.h"

namespace bapi {
std::string Mailbox::new_id(double now) {
  static std::atomic<int> count = 0;
  const auto microseconds = static_cast<std::int64_t>(std::max(0.0, now) * 1e6);
  return fmt::format("{:014x}-{:x}-{:x}", microseconds, ::getpid(), count.fetch_add(1));
}

bool Mailbox::is_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '.' &&
         text.find_first_not_of("0123456789abcdef-.") == std::string_view::npos;
}

std::filesystem::path FolderMailbox::file(const std::string& id) const { return folder_ / (id + ending_); }

void FolderMailbox::put(const std::string& id, std::string_view text) const {
  make_directories(folder_);
  require_own_directory(folder_);
  replace_file(file(id), text);
}

std::vector<std::string> FolderMailbox::ids() const {
  std::vector<std::string> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator it(folder_, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string id = it->path().stem().string();
    if (it->path().extension() == ending_ && is_id(id)) found.push_back(id);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool FolderMailbox::has(const std::string& id) const {
  std::error_code ignored;
  return std::filesystem::exists(file(id), ignored);
}

std::optional<std::string> FolderMailbox::read(const std::string& id) const {
  const FileDescriptor letter = open_regular(file(id), O_RDONLY);
  if (!letter) return std::nullopt;
  std::string text(largest_ + 1, '\0');  // one more tells a letter that is too large
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(letter.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length > largest_) return std::nullopt;
  text.resize(length);
  return text;
}

void FolderMailbox::remove(const std::string& id) const {
  std::error_code ignored;
  std::filesystem::remove(file(id), ignored);
}

void FolderMailbox::remove_older_than(double seconds) const {
  for (const std::string& id : ids()) {
    std::error_code failed;
    const auto written = std::filesystem::last_write_time(file(id), failed);
    const std::chrono::duration<double> age = std::filesystem::file_time_type::clock::now() - written;
    if (!failed && age.count() > seconds) remove(id);
  }
}

}  // namespace bapi

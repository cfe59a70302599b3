#include "bapi/store/inbox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "bapi/base/file.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

constexpr std::size_t kLargestRequest = std::size_t{1} << 20;
constexpr const char* kEnding = ".json";

std::vector<std::filesystem::path> request_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() == kEnding) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

void Inbox::put(ConfigEnqueued request, double now) const {
  static std::atomic<int> count = 0;
  make_directories(dir_);
  require_own_directory(dir_);
  request.id = fmt::format("{:017.6f}-{}-{}", now, ::getpid(), count++);
  replace_file(dir_ / (request.id + kEnding), encode(Event(request)));
}

std::vector<ConfigEnqueued> Inbox::waiting(const std::set<std::string>& recorded) const {
  std::vector<ConfigEnqueued> requests;
  for (const std::filesystem::path& file : request_files(dir_)) {
    if (recorded.contains(file.stem().string())) continue;
    const std::optional<std::string> text = read_whole_file(file, kLargestRequest);
    if (!text) continue;
    try {
      const Event event = decode_event(*text);
      const auto* request = std::get_if<ConfigEnqueued>(&event);
      if (request && request->id == file.stem().string()) requests.push_back(*request);
    } catch (const InvalidInput&) {
    }
  }
  return requests;
}

void Inbox::clear(const std::set<std::string>& recorded) const {
  std::error_code ignored;
  for (const std::filesystem::path& file : request_files(dir_)) {
    if (recorded.contains(file.stem().string())) std::filesystem::remove(file, ignored);
  }
}

}  // namespace bapi

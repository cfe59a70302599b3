#include "bapi/dashboard/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

namespace bapi {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 2;
constexpr std::chrono::seconds kBetweenScans{1};
constexpr std::chrono::seconds kBetweenAsking{10};  // a database
constexpr std::size_t kMostEntries = 10'000;        // of one directory: a data set is no place for studies

std::string id_of(const StudyPlace& place) {
  std::string id = place.name();
  for (char& c : id) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return id.empty() || id.front() == '.' ? "study" + id : id;
}

}  // namespace

Catalogue::Catalogue(Places places) : places_(std::move(places)) {
  look();
  reader_ = std::thread([this] { read_new_ones(); });
}

Catalogue::~Catalogue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  reader_.join();
}

void Catalogue::look() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (looked_ != decltype(looked_){} && now - looked_ < kBetweenScans) return;
  looked_ = now;
  for (const StudyPlace& place : places_.studies) add(place);
  if (looked_into_databases_ == decltype(looked_into_databases_){} || now - looked_into_databases_ >= kBetweenAsking) {
    looked_into_databases_ = now;
    for (const DatabaseUrl& database : places_.databases) look_into(database);
  }
  for (const fs::path& directory : places_.directories) scan(directory, kLevels);
  if (!unread_.empty()) return;
  for (const std::shared_ptr<LiveStudy>& study : studies_) {
    if (!study->trouble().empty()) unread_.push_back(study);  // it may be readable by now
  }
  if (!unread_.empty()) wake_.notify_all();
}

void Catalogue::scan(const fs::path& directory, int levels) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end; it.increment(failed)) {
    if (entries.size() >= kMostEntries) break;
    std::error_code ignored;
    if (it->is_directory(ignored)) entries.push_back(it->path());
  }
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    if (entry.extension() == ".bapi") {
      if (const StudyDir dir(entry); is_study(dir)) add(dir);
    } else if (levels > 1 && !entry.filename().string().starts_with('.')) {
      scan(entry, levels - 1);
    }
  }
}

// A database that cannot be reached now is asked again.
void Catalogue::look_into(const DatabaseUrl& database) {
  try {
    for (const StudyPlace& place : studies_of(database)) add(place);
  } catch (const StoreError&) {
  }
}

void Catalogue::add(const StudyPlace& place) {
  const auto known = [&](const auto& study) { return study->place() == place; };
  if (std::any_of(studies_.begin(), studies_.end(), known)) return;
  const std::string name = id_of(place);
  std::string id = name;
  const auto taken = [&](const auto& study) { return study->id() == id; };
  for (int i = 2; std::any_of(studies_.begin(), studies_.end(), taken); ++i) id = fmt::format("{}-{}", name, i);
  studies_.push_back(std::make_shared<LiveStudy>(id, place));
  unread_.push_back(studies_.back());
  ++version_;
  wake_.notify_all();
}

void Catalogue::read_new_ones() {
  while (true) {
    std::shared_ptr<LiveStudy> study;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || !unread_.empty(); });
      if (ending_) return;
      study = unread_.front();
      unread_.pop_front();
    }
    const bool first = !study->is_read();
    const std::string trouble = study->trouble();
    study->follow();
    const std::lock_guard lock(mutex_);
    if (first || study->trouble() != trouble) ++version_;  // lists that named it as it was ask again
  }
}

std::vector<std::shared_ptr<LiveStudy>> Catalogue::studies() const {
  const std::lock_guard lock(mutex_);
  return studies_;
}

std::shared_ptr<LiveStudy> Catalogue::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(studies_.begin(), studies_.end(), [&](const auto& s) { return s->id() == id; });
  return found == studies_.end() ? nullptr : *found;
}

std::vector<std::string> Catalogue::searched() const {
  std::vector<std::string> places;
  for (const fs::path& directory : places_.directories) places.push_back(shown_path(fs::absolute(directory)));
  for (const StudyPlace& place : places_.studies) places.push_back(place.shown());
  for (const DatabaseUrl& database : places_.databases) places.push_back(database.shown());
  return places;
}

int Catalogue::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace bapi

#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bapi/dashboard/live_study.h"

namespace bapi {

// The studies that a dashboard shows: those named, those of databases, and those found in directories, two levels deep.
// New ones are found as they appear. A study keeps its id while the program runs; ids consist of letters, digits, dots,
// dashes and underscores, and are looked up, never made into paths.
class Catalogue {
 public:
  struct Places {
    std::vector<std::filesystem::path> directories = {};
    std::vector<StudyPlace> studies = {};
    std::vector<DatabaseUrl> databases = {};
  };
  explicit Catalogue(Places places);
  ~Catalogue();

  // Looks for new studies, unless that was done within the last second; they are read in a thread of their own.
  void look();

  std::vector<std::shared_ptr<LiveStudy>> studies() const;
  std::shared_ptr<LiveStudy> find(std::string_view id) const;  // nullptr if there is none
  std::vector<std::string> searched() const;                   // for people: where studies are looked for
  int version() const;                                         // changes with the list

 private:
  void add(const StudyPlace& place);
  void look_into(const DatabaseUrl& database);
  void scan(const std::filesystem::path& directory, int levels);
  void read_new_ones();

  const Places places_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<LiveStudy>> studies_;
  std::deque<std::shared_ptr<LiveStudy>> unread_;
  std::chrono::steady_clock::time_point looked_{};
  std::chrono::steady_clock::time_point looked_into_databases_{};
  int version_ = 0;
  bool ending_ = false;
  std::thread reader_;
};

}  // namespace bapi

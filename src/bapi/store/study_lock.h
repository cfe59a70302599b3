#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace bapi {

// One controller per study: an exclusive lock on the file `lock` in the study's directory. The kernel releases it when
// the process is gone, however it died. Training processes do not inherit it.
class StudyLock {
 public:
  struct Holder {
    int pid = 0;
    std::string host = {};
    bool operator==(const Holder&) const = default;
  };

  // Throws StoreError that names the holder if there is one, or if the directory cannot be written.
  static StudyLock take(const std::filesystem::path& directory);

  // Who drives the study now; nullopt if nobody does. Takes no lock, so that asking never stands in anyone's way.
  static std::optional<Holder> holder(const std::filesystem::path& directory);

  StudyLock(StudyLock&& other) noexcept;
  StudyLock& operator=(StudyLock&& other) noexcept;
  ~StudyLock();

 private:
  explicit StudyLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace bapi

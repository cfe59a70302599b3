#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "bapi/store/leadership.h"

namespace bapi {

// One controller per study: an exclusive lock on the file `lock` in the study's directory. The kernel releases it when
// the process is gone, however it died. Training processes do not inherit it.
class StudyLock : public Leadership {
 public:
  using Holder = Leader;

  // Throws StoreError that names the holder if there is one, or if the directory cannot be written. A lock whose holder
  // is gone is about to be free (a child that it was starting still has it): that is waited for, up to a second.
  static StudyLock take(const std::filesystem::path& directory);

  // Who drives the study now; nullopt if nobody does. Takes no lock, so that asking never stands in anyone's way.
  static std::optional<Holder> holder(const std::filesystem::path& directory);

  // LeadershipLost if the file was removed or replaced since: somebody else may hold a lock on the new one.
  void check_held() const override;

  StudyLock(StudyLock&& other) noexcept;
  StudyLock& operator=(StudyLock&& other) noexcept;
  ~StudyLock() override;

 private:
  StudyLock(int fd, std::filesystem::path file) : fd_(fd), file_(std::move(file)) {}
  int fd_;
  std::filesystem::path file_;
};

}  // namespace bapi

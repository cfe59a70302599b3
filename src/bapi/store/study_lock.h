#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "bapi/base/file.h"
#include "bapi/store/leadership.h"

namespace bapi {

// One controller per study: an exclusive lock on the file `lock` in the study's directory. The kernel releases it when
// the process is gone, however it died. Training processes do not inherit it.
class StudyLock : public Leadership {
 public:
  using Holder = Leader;

  // Throws StoreError that names the holder if there is one, if the directory cannot be written, or if something other
  // than a regular file is in the place of the lock; that is never waited for or followed. A lock whose holder
  // was killed is about to be free (a child that it was starting may still have it): that is waited for, up to half
  // a minute.
  static StudyLock take(const std::filesystem::path& directory);

  // Who drives the study now; nullopt if nobody does. Takes no lock, so that asking never stands in anyone's way.
  static std::optional<Holder> holder(const std::filesystem::path& directory);

  // LeadershipLost if the file was removed or replaced since: somebody else may hold a lock on the new one.
  void check_held() const override;

 private:
  StudyLock(FileDescriptor fd, std::filesystem::path file) : fd_(std::move(fd)), file_(std::move(file)) {}
  FileDescriptor fd_;
  std::filesystem::path file_;
};

}  // namespace bapi

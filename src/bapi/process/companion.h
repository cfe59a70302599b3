#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bapi/process/subprocess.h"

namespace bapi {

// Another bapi beside this process: the worker of one that leads, the leader of one that trains. It stays in this
// process's session, and is told to leave (SIGTERM) when this process ends, however that ends.
class Companion {
 public:
  // Begins it; its output is appended to `log`. Throws StoreError if it cannot be run.
  Companion(const std::vector<std::string>& command, const std::filesystem::path& log);
  ~Companion();  // tells it to leave, waits a moment, and kills it
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  // How it ended; nullopt while it runs.
  const std::optional<Exit>& look();

  void tell_to_leave();       // once
  void wait(double seconds);  // until it has ended, or the time is over

 private:
  Subprocess process_;
  std::optional<Exit> exit_;
  bool told_ = false;
};

}  // namespace bapi

#pragma once

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace experiments {

// A directory of the test's own.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "experiments-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A scratch directory whose file `report` is what BAPI_REPORT names.
class ReportingScratch : public ScratchDirectory {
 public:
  ReportingScratch() { ::setenv("BAPI_REPORT", (path() / "report").c_str(), 1); }
  ~ReportingScratch() { ::unsetenv("BAPI_REPORT"); }

  // The epochs reported since the last call, without the cost, which is time.
  std::vector<std::string> new_reports() {
    std::ifstream file(path() / "report");
    std::vector<std::string> lines;
    std::string line;
    for (int number = 0; std::getline(file, line); ++number) {
      if (number < seen_) continue;
      ++seen_;
      if (line.find("epoch") != std::string::npos) lines.push_back(line.substr(0, line.find(", \"cost\"")));
    }
    return lines;
  }

 private:
  int seen_ = 0;
};

// The length of the text with which a checkpoint begins, the owner, and of its own length before it.
inline std::size_t owner_bytes(const std::string& checkpoint) {
  std::uint64_t length = 0;
  std::memcpy(&length, checkpoint.data(), sizeof length);
  return sizeof length + length;
}

}  // namespace experiments

#include "bapi/process/script.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "bapi/base/file.h"

namespace bapi {
namespace {

constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "ksh", "zsh"};

// The first line with its carriage return, if it has one; empty if the file cannot be read.
std::string first_line(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return "";
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 512> begin{};
  const ssize_t count = fd ? ::read(fd.get(), begin.data(), begin.size()) : 0;
  const std::string text(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  return text.substr(0, text.find('\n'));
}

std::string conversion(const std::string& file) { return fmt::format("convert them with  sed -i 's/\\r$//' {}", file); }

}  // namespace

std::optional<std::string> script_mistake(const std::string& program,
                                          const std::vector<std::string>& arguments,
                                          const std::filesystem::path& directory) {
  const std::string file = (directory / program).lexically_normal().string();
  const std::string line = first_line(file);
  if (line.starts_with("#!") && line.ends_with('\r')) {
    return fmt::format("'{}' has Windows line endings, so that its interpreter '{}\\r' is not found; {}",
                       program,
                       line.substr(2, line.size() - 3),
                       conversion(file));
  }
  const std::string name = std::filesystem::path(program).filename().string();
  if (arguments.size() < 2 || std::find(kShells.begin(), kShells.end(), name) == kShells.end()) return std::nullopt;
  const std::string script = (directory / arguments[1]).lexically_normal().string();
  if (arguments[1].starts_with('-') || !first_line(script).ends_with('\r')) return std::nullopt;
  return fmt::format(
      "'{}' has Windows line endings, which {} does not understand; {}", arguments[1], name, conversion(script));
}

}  // namespace bapi

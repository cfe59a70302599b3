#include "bapi/studies/provenance.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bapi/base/clock.h"
#include "bapi/base/file.h"
#include "bapi/base/split.h"
#include "bapi/process/subprocess.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestGitFile = std::size_t{1} << 24;  // packed-refs of a large project

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string first_line(const fs::path& file) {
  const std::string text = read_whole_file(file, kLargestGitFile).value_or("");
  return std::string(trim(text.substr(0, text.find('\n'))));
}

// What follows `begin` in a line of that form; empty otherwise.
std::string after(const std::string& line, std::string_view begin) {
  return line.starts_with(begin) ? line.substr(begin.size()) : "";
}

// The repository's own directory; a work tree or submodule has a file that says where it is.
fs::path git_directory(fs::path directory) {
  std::error_code error;
  while (!directory.empty()) {
    const fs::path candidate = directory / ".git";
    if (fs::is_directory(candidate, error)) return candidate;
    if (const std::string elsewhere = after(first_line(candidate), "gitdir: "); !elsewhere.empty()) {
      return (directory / elsewhere).lexically_normal();
    }
    if (directory == directory.parent_path()) break;
    directory = directory.parent_path();
  }
  return {};
}

// A work tree shares the branches of its repository.
fs::path shared_directory(const fs::path& git) {
  const std::string common = first_line(git / "commondir");
  return common.empty() ? git : (git / common).lexically_normal();
}

std::string packed_commit(const fs::path& git, const std::string& branch) {
  for (const std::string& line : split(read_whole_file(git / "packed-refs", kLargestGitFile).value_or(""), '\n')) {
    if (line.ends_with(" " + branch)) return line.substr(0, line.find(' '));
  }
  return "";
}

}  // namespace

std::string git_commit(fs::path directory) {
  std::error_code error;
  if (directory.empty()) directory = fs::current_path(error);
  const fs::path git = git_directory(fs::absolute(directory, error));
  if (git.empty()) return "";
  std::string commit = first_line(git / "HEAD");
  if (const std::string branch = after(commit, "ref: "); !branch.empty()) {
    const fs::path shared = shared_directory(git);
    commit = first_line(shared / branch);
    if (commit.empty()) commit = packed_commit(shared, branch);
  }
  return is_commit(commit) ? commit : "";
}

// Only the exit code is looked at: 1 tells a difference. What a repository may configure to be run is left out.
std::optional<bool> git_is_dirty(const fs::path& directory) {
  constexpr double kPatience = 2.0;  // seconds
  std::vector<std::string> environment = {"GIT_OPTIONAL_LOCKS=0"};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  std::error_code error;
  auto launched = Subprocess::launch(
      {.arguments =
           {"git", "-c", "core.fsmonitor=false", "diff", "--no-ext-diff", "--no-textconv", "--quiet", "HEAD", "--"},
       .environment = std::move(environment),
       .output = "/dev/null",
       .directory = directory.empty() ? fs::current_path(error) : directory,
       .session = Launch::Session::of_this_process});
  auto* git = std::get_if<Subprocess>(&launched);
  if (git == nullptr || git->begin()) return std::nullopt;
  const SystemClock clock;
  const double deadline = clock.now() + kPatience;
  std::optional<Exit> exit;
  while (!(exit = git->poll_exit()) && clock.now() < deadline) {
    pollfd end{.fd = git->descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&end, 1, 50);
  }
  if (!exit || exit->signal != 0 || exit->code > 1) return std::nullopt;
  return exit->code == 1;
}

Provenance provenance_of(const std::string& version, const fs::path& directory) {
  Provenance provenance{.bapi = version, .commit = git_commit(directory)};
  if (!provenance.commit.empty()) provenance.dirty = git_is_dirty(directory);
  utsname system = {};
  if (::uname(&system) == 0) {
    provenance.host = system.nodename;
    provenance.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  return provenance;
}

}  // namespace bapi

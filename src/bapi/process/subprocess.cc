#include "bapi/process/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "bapi/base/error.h"
#include "bapi/process/script.h"

namespace bapi {
namespace {

constexpr int kFirstFree = 3;  // above standard input, output and error

// Kept clear of 0, 1 and 2 even if this process was started with one of them closed.
FileDescriptor above_standard(int fd) {
  if (fd < 0 || fd >= kFirstFree) return FileDescriptor(fd);
  const FileDescriptor low(fd);
  return FileDescriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstFree));
}

FileDescriptor open_null(int flags) { return above_standard(::open("/dev/null", flags | O_CLOEXEC)); }

// Blocking, although a link, a FIFO or a device is refused: the flags of the open file are the program's too.
FileDescriptor open_output(const std::filesystem::path& path) {
  if (path.empty()) return open_null(O_WRONLY);
  const FileDescriptor file = open_regular(path, O_WRONLY | O_CREAT | O_APPEND);
  if (!file) return FileDescriptor(-1);
  ::fcntl(file.get(), F_SETFL, O_APPEND);
  return FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, kFirstFree));
}

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  Pipe pipe{above_standard(ends[0]), above_standard(ends[1])};
  if (!pipe.read || !pipe.write) return std::nullopt;
  return pipe;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

bool is_program(const std::string& path) {
  std::error_code ignored;
  return ::access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, ignored);
}

// The file to execute, or nullopt if PATH has none of that name.
std::optional<std::string> find_program(const std::string& name, const std::filesystem::path& directory) {
  if (name.find('/') != std::string::npos) return name;
  const char* variable = ::getenv("PATH");
  std::string_view path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    const std::string candidate = (folder.empty() ? std::string(".") : std::string(folder)) + "/" + name;
    if (is_program(directory / candidate)) return candidate;
    if (colon == std::string_view::npos) return std::nullopt;
    path.remove_prefix(colon + 1);
  }
}

// What to do about a program that the system refuses to run.
std::string advice(int error, const std::filesystem::path& file) {
  std::error_code ignored;
  if (error == ENOEXEC) return " (a script needs a first line such as #!/usr/bin/env python3)";
  if (error != EACCES || !std::filesystem::is_regular_file(file, ignored)) return "";
  return fmt::format(" (make it executable: chmod +x {})", file.string());
}

// Everything the child needs, made before the fork: between fork and exec nothing may allocate.
struct ChildPlan {
  const char* program;
  const char* directory;  // null: where this process is
  char* const* arguments;
  char* const* environment;
  int input;
  int output;
  int gate;
  int error;
  pid_t parent;
  bool own_session;
  int death_signal;
};

[[noreturn]] void give_up(const ChildPlan& plan, int error) {
  [[maybe_unused]] const ssize_t ignored = ::write(plan.error, &error, sizeof error);
  ::_exit(127);
}

void restore_signals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  if (plan.own_session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  ::prctl(PR_SET_PDEATHSIG, plan.death_signal);
  if (::getppid() != plan.parent) ::_exit(127);  // it died before the line above took effect
  restore_signals();
  ::dup2(plan.input, STDIN_FILENO);
  ::dup2(plan.output, STDOUT_FILENO);
  ::dup2(plan.output, STDERR_FILENO);
  ::syscall(SYS_close_range, kFirstFree, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  char go = 0;
  ssize_t got = 0;
  do {
    got = ::read(plan.gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);
  if (plan.directory && ::chdir(plan.directory) != 0) give_up(plan, errno);
  ::execve(plan.program, plan.arguments, plan.environment);
  give_up(plan, errno);
}

Subprocess::Failure failure(std::string_view what, int error) {
  return {.message = fmt::format("{}: {}", what, std::strerror(error)), .error = error};
}

std::string_view signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? name : "?";
}

// What is to be run, or why it cannot be.
std::variant<std::string, Subprocess::Failure> program_of(const Launch& launch) {
  using Failure = Subprocess::Failure;
  const std::string& name = launch.arguments.front();
  std::error_code ignored;
  if (!launch.directory.empty() && !std::filesystem::is_directory(launch.directory, ignored)) {
    return Failure{
        .message = fmt::format("cannot run '{}' in {}: there is no such directory", name, launch.directory.string())};
  }
  const std::optional<std::string> program = find_program(name, launch.directory);
  if (!program) return Failure{.message = fmt::format("cannot run '{}': there is no such program in PATH", name)};
  if (const std::optional<std::string> mistake = script_mistake(*program, launch.arguments, launch.directory)) {
    return Failure{.message = fmt::format("cannot run the program: {}", *mistake)};
  }
  return *program;
}

}  // namespace

std::string Exit::text() const {
  if (signal == 0) return fmt::format("exit code {}", code);
  return fmt::format("killed by SIG{} ({})", signal_name(signal), ::strsignal(signal));
}

std::variant<Subprocess, Subprocess::Failure> Subprocess::launch(const Launch& launch) {
  check(!launch.arguments.empty(), "Subprocess: there is no program to launch");
  const std::variant<std::string, Failure> found = program_of(launch);
  if (const auto* why = std::get_if<Failure>(&found)) return *why;
  const auto& program = std::get<std::string>(found);

  const FileDescriptor input = open_null(O_RDONLY);
  const FileDescriptor output = open_output(launch.output);
  if (!input || !output) return failure(fmt::format("cannot write {}", launch.output.string()), errno);
  std::optional<Pipe> gate = make_pipe();
  std::optional<Pipe> error = make_pipe();
  if (!gate || !error) return failure("cannot make a pipe", errno);

  const std::vector<char*> arguments = pointers(launch.arguments);
  const std::vector<char*> environment = pointers(launch.environment);
  const std::string directory = launch.directory.string();
  const ChildPlan plan = {.program = program.c_str(),
                          .directory = directory.empty() ? nullptr : directory.c_str(),
                          .arguments = arguments.data(),
                          .environment = environment.data(),
                          .input = input.get(),
                          .output = output.get(),
                          .gate = gate->read.get(),
                          .error = error->write.get(),
                          .parent = ::getpid(),
                          .own_session = launch.session == Launch::Session::own,
                          .death_signal = launch.death_signal};
  const pid_t pid = ::fork();
  if (pid < 0) return failure("cannot start a process", errno);
  if (pid == 0) {
    ::close(gate->write.get());  // else the child would keep its own gate from closing when this process dies
    run_child(plan);
  }
  FileDescriptor descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int descriptor_error = errno;
  errno = 0;
  const std::optional<ProcessIdentity> identity = identify(pid);
  const int identity_error = errno;
  if (!descriptor || !identity) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return descriptor ? failure("cannot read /proc", identity_error)
                      : failure("cannot watch a process (Linux 5.3 or later is needed)", descriptor_error);
  }
  Subprocess process(*identity, std::move(descriptor), std::move(gate->write), std::move(error->read));
  process.program_ = launch.arguments.front();
  process.directory_ = launch.directory;
  return process;
}

Subprocess::~Subprocess() {
  if (!descriptor_) return;  // moved from, or reaped
  signal_group(SIGKILL);
  ::kill(identity_.pid, SIGKILL);  // also if it has not come to its own group yet
  while (::waitpid(identity_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Subprocess::Failure> Subprocess::begin() {
  const char go = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(gate_.get(), &go, 1);  // a child that died is seen by poll_exit
  gate_.close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(error_.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  error_.close();
  if (got != sizeof error) return std::nullopt;
  const std::filesystem::path path(program_);
  const bool in_directory = !directory_.empty() && path.has_parent_path() && path.is_relative();
  return Failure{.message = fmt::format("cannot run '{}'{}: {}{}",
                                        program_,
                                        in_directory ? " in " + directory_.string() : "",
                                        std::strerror(error),
                                        advice(error, (directory_ / path).lexically_normal())),
                 .error = error};
}

void Subprocess::signal_group(int signal) const {
  if (descriptor_) ::kill(-identity_.pid, signal);
}

bool Subprocess::has_ended() const {
  siginfo_t info = {};
  return ::waitid(P_PID, static_cast<id_t>(identity_.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

// The group is killed while the ended program is not reaped: until then nobody else can get its number.
std::optional<Exit> Subprocess::poll_exit() {
  if (!has_ended()) return std::nullopt;
  siginfo_t info = {};
  signal_group(SIGKILL);
  while (::waitid(P_PID, static_cast<id_t>(identity_.pid), &info, WEXITED) != 0 && errno == EINTR) {
  }
  descriptor_.close();
  if (info.si_code == CLD_EXITED) return Exit{.code = info.si_status, .signal = 0};
  return Exit{.code = 0, .signal = info.si_status};
}

}  // namespace bapi

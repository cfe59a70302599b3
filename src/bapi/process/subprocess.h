#pragma once

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/base/file.h"
#include "bapi/process/process_identity.h"

namespace bapi {

struct Launch {
  std::vector<std::string> arguments;    // the first is the program: a path if it has a slash, else looked up in PATH
  std::vector<std::string> environment;  // NAME=value; all that the program gets
  std::filesystem::path output = {};     // standard output and error are appended here; empty: not kept
  std::filesystem::path directory = {};  // where it runs; empty: that of this process

  // Children of a controller in other sessions are training programs, or what these have left, and the guardian ends
  // them with their trial. What is none stays in this process's session, in a group of its own.
  enum class Session { own, of_this_process };
  Session session = Session::own;

  int death_signal = SIGKILL;  // what it gets when the thread that launched it ends
};

struct Exit {
  int code = 0;
  int signal = 0;  // that ended it; 0 if it ended by itself
  bool in_order() const { return code == 0 && signal == 0; }
  std::string text() const;  // "exit code 3", "killed by SIGSEGV (Segmentation fault)"
};

// A program in a process group of its own, and in a session of its own unless the launch says otherwise. It does not
// outlive the thread that launched it: the kernel kills it (not what it forked) when that thread ends, or tells it by
// another signal.
class Subprocess {
 public:
  struct Failure {
    std::string message;
    int error = 0;  // errno, if the system refused
  };

  // Creates the process but does not let the program begin: until `begin`, it waits, and vanishes if this process does.
  // So its identity can be written down before it can do anything. Never through a shell.
  static std::variant<Subprocess, Failure> launch(const Launch& launch);

  Subprocess(Subprocess&&) noexcept = default;
  Subprocess& operator=(Subprocess&&) noexcept = delete;
  ~Subprocess();  // kills the group and reaps

  // Lets the program begin; the reason if the system refuses to run it.
  std::optional<Failure> begin();

  const ProcessIdentity& identity() const { return identity_; }
  int descriptor() const { return descriptor_.get(); }  // readable when the program has ended
  void signal_group(int signal) const;                  // no effect once its end was seen

  bool has_ended() const;  // what it left may still run, and is not looked at

  // How the program ended, or nullopt while it runs. Whatever it left in its group is killed with it.
  std::optional<Exit> poll_exit();

 private:
  Subprocess(ProcessIdentity identity, FileDescriptor descriptor, FileDescriptor gate, FileDescriptor error)
      : identity_(std::move(identity)),
        descriptor_(std::move(descriptor)),
        gate_(std::move(gate)),
        error_(std::move(error)) {}

  ProcessIdentity identity_;
  FileDescriptor descriptor_;
  FileDescriptor gate_;   // a byte lets the child go on
  FileDescriptor error_;  // errno of a failed exec; end of file when it succeeded
  std::string program_;
  std::filesystem::path directory_;
};

}  // namespace bapi

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bapi {

// Declares what one command takes. Targets must outlive the parsing. Flags are written "-q,--quiet".
class Arguments {
 public:
  Arguments(CLI::App& app, const std::vector<std::string>& after_dashes) : app_(app), after_dashes_(after_dashes) {}

  void positional(const std::string& name, std::string& target, const std::string& help);           // required
  void optional_positional(const std::string& name, std::string& target, const std::string& help);  // may be left out
  void optional_positionals(const std::string& name, std::vector<std::string>& target, const std::string& help);
  void positionals(const std::string& name, std::vector<std::string>& target, const std::string& help);

  void option(const std::string& flags, std::string& target, const std::string& help);
  void option(const std::string& flags, std::optional<std::string>& target, const std::string& help);
  void option(const std::string& flags, std::optional<int>& target, const std::string& help);
  void option(const std::string& flags, std::optional<std::uint64_t>& target, const std::string& help);
  void options(const std::string& flags, std::vector<std::string>& target, const std::string& help);  // may be repeated
  void words(const std::string& flags, std::vector<std::string>& target, const std::string& help);  // one or more each
  void flag(const std::string& flags, bool& target, const std::string& help);

  // What follows "--" on the command line. A command that does not ask for it gets an error instead.
  void after_dashes(std::vector<std::string>& target);
  bool takes_dashes() const { return takes_dashes_; }

 private:
  CLI::App& app_;
  const std::vector<std::string>& after_dashes_;
  bool takes_dashes_ = false;
};

struct Command {
  std::string name;
  std::string summary;   // one line for the list of commands
  std::string examples;  // shown after the options
  // Whether an interrupt is no failure: from its first moment on, it ends with the exit code for that.
  bool interruptible = false;
  // Declares the arguments and returns what is to be done once they are parsed; that returns the exit code.
  std::function<std::function<int()>(Arguments&)> declare;
};

// What the help of a command says, for shells and the manual page.
struct OptionOutline {
  std::vector<std::string> flags = {};  // "-f", "--format"; none for an argument without a flag
  std::string name = {};                // of the argument or the value; empty for a switch
  std::string help = {};
};
struct CommandOutline {
  std::string name = {};
  std::string summary = {};
  std::string examples = {};
  std::vector<OptionOutline> options = {};
};
std::vector<CommandOutline> outlines_of(const std::vector<Command>& commands);

// Parses the command line and runs the command that it names. Help goes to standard output. Throws InvalidInput on
// wrong use; an unknown command or option is answered with the nearest known one.
int dispatch(const std::vector<Command>& commands, const std::vector<std::string>& arguments);

}  // namespace bapi

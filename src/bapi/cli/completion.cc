#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/policy/registry.h"

namespace bapi {

namespace {

// Within single quotes of any of the shells.
std::string in_quotes(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : c == '\n' ? std::string(" ") : std::string(1, c);
  return out;
}

// Fish has backslashes within quotes.
std::string in_fish_quotes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::vector<std::string> flags_of(const CommandOutline& command) {
  std::vector<std::string> flags;
  for (const OptionOutline& option : command.options) {
    flags.insert(flags.end(), option.flags.begin(), option.flags.end());
  }
  return flags;
}

bool has_values(const OptionOutline& option, std::string_view flag) {
  return std::find(option.flags.begin(), option.flags.end(), flag) != option.flags.end();
}

std::string policy_names() {
  std::vector<std::string> names;
  for (const PolicyInfo& policy : policies()) names.push_back(policy.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// The words that an option can be followed by; empty for anything else.
std::string words_after(const CommandOutline& command, const OptionOutline& option) {
  if (has_values(option, "--format")) return command.name == "export" ? "csv json html" : "table json csv";
  if (has_values(option, "--policy") || has_values(option, "--policies")) return policy_names();
  if (has_values(option, "--sort")) return "trial best spent";
  if (has_values(option, "--checkpoints")) return "shared local";
  return "";
}

// The same of a command's own argument. For the others it is a file or a study.
std::string words_of(const CommandOutline& command) {
  if (command.name == "completion") return "bash zsh fish";
  if (command.name == "policies") return policy_names();
  if (command.name == "database") return "start stop";
  if (command.name == "submit") return "slurm";
  return "";
}

// Lines of a `case` of bash or zsh over the word before the cursor, each with what `answer` says of the words.
std::string cases_before(const CommandOutline& command, const std::function<std::string(const std::string&)>& answer) {
  std::string cases;
  for (const OptionOutline& option : command.options) {
    const std::string words = words_after(command, option);
    if (words.empty()) continue;
    cases += fmt::format("        {}) {}; return ;;\n", fmt::join(option.flags, "|"), answer(words));
  }
  return cases.empty() ? "" : "      case $before in\n" + cases + "      esac\n";
}

std::string bash_script(const std::vector<CommandOutline>& commands) {
  std::vector<std::string> names;
  std::string cases;
  const auto answer = [](const std::string& words) {
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", words);
  };
  for (const CommandOutline& command : commands) {
    names.push_back(command.name);
    cases += fmt::format("    {})\n      flags='{}' words='{}'\n{}      ;;\n",
                         command.name,
                         fmt::join(flags_of(command), " "),
                         words_of(command),
                         cases_before(command, answer));
  }
  return fmt::format(R"sh(# Completion of bapi for bash: eval "$(bapi completion bash)"
_bapi() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} flags='' words=''
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
    return
  fi
  if [[ -n $words && $COMP_CWORD -eq 2 ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -X '!*.bapi' -- "$word") $(compgen -f -X '!*.y?(a)ml' -- "$word") $(compgen -d -- "$word"))
}}
complete -F _bapi bapi
)sh",
                     fmt::join(names, " "),
                     cases);
}

std::string zsh_script(const std::vector<CommandOutline>& commands) {
  std::string names;
  std::string cases;
  const auto answer = [](const std::string& words) { return "compadd " + words; };
  for (const CommandOutline& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, in_quotes(command.summary));
    std::string flags;
    for (const OptionOutline& option : command.options) {
      for (const std::string& flag : option.flags) flags += fmt::format(" '{}:{}'", flag, in_quotes(option.help));
    }
    cases += fmt::format("    {})\n      flags=({} ) arguments=({})\n{}      ;;\n",
                         command.name,
                         flags,
                         words_of(command),
                         cases_before(command, answer));
  }
  return fmt::format(R"sh(#compdef bapi
# Completion of bapi for zsh: eval "$(bapi completion zsh)", after compinit
_bapi() {{
  local -a commands flags arguments
  local before=${{words[CURRENT-1]}}
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case ${{words[2]}} in
{}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe 'option' flags
  elif (( CURRENT == 3 && $#arguments )); then
    compadd $arguments
  else
    _files -g '*.(bapi|yaml|yml)'
  fi
}}
# As a file of $fpath this is called for the first completion itself.
if [[ ${{funcstack[1]}} == _bapi ]]; then _bapi "$@"; else compdef _bapi bapi; fi
)sh",
                     names,
                     cases);
}

std::string fish_script(const std::vector<CommandOutline>& commands) {
  std::string out = "# Completion of bapi for fish: bapi completion fish | source\n";
  for (const CommandOutline& command : commands) {
    out += fmt::format(
        "complete -c bapi -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name, in_fish_quotes(command.summary));
    const std::string seen = fmt::format("complete -c bapi -n '__fish_seen_subcommand_from {}'", command.name);
    if (const std::string words = words_of(command); !words.empty()) out += fmt::format("{} -f -a '{}'\n", seen, words);
    for (const OptionOutline& option : command.options) {
      if (option.flags.empty()) continue;
      out += seen;
      for (const std::string& flag : option.flags) {
        out += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      }
      const std::string words = words_after(command, option);
      if (!option.name.empty()) out += words.empty() ? " -r" : fmt::format(" -x -a '{}'", words);
      out += fmt::format(" -d '{}'\n", in_fish_quotes(option.help));
    }
  }
  return out;
}

int completion(const std::string& shell) {
  const std::vector<CommandOutline> commands = outlines_of(all_commands());
  if (shell == "bash") {
    print(bash_script(commands));
  } else if (shell == "zsh") {
    print(zsh_script(commands));
  } else if (shell == "fish") {
    print(fish_script(commands));
  } else {
    throw InvalidInput(fmt::format("{}: expected bash, zsh or fish", shell));
  }
  return kDone;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "Print the completion script of a shell",
          .examples =
              "Examples:\n"
              "  eval \"$(bapi completion bash)\"          in ~/.bashrc\n"
              "  eval \"$(bapi completion zsh)\"           in ~/.zshrc, after compinit\n"
              "  bapi completion fish > ~/.config/fish/completions/bapi.fish\n\n"
              "Completes commands, options, formats, policies, studies and files.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto shell = std::make_shared<std::string>();
            arguments.positional("SHELL", *shell, "bash, zsh or fish");
            return [shell] { return completion(*shell); };
          }};
}

}  // namespace bapi

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"

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

std::string bash_script(const std::vector<CommandOutline>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandOutline& command : commands) {
    names.push_back(command.name);
    cases += fmt::format("    {}) flags='{}' ;;\n", command.name, fmt::join(flags_of(command), " "));
  }
  return fmt::format(R"sh(# Completion of bapi for bash: eval "$(bapi completion bash)"
_bapi() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} flags=''
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case $before in
    -f|--format) COMPREPLY=($(compgen -W 'table json csv' -- "$word")); return ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
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
  for (const CommandOutline& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, in_quotes(command.summary));
    std::string flags;
    for (const OptionOutline& option : command.options) {
      for (const std::string& flag : option.flags) flags += fmt::format(" '{}:{}'", flag, in_quotes(option.help));
    }
    cases += fmt::format("    {}) flags=({} ) ;;\n", command.name, flags);
  }
  return fmt::format(R"sh(#compdef bapi
# Completion of bapi for zsh: eval "$(bapi completion zsh)", after compinit
_bapi() {{
  local -a commands flags
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case ${{words[2]}} in
{}  esac
  case ${{words[CURRENT-1]}} in
    -f|--format) compadd table json csv; return ;;
  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe 'option' flags
  else
    _files
  fi
}}
compdef _bapi bapi
)sh",
                     names,
                     cases);
}

std::string fish_script(const std::vector<CommandOutline>& commands) {
  std::string out = "# Completion of bapi for fish: bapi completion fish | source\n";
  for (const CommandOutline& command : commands) {
    out += fmt::format(
        "complete -c bapi -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name, in_fish_quotes(command.summary));
    for (const OptionOutline& option : command.options) {
      if (option.flags.empty()) continue;
      out += fmt::format("complete -c bapi -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& flag : option.flags) {
        out += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      }
      if (!option.name.empty()) out += has_values(option, "--format") ? " -x -a 'table json csv'" : " -r";
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
              "Completes commands, options, formats, studies and files.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto shell = std::make_shared<std::string>();
            arguments.positional("SHELL", *shell, "bash, zsh or fish");
            return [shell] { return completion(*shell); };
          }};
}

}  // namespace bapi

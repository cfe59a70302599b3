#include "bapi/cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/base/number.h"

namespace bapi {

namespace {

constexpr const char* kAbout =
    "Finds the best model a fixed training budget can buy.\n\n"
    "  bapi init                   write a commented study file, study.yaml\n"
    "  bapi doctor study.yaml      try the training program for a few epochs\n"
    "  bapi run study.yaml         tune until the budget is spent; Ctrl-C and run again at any time\n"
    "  bapi best                   the best configuration and its checkpoint";

constexpr const char* kExitCodes =
    "Where a command takes STUDY: a study directory (mlp.bapi), its name (mlp) or its study file; left out, the only\n"
    "study of the current directory. Results go to standard output, everything else to standard error.\n\n"
    "Exit codes: 0 done, 1 run failed, 2 wrong use or input, 3 store unavailable, 70 bug in bapi, 130 interrupted.\n"
    "Help on a command: bapi COMMAND --help";

// Usage, arguments and options of CLI11's formatter, with the examples behind.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(30);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_description(const CLI::App* app) const override { return app->get_description() + "\n\n"; }

  std::string make_footer(const CLI::App* app) const override {
    return app->get_footer().empty() ? "" : app->get_footer() + "\n";
  }
};

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

// Before CLI11 sees it: its own message names no neighbour.
void refuse_unknown_command(const std::vector<std::string>& arguments, const std::vector<std::string>& names) {
  if (arguments.empty() || arguments.front().starts_with("-")) return;
  const std::string& word = arguments.front();
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw InvalidInput(fmt::format("there is no command {}{} (bapi --help lists them)", word, did_you_mean(word, names)));
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string where = chosen.empty() ? "bapi" : "bapi " + command.get_name();
  for (const std::string& extra : command.remaining()) {
    if (!extra.starts_with("-")) continue;
    const std::string flag = extra.substr(0, extra.find('='));
    throw InvalidInput(fmt::format(
        "{}: there is no option {}{} ({} --help)", where, flag, did_you_mean(flag, option_names(command)), where));
  }
  throw InvalidInput(fmt::format("{}: {} ({} --help)", where, error.what(), where));
}

}  // namespace

void Arguments::positional(const std::string& name, std::string& target, const std::string& help) {
  app_.add_option(name, target, help)->required();
}

void Arguments::optional_positional(const std::string& name, std::string& target, const std::string& help) {
  app_.add_option(name, target, help);
}

void Arguments::optional_positionals(const std::string& name,
                                     std::vector<std::string>& target,
                                     const std::string& help) {
  app_.add_option(name, target, help);
}

void Arguments::positionals(const std::string& name, std::vector<std::string>& target, const std::string& help) {
  app_.add_option(name, target, help)->required();
}

void Arguments::option(const std::string& flags, std::string& target, const std::string& help) {
  app_.add_option(flags, target, help);
}

void Arguments::option(const std::string& flags, std::optional<std::string>& target, const std::string& help) {
  app_.add_option(flags, target, help);
}

void Arguments::option(const std::string& flags, std::optional<int>& target, const std::string& help) {
  app_.add_option(flags, target, help);
}

// CLI11 takes -1 for the largest number.
void Arguments::option(const std::string& flags, std::optional<std::uint64_t>& target, const std::string& help) {
  const auto read = [&target, flags](const std::string& text) {
    target = parse_whole_number(text, 0, std::numeric_limits<std::uint64_t>::max(), flags);
  };
  app_.add_option_function<std::string>(flags, read, help)->type_name("UINT");
}

void Arguments::options(const std::string& flags, std::vector<std::string>& target, const std::string& help) {
  app_.add_option(flags, target, help)->allow_extra_args(false);
}

void Arguments::words(const std::string& flags, std::vector<std::string>& target, const std::string& help) {
  app_.add_option(flags, target, help)->expected(1, CLI::detail::expected_max_vector_size);
}

void Arguments::flag(const std::string& flags, bool& target, const std::string& help) {
  app_.add_flag(flags, target, help);
}

void Arguments::after_dashes(std::vector<std::string>& target) {
  takes_dashes_ = true;
  target = after_dashes_;
}

int dispatch(const std::vector<Command>& commands, const std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> before(arguments.begin(), dashes);
  const std::vector<std::string> after(dashes == arguments.end() ? dashes : std::next(dashes), arguments.end());
  if (!before.empty() && before.front() == "help") {
    before.erase(before.begin());
    before.push_back("--help");
  }
  refuse_unknown_command(before, names_of(commands));

  CLI::App app(kAbout, "bapi");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", std::string("bapi ") + BAPI_VERSION);
  app.footer(kExitCodes);
  app.require_subcommand(1);
  std::function<int()> chosen;
  for (const Command& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.summary);
    subcommand->group("Commands");
    subcommand->footer(command.examples);
    const auto accepted = std::make_shared<Arguments>(*subcommand, after);
    const std::function<int()> action = command.declare(*accepted);
    subcommand->callback([&chosen, &after, accepted, action, name = command.name] {
      require(after.empty() || accepted->takes_dashes(), fmt::format("bapi {}: nothing may follow --", name));
      chosen = action;
    });
  }

  if (before.empty()) {
    std::fputs(app.help().c_str(), stderr);
    throw InvalidInput("a command is needed");
  }
  try {
    std::reverse(before.begin(), before.end());  // as CLI11 wants it
    app.parse(before);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    refuse(app, error);
  }
  return chosen();
}

}  // namespace bapi

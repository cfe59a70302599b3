#include "bapi/cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <sstream>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/terminal.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

constexpr const char* kAbout =
    "Finds the best model a fixed training budget can buy.\n\n"
    "  bapi init               write a commented study file, study.yaml\n"
    "  bapi doctor study.yaml  try the training program for a few epochs\n"
    "  bapi run study.yaml     tune until the budget is spent; continue after Ctrl-C\n"
    "  bapi best               show the best configuration and its checkpoint";

constexpr const char* kExitCodes =
    "STUDY is a study directory (mlp.bapi), its name (mlp) or its study file; by default the only study in the\n"
    "current directory. Results go to standard output, everything else to standard error.\n\n"
    "Exit codes: 0 done, 1 run failed, 2 wrong use or input, 3 store unavailable,\n"
    "            70 bug in bapi, 130 interrupted\n"
    "Help on a command: bapi COMMAND --help";

constexpr std::size_t kColumn = 24;  // where descriptions begin

std::string filled(const std::string& paragraph, std::size_t width) {
  return fmt::format("{}", fmt::join(wrapped_words(paragraph, width), "\n"));
}

// Paragraphs filled to the screen. They end with an empty line, or with a line that ends a sentence; indented lines
// stay as they are.
std::string filled_paragraphs(const std::string& text) {
  std::vector<std::string> out;
  std::string paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) out.push_back(filled(paragraph, kScreenColumns));
    paragraph.clear();
  };
  for (const std::string& line : split(text, '\n')) {
    const bool kept = line.empty() || line.front() == ' ';
    if (kept) {
      flush();
      out.push_back(line);
      continue;
    }
    paragraph += (paragraph.empty() ? "" : " ") + line;
    if (line.ends_with('.') || line.ends_with(':')) flush();
  }
  flush();
  return fmt::format("{}", fmt::join(out, "\n"));
}

// Usage, arguments and options of CLI11's formatter, with the examples behind, all within the screen.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(kColumn);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_description(const CLI::App* app) const override {
    return filled_paragraphs(app->get_description()) + "\n\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::ostringstream out;
    const std::string kind = is_positional ? "" : make_option_opts(option);
    CLI::detail::format_help(out, make_option_name(option, is_positional) + kind, make_option_desc(option), kColumn);
    return out.str();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return filled(option->get_description(), kScreenColumns - kColumn);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(
        out, command->get_display_name(true), filled(command->get_description(), kScreenColumns - kColumn), kColumn);
    return out.str();
  }

  std::string make_footer(const CLI::App* app) const override {
    return app->get_footer().empty() ? "" : filled_paragraphs(app->get_footer()) + "\n";
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
  throw InvalidInput(fmt::format("unknown command {}{} (bapi --help lists them)", word, did_you_mean(word, names)));
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
  const std::string where = chosen.empty() ? "" : command.get_name() + ": ";
  const std::string help = chosen.empty() ? "bapi --help" : fmt::format("bapi {} --help", command.get_name());
  for (const std::string& extra : command.remaining()) {
    if (!extra.starts_with("-")) continue;
    const std::string flag = extra.substr(0, extra.find('='));
    throw InvalidInput(
        fmt::format("{}unknown option {}{} ({})", where, flag, did_you_mean(flag, option_names(command)), help));
  }
  throw InvalidInput(fmt::format("{}{} ({})", where, error.what(), help));
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

std::vector<CommandOutline> outlines_of(const std::vector<Command>& commands) {
  std::vector<CommandOutline> outlines;
  for (const Command& command : commands) {
    CLI::App app(command.summary, command.name);
    const std::vector<std::string> nothing;
    Arguments arguments(app, nothing);
    const std::function<int()> unused = command.declare(arguments);
    CommandOutline& outline = outlines.emplace_back(
        CommandOutline{.name = command.name, .summary = command.summary, .examples = command.examples});
    for (const CLI::Option* option : app.get_options()) {
      OptionOutline& added = outline.options.emplace_back(OptionOutline{.help = option->get_description()});
      for (const std::string& name : option->get_snames()) added.flags.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) added.flags.push_back("--" + name);
      if (added.flags.empty()) {
        added.name = option->get_name();
      } else if (option->get_type_size() != 0) {
        added.name = option->get_type_name();
      }
    }
  }
  return outlines;
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
  const auto named = [&](const Command& command) { return !before.empty() && command.name == before.front(); };
  if (std::ranges::any_of(commands, [&](const Command& command) { return command.interruptible && named(command); })) {
    end_when_interrupted();
  }

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
      require(after.empty() || accepted->takes_dashes(), fmt::format("{}: takes no command after --", name));
      chosen = action;
    });
  }

  if (before.empty()) {
    std::fputs(app.help().c_str(), stderr);
    throw InvalidInput("no command given");
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

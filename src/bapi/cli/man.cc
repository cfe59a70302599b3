#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bapi/base/split.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"

namespace bapi {

namespace {

// Text for roff: backslashes and hyphens as they are, and no line that begins with a control character.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

std::string option_entry(const OptionOutline& option) {
  std::vector<std::string> flags;
  for (const std::string& flag : option.flags) flags.push_back("\\fB" + roff(flag) + "\\fR");
  std::string head = fmt::format("{}", fmt::join(flags, ", "));
  if (!option.name.empty()) head += (head.empty() ? "" : " ") + ("\\fI" + roff(option.name) + "\\fR");
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.help));
}

// Indented lines stay as they are.
std::string prose(const std::string& text) {
  std::string out = ".PP\n";
  bool literal = false;
  for (const std::string& line : split(text, '\n')) {
    const bool indented = line.starts_with(' ');
    if (indented != literal) out += indented ? ".nf\n" : ".fi\n.PP\n";
    literal = indented;
    out += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return literal ? out + ".fi\n" : out;
}

int man() {
  std::string page = fmt::format(
      ".TH BAPI 1 \"\" \"bapi {0}\" \"User Commands\"\n"
      ".SH NAME\nbapi \\- find the best model a fixed training budget can buy\n"
      ".SH SYNOPSIS\n.B bapi\n.I COMMAND\n[\\fIoptions\\fR]\n"
      ".SH DESCRIPTION\n"
      "bapi trains many configurations of a model, stops what does not pay, and keeps to a budget of time, epochs or "
      "money.\n.PP\n.nf\n"
      "  bapi init               write a commented study file, study.yaml\n"
      "  bapi doctor study.yaml  try the training program for a few epochs\n"
      "  bapi run study.yaml     tune until the budget is spent; continue after Ctrl\\-C\n"
      "  bapi best               show the best configuration and its checkpoint\n.fi\n.SH COMMANDS\n",
      roff(BAPI_VERSION));
  for (const CommandOutline& command : outlines_of(all_commands())) {
    page += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.summary));
    for (const OptionOutline& option : command.options) page += option_entry(option);
    if (!command.examples.empty()) page += prose(command.examples);
  }
  page +=
      ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nThe run failed.\n.TP\n2\nWrong use or input.\n.TP\n3\nThe store is "
      "unavailable.\n.TP\n70\nA bug in bapi.\n.TP\n130\nInterrupted; nothing is lost.\n"
      ".SH FILES\n.TP\nNAME.bapi/\nA study: its log \\fIstudy.db\\fR and the files of its trials.\n"
      ".SH ENVIRONMENT\n.TP\nNO_COLOR\nTurns colours off.\n";
  print(page);
  return kDone;
}

}  // namespace

Command man_command() {
  return {.name = "man",
          .summary = "Print the manual page",
          .examples =
              "Examples:\n"
              "  bapi man | man -l -\n"
              "  bapi man > ~/.local/share/man/man1/bapi.1",
          .declare = [](Arguments&) -> std::function<int()> { return [] { return man(); }; }};
}

}  // namespace bapi

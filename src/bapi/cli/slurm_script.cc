#include "bapi/cli/slurm_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// What neither the shell nor Slurm gives a meaning to.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "_-./:=@%+,";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

std::string for_shell(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Inside of quotes Slurm reads a backslash before any character as that character; outside, a space ends the word
// anyway.
std::string for_slurm(const std::string& word) {
  if (std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string out = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool fits_a_line(const std::string& word) {
  return std::none_of(word.begin(), word.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
}

// sbatch also understands the first letters of a long option.
bool is_reserved(const std::string& option) {
  constexpr std::array<std::string_view, 6> kReserved = {
      "--array", "--signal", "--open-mode", "--requeue", "--no-requeue", "--wrap"};
  if (!option.starts_with("--")) return option.starts_with("-a");
  const std::string_view name = std::string_view(option).substr(0, option.find('='));
  return std::any_of(
      kReserved.begin(), kReserved.end(), [&](std::string_view taken) { return taken.starts_with(name); });
}

void require_option(const std::string& option) {
  require(!option.empty(), "found an empty option of sbatch; expected for example --time=4:00:00");
  require(
      fits_a_line(option),
      fmt::format("the sbatch option '{}' has a control character or a line break; expected one line of text", option));
  require(!is_reserved(option),
          fmt::format("the sbatch option {} is set by bapi itself (--array from --workers and --chain; --signal, "
                      "--open-mode and --requeue so that no work is lost); remove it",
                      option));
}

// One line for each option, with the words that belong to it.
std::string option_lines(const std::vector<std::string>& options) {
  std::string out;
  for (const std::string& option : options) {
    require_option(option);
    const bool begins = option.starts_with('-');
    require(begins || !out.empty(),
            fmt::format("found '{}' where an option of sbatch was expected, for example --time=4:00:00", option));
    out += begins ? (out.empty() ? "#SBATCH " : "\n#SBATCH ") : " ";
    out += for_slurm(option);
  }
  return out.empty() ? "" : out + "\n";
}

std::string command_line(const std::vector<std::string>& command) {
  std::string out = "exec";
  for (const std::string& word : command) out += " " + for_shell(word);
  return out + "\n";
}

}  // namespace

std::string slurm_script(const SlurmArray& array) {
  check(!array.command.empty(), "slurm_script: no command");
  require(array.workers >= 1 && array.chain >= 1,
          fmt::format("found {} workers and a chain of {}; expected 1 or more of each", array.workers, array.chain));
  const std::int64_t elements = std::int64_t{array.workers} * array.chain;
  require(elements <= kMostSlurmElements,
          fmt::format("{} workers in chains of {} are {} jobs; Slurm allows {} in an array: lower --chain",
                      array.workers,
                      array.chain,
                      elements,
                      kMostSlurmElements));
  require(fits_a_line(array.name), "the name of the job has a control character or a line break");
  return fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=1-{}%{}\n"
      "#SBATCH --signal=B:USR1@{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "{}"
      "{}",
      for_slurm(array.name),
      elements,
      array.workers,
      kSlurmNotice,
      option_lines(array.options),
      command_line(array.command));
}

}  // namespace bapi

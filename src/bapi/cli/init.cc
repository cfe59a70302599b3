#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/store/new_file.h"
#include "bapi/studies/new_study_file.h"

namespace bapi {

namespace {

struct InitArguments {
  std::string file = "study.yaml";
  bool to_stdout = false;
  std::optional<std::string> sweep;
  std::vector<std::string> command;
};

std::string new_study_text(const InitArguments& arguments) {
  if (arguments.sweep) {
    require(arguments.command.empty(), "--from-wandb has the command of the sweep; leave out what follows --");
    std::vector<std::string> notes;
    std::string text = study_file_of_sweep(contents_of(*arguments.sweep), *arguments.sweep, notes);
    for (const std::string& line : notes) note(line);
    return text;
  }
  return arguments.command.empty() ? study_file_template() : study_file_for(arguments.command);
}

int init(const InitArguments& arguments) {
  const std::string text = new_study_text(arguments);
  if (arguments.to_stdout) {
    print(text);
    return kDone;
  }
  require(make_file(arguments.file, text) == NewFile::made,
          fmt::format("{}: already exists and is not overwritten; give another name, or use --stdout", arguments.file));
  print(arguments.file + "\n");
  note(fmt::format("edit it, then: bapi doctor {0} && bapi run {0}", arguments.file));
  return kDone;
}

}  // namespace

Command init_command() {
  return {.name = "init",
          .summary = "Write a commented study file",
          .examples =
              "Examples:\n"
              "  bapi init\n"
              "  bapi init mlp.yaml\n"
              "  bapi init -- python3 train.py --data mnist   with this command\n"
              "  bapi init --from-wandb sweep.yaml            from a W&B sweep\n"
              "  bapi init --stdout | less\n\n"
              "Existing files are never overwritten.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<InitArguments>();
            arguments.optional_positional("FILE", parsed->file, "File to write; default: study.yaml");
            arguments.flag("--stdout", parsed->to_stdout, "Print to standard output instead of a file");
            arguments.option("--from-wandb", parsed->sweep, "Sweep of W&B to translate");
            arguments.after_dashes(parsed->command);
            return [parsed] { return init(*parsed); };
          }};
}

}  // namespace bapi

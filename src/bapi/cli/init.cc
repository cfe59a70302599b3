#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/store/new_file.h"

namespace bapi {

namespace {

constexpr const char* kStudyFile =
    R"(# A study: what to train, what to vary, what it may cost. Try it with `bapi doctor`, start it with `bapi run`.

name: mlp

# The training program, as an argument vector (no shell). ${NAME} is the value of a parameter. There are also
# ${args} (--lr 0.1 --units 64 ...), ${config} (a JSON file), ${checkpoint} (a directory to keep), ${from} and ${until}
# (epochs), ${dir}, ${trial}. The program reports every epoch by printing a line like
#   bapi: {"epoch": 3, "accuracy": 0.91}
# or by appending that JSON to the file named by BAPI_REPORT; from a shell: bapi report epoch=3 accuracy=0.91
command: [python3, train.py, --lr, "${lr}", --units, "${units}", --checkpoint, "${checkpoint}"]

metric: {name: accuracy, goal: maximize}     # or minimize

budget: 30m                 # of all workers together; also 90s, 2h, "500 epochs", {limit: 12, unit: usd, per_hour: 2.5}
# deadline: 1h              # wall clock, whatever is left of the budget

epochs: {min: 1, max: 50}   # max is a full training

workers: 1                  # trials trained at the same time
seed: 0                     # of all random choices of bapi
policy: bapi                # `bapi policies` lists them

parameters:
  lr:        {min: 1.0e-5, max: 1, log: true}
  units:     {min: 16, max: 256, type: int, log: true}
  # optimizer: {values: [sgd, adam]}
  # momentum:  {min: 0.1, max: 0.9, when: {optimizer: sgd}}
  # depth:     {value: 3}

# checkpoint: none          # the program cannot continue from ${checkpoint}: a resumed trial trains from epoch 1 again
# grace: 2s                 # between SIGTERM and SIGKILL
# report_timeout: 1h        # without a report, a program has failed
# max_failures: 10          # failed trials in a row that end the study
# env: {OMP_NUM_THREADS: "1"}
)";

struct InitArguments {
  std::string file = "study.yaml";
  bool to_stdout = false;
};

int init(const InitArguments& arguments) {
  if (arguments.to_stdout) {
    print(kStudyFile);
    return kDone;
  }
  require(make_file(arguments.file, kStudyFile) == NewFile::made,
          fmt::format("{}: exists already; give another name, or --stdout", arguments.file));
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
              "  bapi init --stdout | less\n\n"
              "Never overwrites a file.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<InitArguments>();
            arguments.optional_positional("FILE", parsed->file, "Where to write; default: study.yaml");
            arguments.flag("--stdout", parsed->to_stdout, "Print it instead");
            return [parsed] { return init(*parsed); };
          }};
}

}  // namespace bapi

#include "bapi/studies/new_study_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "bapi/base/error.h"
#include "bapi/studies/sweep_parameters.h"
#include "bapi/study/macros.h"
#include "bapi/study/names.h"
#include "bapi/study/yaml_fields.h"

namespace bapi {
namespace {

constexpr const char* kHead =
    "# A study: what to train, what to vary, what it may cost. Try it with `bapi doctor`, start it with `bapi "
    "run`.\n\n";

constexpr const char* kAboutCommand =
    R"(# The training program, as an argument vector (no shell). ${NAME} is the value of a parameter. There are also
# ${args} (--lr 0.1 --units 64 ...), ${config} (a JSON file), ${checkpoint} (a directory to keep), ${from} and ${until}
# (epochs), ${dir}, ${trial}. The program reports every epoch by printing a line like
#   bapi: {"epoch": 3, "accuracy": 0.91}
# or by appending that JSON to the file named by BAPI_REPORT; from a shell: bapi report epoch=3 accuracy=0.91
)";

constexpr const char* kMetric = "metric: {name: accuracy, goal: maximize}     # or minimize\n";

constexpr const char* kBudget =
    R"(budget: 30m                 # shared by all workers; also 90s, 2h, "500 epochs", {limit: 12, unit: usd, per_hour: 2.5}
# deadline: 1h              # wall-clock limit, even if budget remains
)";

constexpr const char* kMiddle =
    R"(workers: 1                  # trials trained at the same time
# gpus: auto                # a GPU for every worker; sets the number of workers if that is left out
seed: 0                     # random seed
)";

constexpr const char* kParameters =
    R"(parameters:
  lr:        {min: 1.0e-5, max: 1, log: true}
  units:     {min: 16, max: 256, type: int, log: true}
  # optimizer: {values: [sgd, adam]}
  # momentum:  {min: 0.1, max: 0.9, when: {optimizer: sgd}}
  # depth:     {value: 3}
)";

constexpr const char* kTail =
    R"(
# try: [{lr: 0.1}]          # configurations to try first
# from: [old.bapi]          # earlier studies to learn from
# checkpoint: none          # for programs without checkpoints: a resumed trial trains from epoch 1 again
# grace: 2s                 # time between SIGTERM and SIGKILL
# report_timeout: 1h        # a trial fails after this long without a report
# max_failures: 10          # failed trials in a row after which the study stops
# env: {OMP_NUM_THREADS: "1"}
)";

std::string command_line(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(yaml_word(word));
  return fmt::format("command: [{}]\n", fmt::join(words, ", "));
}

// After the script, or the program if there is none: "train" of "python3 src/train.py".
std::string name_after(const std::vector<std::string>& command) {
  std::string name = std::filesystem::path(command.front()).stem().string();
  for (const std::string& word : command) {
    const std::string ending = std::filesystem::path(word).extension().string();
    if (ending != ".py" && ending != ".sh" && ending != ".R" && ending != ".jl" && ending != ".lua") continue;
    name = std::filesystem::path(word).stem().string();
    break;
  }
  return study_name_mistake(name) ? "study" : name;
}

std::string assembled(const std::string& name,
                      const std::vector<std::string>& command,
                      const std::string& metric,
                      const std::string& epochs,
                      const std::string& policy,
                      const std::string& parameters) {
  return std::string(kHead) + "name: " + name + "\n\n" + kAboutCommand + command_line(command) + "\n" + metric + "\n" +
         kBudget + "\n" + epochs + "\n" + kMiddle + policy + "\n" + parameters + kTail;
}

constexpr const char* kEpochs = "epochs: {min: 1, max: 50}   # per trial; max is a full training\n";
constexpr const char* kPolicy = "policy: bapi                # `bapi policies` lists them\n";

// ── sweeps of W&B ───────────────────────────────────────────────────────────────────────────────────────────────────

std::string parameters_text(const std::vector<SweepParameter>& parameters) {
  std::string out = "parameters:\n";
  for (const SweepParameter& each : parameters) out += fmt::format("  {}: {}\n", yaml_word(each.name), each.domain);
  return out;
}

// What stands for a macro of W&B that gives the parameters.
std::vector<std::string> arguments_for(const std::string& macro,
                                       const std::vector<SweepParameter>& parameters,
                                       std::vector<std::string>& notes) {
  if (macro == "${args_json_file}") return {"${config}"};
  if (macro == "${args_no_hyphens}") {
    std::vector<std::string> words;
    for (const SweepParameter& each : parameters) words.push_back(fmt::format("{0}=${{{0}}}", each.name));
    return words;
  }
  if (macro == "${args_no_boolean_flags}") {
    notes.emplace_back("command: ${args} gives true and false as values, --flag true");
  } else if (macro != "${args}") {
    notes.push_back(
        fmt::format("command: {} has no counterpart; ${{args}} gives --NAME VALUE, ${{config}} the path of a "
                    "JSON file",
                    macro));
  }
  return {"${args}"};
}

std::vector<std::string> command_of_sweep(const YamlMapping& sweep,
                                          const std::vector<SweepParameter>& parameters,
                                          std::vector<std::string>& notes) {
  const std::string program =
      sweep.has("program") ? sweep["program"].string("the training program") : std::string("train.py");
  if (!sweep.has("command")) return {"python3", program, "${args}"};
  std::vector<std::string> command;
  for (const YamlField& item : sweep["command"].items("a list of arguments")) {
    const std::string word = item.text("an argument");
    if (word == "${env}") continue;
    if (word == "${interpreter}") {
      command.emplace_back("python3");
    } else if (word == "${program}") {
      command.push_back(program);
    } else if (word.starts_with("${args")) {
      const std::vector<std::string> words = arguments_for(word, parameters, notes);
      command.insert(command.end(), words.begin(), words.end());
    } else {
      if (word.find("${envvar:") != std::string::npos) {
        notes.push_back(
            fmt::format("command: {} has no counterpart; write the value, or read it in the program", word));
      }
      command.push_back(word);
    }
  }
  if (command.empty()) sweep["command"].fail("found no program, expected at least its name");
  return command;
}

std::string metric_of_sweep(const YamlMapping& sweep, std::vector<std::string>& notes) {
  if (!sweep.has("metric")) {
    notes.emplace_back("metric: the sweep names none; accuracy is a guess");
    return kMetric;
  }
  const YamlMapping metric(sweep["metric"], "a mapping");
  const std::string name = metric.required("name", "{name: accuracy, goal: maximize}").string("the name of a metric");
  const std::string goal = metric.has("goal") ? metric["goal"].text("maximize or minimize") : "minimize";
  return fmt::format("metric: {{name: {}, goal: {}}}\n", yaml_word(name), yaml_word(goal));
}

std::string policy_of_sweep(const YamlMapping& sweep, std::vector<std::string>& notes) {
  if (!sweep.has("method")) return kPolicy;
  const std::string method = sweep["method"].text("bayes, random or grid");
  if (method == "random") return "policy: random              # as in the sweep; bapi is the default\n";
  if (method == "grid") notes.emplace_back("method: grid has no counterpart; the policy is bapi");
  return kPolicy;
}

std::string epochs_of_sweep(const YamlMapping& sweep, std::vector<std::string>& notes) {
  if (!sweep.has("early_terminate")) {
    notes.emplace_back("epochs: the sweep does not say how long a full training is; 50 is a guess");
    return kEpochs;
  }
  const YamlMapping rule(sweep["early_terminate"], "a mapping");
  for (const char* key : {"max_iter", "maxiter"}) {
    if (rule.has(key)) return fmt::format("epochs: {{min: 1, max: {}}}\n", rule[key].small_integer());
  }
  notes.emplace_back("early_terminate: the policy decides when a trial ends; epochs: 50 is a guess");
  return kEpochs;
}

}  // namespace

std::string study_file_template() {
  return assembled("mlp",
                   {"python3", "train.py", "--lr", "${lr}", "--units", "${units}", "--checkpoint", "${checkpoint}"},
                   kMetric,
                   kEpochs,
                   kPolicy,
                   kParameters);
}

std::string study_file_for(const std::vector<std::string>& command) {
  require(!command.empty() && !command.front().empty(), "found no program behind --, for example -- python3 train.py");
  std::vector<std::string> words = command;
  if (!hands_over_parameters(words)) words.emplace_back("${args}");
  return assembled(name_after(command), words, kMetric, kEpochs, kPolicy, kParameters);
}

std::string study_file_of_sweep(std::string_view text, const std::string& file, std::vector<std::string>& notes) {
  YamlSource source{.file = file};
  const YamlField root = load_yaml(std::string(text), source, "a sweep of W&B: program, metric, parameters");
  try {
    const YamlMapping sweep(root, "a sweep of W&B: program, metric, parameters");
    const std::string metric = metric_of_sweep(sweep, notes);
    const std::vector<SweepParameter> parameters =
        sweep_parameters(sweep.required("parameters", "parameters: {lr: {min: 0.1, max: 1.0}}"), notes);
    const std::vector<std::string> command = command_of_sweep(sweep, parameters, notes);
    for (const char* key : {"run_cap", "project", "entity", "description"}) {
      if (sweep.has(key))
        notes.push_back(fmt::format(
            "{}: left out{}", key, std::string_view(key) == "run_cap" ? "; the budget limits a study" : ""));
    }
    notes.emplace_back("budget: a sweep has none; 30m is a guess");
    const std::string title = sweep.has("name") ? sweep["name"].text("a name") : name_after(command);
    const bool usable = !study_name_mistake(title);
    if (!usable) notes.push_back(fmt::format("name: '{}' cannot name a study; it is {}", title, name_after(command)));
    return assembled(usable ? title : name_after(command),
                     command,
                     metric,
                     epochs_of_sweep(sweep, notes),
                     policy_of_sweep(sweep, notes),
                     parameters_text(parameters));
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    throw InvalidInput(message.starts_with(file + ":") ? message : source.located(message));
  }
}

}  // namespace bapi

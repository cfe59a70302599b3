#include <fmt/format.h>

#include <memory>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/store/database_url.h"
#include "bapi/studies/study_add.h"
#include "bapi/studies/study_view.h"
#include "bapi/study/scalar.h"

namespace bapi {

namespace {

int add(const std::vector<std::string>& words) {
  std::string study;
  NamedValues given;
  for (const std::string& word : words) {
    const std::size_t equals = DatabaseUrl::is_one(word) ? std::string::npos : word.find('=');
    if (equals == std::string::npos) {
      require(study.empty() && given.empty(), fmt::format("{}: expected NAME=VALUE, for example lr=0.1", word));
      study = word;
      continue;
    }
    const std::string name = word.substr(0, equals);
    require(given.emplace(name, parse_scalar(word.substr(equals + 1))).second, name + ": given twice");
  }
  add_configuration(locate_place(study), given, "bapi add", [](const std::string& line) { print(line + "\n"); });
  return kDone;
}

}  // namespace

Command add_command() {
  return {
      .name = "add",
      .summary = "Queue a configuration to be tried next",
      .examples =
          "Examples:\n"
          "  bapi add mlp lr=0.1 units=64\n"
          "  bapi add lr=0.1             the policy chooses the other values\n\n"
          "The next new trial takes these values instead of those that the policy proposes; everything else, such as\n"
          "how long it is trained, stays the policy's decision. Works while the study is running. A study file can\n"
          "list configurations under `try`. bapi status lists those that wait; bapi explain says which trial\n"
          "tried one.\n"
          "Exit codes: 0 done, 2 the study has no such parameter or value.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto words = std::make_shared<std::vector<std::string>>();
        arguments.positionals("[STUDY] NAME=VALUE", *words, "Values of parameters; study as elsewhere");
        return [words] { return add(*words); };
      }};
}

}  // namespace bapi

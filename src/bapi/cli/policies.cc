#include <fmt/format.h>

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/policy/registry.h"

namespace bapi {

namespace {

Cell options_of(const PolicyInfo& policy) {
  std::vector<Cell> list;
  for (const PolicyOptionInfo& option : policy.options) {
    list.emplace_back(Fields{{"name", option.name}, {"default", option.default_value}, {"help", option.help}});
  }
  return list;
}

std::string for_people(const std::vector<PolicyInfo>& all) {
  std::string out;
  for (const PolicyInfo& policy : all) {
    if (!out.empty()) out += "\n";
    out += fmt::format("{:<12}{}\n", policy.name, policy.summary);
    for (const PolicyOptionInfo& option : policy.options) {
      out += fmt::format("  {:<24}{}\n", option.name + " = " + option.default_value, option.help);
    }
  }
  return out;
}

int list_policies(const ListingArguments& arguments) {
  const Format format = arguments.parsed_format();
  if (format == Format::table) {
    print(for_people(policies()));
    return kDone;
  }
  Table table({"name", "summary", "options"});
  for (const PolicyInfo& policy : policies()) table.add({policy.name, policy.summary, options_of(policy)});
  print(render(table, format));
  return kDone;
}

}  // namespace

Command policies_command() {
  return {.name = "policies",
          .summary = "List the available policies and their options",
          .examples =
              "Examples:\n"
              "  bapi policies\n"
              "  bapi policies -f json\n\n"
              "In a study file:  policy: hyperband  or  policy: {name: hyperband, eta: 3}\n"
              "JSON: [{name, summary, options: [{name, default, help}]}].",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ListingArguments>();
            parsed->declare_format(arguments);
            return [parsed] { return list_policies(*parsed); };
          }};
}

}  // namespace bapi

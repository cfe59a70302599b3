#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/base/number.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/terminal.h"
#include "bapi/policy/registry.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

Cell options_of(const PolicyInfo& policy) {
  std::vector<Cell> list;
  for (const PolicyOptionInfo& option : policy.options) {
    list.emplace_back(Fields{{"name", option.name}, {"default", option.default_value}, {"help", option.help}});
  }
  return list;
}

std::string overview(const std::vector<PolicyInfo>& all) {
  std::string out;
  for (const PolicyInfo& policy : all) out += fmt::format("{:<12} {}\n", policy.name, policy.summary);
  return out + "\nOptions of a policy: bapi policies NAME. When to use which: docs/policies.md\n";
}

// Defaults with at most four digits, as numbers for people have everywhere.
std::string shown_default(const PolicyOptionInfo& option) {
  const auto number = number_in<double>(option.default_value);
  return number ? short_number(*number) : option.default_value;
}

// Long meanings are wrapped below their column.
std::string details(const PolicyInfo& policy) {
  std::string out = fmt::format("{}: {}\n", policy.name, policy.summary);
  if (policy.options.empty()) return out + "It has no options.\n";
  std::size_t name = 6;
  std::size_t value = 7;
  for (const PolicyOptionInfo& option : policy.options) {
    name = std::max(name, display_width(option.name));
    value = std::max(value, display_width(shown_default(option)));
  }
  const auto row = [&](std::string_view first, std::string_view second, std::string_view third) {
    return fmt::format("  {:<{}}  {:<{}}  {}\n", first, name, second, value, third);
  };
  out += "\n" + row("option", "default", "meaning; range");
  for (const PolicyOptionInfo& option : policy.options) {
    const std::vector<std::string> lines = wrapped_words(option.help, kScreenColumns - name - value - 7);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      out += row(i == 0 ? option.name : "", i == 0 ? shown_default(option) : "", lines[i]);
    }
  }
  const PolicyOptionInfo& first = policy.options.front();
  return out + fmt::format(
                   "\nIn a study file: policy: {{name: {}, {}: {}}}\n", policy.name, first.name, shown_default(first));
}

std::vector<PolicyInfo> policies_named(const std::string& name) {
  std::vector<PolicyInfo> all = policies();
  if (name.empty()) return all;
  std::vector<std::string> names;
  for (const PolicyInfo& policy : all) {
    if (policy.name == name) return {policy};
    names.push_back(policy.name);
  }
  const std::string near = nearest(name, names);
  throw InvalidInput(fmt::format("there is no policy {}{} (bapi policies lists them)",
                                 name,
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

struct PoliciesArguments {
  ListingArguments listing;
  std::string name;
};

int list_policies(const PoliciesArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  const std::vector<PolicyInfo> chosen = policies_named(arguments.name);
  if (format == Format::table) {
    print(arguments.name.empty() ? overview(chosen) : details(chosen.front()));
    return kDone;
  }
  Table table({"name", "summary", "options"});
  for (const PolicyInfo& policy : chosen) table.add({policy.name, policy.summary, options_of(policy)});
  print(render(table, format));
  return kDone;
}

}  // namespace

Command policies_command() {
  return {.name = "policies",
          .summary = "List the available policies, or the options of one",
          .examples =
              "Examples:\n"
              "  bapi policies\n"
              "  bapi policies hyperband\n"
              "  bapi policies -f json\n\n"
              "In a study file: policy: hyperband, or policy: {name: hyperband, eta: 3}.\n\n"
              "JSON: [{name, summary, options: [{name, default, help}]}], with NAME a list of one.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<PoliciesArguments>();
            arguments.optional_positional("NAME", parsed->name, "Policy whose options to list; default: all policies");
            parsed->listing.declare_format(arguments);
            return [parsed] { return list_policies(*parsed); };
          }};
}

}  // namespace bapi

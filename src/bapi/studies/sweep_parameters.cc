#include "bapi/studies/sweep_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"
#include "bapi/study/names.h"
#include "bapi/study/parameters_file.h"
#include "bapi/study/scalar.h"

namespace bapi {
namespace {

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

// A value of the text in flow style: {min: 0.1, max: 1}.
std::string flow(const YamlField& field) {
  std::vector<std::string> parts;
  if (field.is_mapping()) {
    for (const YamlField::Entry& entry : field.entries()) parts.push_back(entry.key + ": " + flow(entry.value));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  if (field.is_list()) {
    for (const YamlField& item : field.items("a list")) parts.push_back(flow(item));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  const Value value = field.value();
  if (const auto* text = std::get_if<std::string>(&value)) {
    return parse_scalar(*text) == value ? yaml_word(*text) : yaml_quoted(*text);
  }
  return field.text("a value");
}

double number_or(const YamlMapping& param, const char* key, double otherwise) {
  return param.has(key) ? param[key].number() : otherwise;
}

bool is_whole(const Value& value) { return std::holds_alternative<std::int64_t>(value); }

// Half the width of the range that stands for a normal distribution, in standard deviations: 95 % of it.
constexpr double kSpread = 2.0;

// Reads the parameters one after the other.
class Translation {
 public:
  Translation(const YamlField& field, std::vector<std::string>& notes) : mistakes_(field.source()), notes_(notes) {
    add_all(field, "");
    mistakes_.refuse();
  }

  std::vector<SweepParameter> take() { return std::move(found_); }

 private:
  void add_all(const YamlField& field, const std::string& prefix) {
    const YamlMapping fields(field, "a mapping such as {lr: {min: 1e-6, max: 1, log: true}}");
    if (fields.keys().empty()) field.fail("found none, expected at least one parameter");
    for (const YamlMapping::Key& key : fields.keys()) {
      mistakes_.of([&] {
        const std::string name = prefix + key.name;
        if (const auto mistake = param_name_mistake(name)) field.fail_at(key.place, *mistake);
        add(name, fields[key.name]);
      });
    }
  }

  void add(const std::string& name, const YamlField& field) {
    if (!field.is_mapping()) {
      keep(name, field);
      return;
    }
    const YamlMapping param(field, "a mapping such as {min: 0.1, max: 1.0}");
    if (param.has("parameters")) {
      tell(name,
           fmt::format("not nested any more: its parameters are {0}.NAME, handed over as --{0}.NAME VALUE", name));
      add_all(param["parameters"], name + ".");
    } else if (param.has("values") && param.has("probabilities")) {
      add_without_probabilities(name, param);
    } else if (param.has("distribution")) {
      add_distribution(name, param);
    } else if (is_binary(param)) {
      take(name, param, fmt::format("{{min: {}, max: {}, type: int}}", param["min"].integer(), param["max"].integer()));
      tell(name, "two integers, as in the sweep; with type: real it would be a range");
    } else {
      keep(name, field);
    }
  }

  // Where a study file asks whether {min: 0, max: 1} is a range, W&B takes integers.
  static bool is_binary(const YamlMapping& param) {
    if (param.keys().size() != 2 || !param.has("min") || !param.has("max")) return false;
    return is_whole(param["min"].value()) && is_whole(param["max"].value()) &&
           param["max"].integer() - param["min"].integer() == 1;
  }

  // Words that mean the same to both.
  void keep(const std::string& name, const YamlField& field) {
    read_parameter(name, field);
    found_.push_back({.name = name, .domain = flow(field)});
  }

  void add_without_probabilities(const std::string& name, const YamlMapping& param) {
    std::vector<std::string> options;
    for (const YamlField& item : param["values"].items("a list")) {
      read_yaml_value(item);
      options.push_back(flow(item));
    }
    take(name, param, fmt::format("{{values: [{}]}}", fmt::join(options, ", ")));
    tell(name, "probabilities: left out; every value is equally likely at first");
  }

  void add_distribution(const std::string& name, const YamlMapping& param) {
    const std::string distribution = param["distribution"].text("the name of a distribution");
    if (distribution.ends_with("normal")) {
      add_normal(name, param, distribution);
    } else if (distribution.starts_with("q_log_uniform") && number_or(param, "q", 1.0) != 1.0) {
      add_without_steps(name, param, distribution);
    } else {
      keep(name, param.field());
    }
  }

  // A study file has bounds alone: those of the middle 95 %.
  void add_normal(const std::string& name, const YamlMapping& param, const std::string& distribution) {
    const double mu = number_or(param, "mu", 0.0);
    const double sigma = number_or(param, "sigma", 1.0);
    if (!(sigma > 0.0 && std::isfinite(sigma))) param["sigma"].expected("a positive number");
    double low = mu - kSpread * sigma;
    double high = mu + kSpread * sigma;
    const bool is_log = distribution.ends_with("log_normal");
    if (is_log) {
      low = std::exp(low);
      high = std::exp(high);
    }
    if (is_log && distribution.starts_with("q_")) {
      take(name,
           param,
           fmt::format("{{min: {:.0f}, max: {:.0f}, type: int, log: true}}", std::max(1.0, low), std::ceil(high)));
    } else if (distribution.starts_with("q_")) {
      const double q = number_or(param, "q", 1.0);
      take(name, param, fmt::format("{{distribution: q_uniform, min: {:g}, max: {:g}, q: {:g}}}", low, high, q));
    } else {
      take(name, param, fmt::format("{{min: {:g}, max: {:g}, type: real{}}}", low, high, is_log ? ", log: true" : ""));
    }
    tell(name, fmt::format("{} has no bounds; min and max are two sigma below and above mu", distribution));
  }

  void add_without_steps(const std::string& name, const YamlMapping& param, const std::string& distribution) {
    const double q = param["q"].number();
    const bool whole = q == std::round(q);
    const std::string ends = fmt::format("min: {}, max: {}",
                                         param.required("min", "min: 16").text("a number"),
                                         param.required("max", "max: 256").text("a number"));
    take(name, param, fmt::format("{{distribution: {}, {}}}", whole ? distribution : distribution.substr(2), ends));
    tell(name,
         fmt::format("q: {:g} left out; {} between the bounds is tried", q, whole ? "any integer" : "any number"));
  }

  // A domain that was put together here.
  void take(const std::string& name, const YamlMapping& param, const std::string& domain) {
    YamlSource nowhere;
    try {
      read_parameters(load_yaml(fmt::format("{}: {}", yaml_word(name), domain), nowhere, "a parameter"));
    } catch (const InvalidInput& error) {
      param.field().fail(fmt::format("becomes {}, but {}", domain, error.what()));
    }
    found_.push_back({.name = name, .domain = domain});
  }

  void tell(const std::string& name, const std::string& text) {
    notes_.push_back(fmt::format("parameters.{}: {}", name, text));
  }

  Mistakes mistakes_;
  std::vector<std::string>& notes_;
  std::vector<SweepParameter> found_;
};

}  // namespace

std::string yaml_word(std::string_view word) {
  const bool plain =
      !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=-+") ==
                           std::string_view::npos;
  return plain ? std::string(word) : yaml_quoted(word);
}

std::vector<SweepParameter> sweep_parameters(const YamlField& field, std::vector<std::string>& notes) {
  return Translation(field, notes).take();
}

}  // namespace bapi

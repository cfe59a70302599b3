#include "bapi/studies/spec_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bapi/report/range_text.h"
#include "bapi/study/spec_fields.h"

namespace bapi {

namespace {

// Differences of one kind: as lines for people, and field by field.
struct Lines {
  std::vector<std::string>& lines;
  std::vector<SettingChange>* settings = nullptr;

  void add(std::string_view line) { lines.emplace_back(line); }
  void add(std::string_view field, const std::string& wanted, const std::string& stored) {
    lines.push_back(fmt::format("{}: here {}; in the study {}", field, wanted, stored));
    if (settings) settings->push_back({.field = std::string(field), .before = stored, .after = wanted});
  }
};

std::string text_of(const PolicySpec& policy) {
  std::string out = policy.name;
  for (const auto& [name, value] : policy.options) out += " " + name + "=" + to_text(value);
  return out;
}

std::string text_of(const BudgetSpec& budget) {
  if (budget.meter == Meter::accrued && budget.per_hour != 3600.0) {
    return fmt::format("in {} at {} per hour", budget.unit, budget.per_hour);
  }
  return "in " + budget.unit;
}

std::string text_of(const Gpus& gpus) {
  if (!gpus.given()) return "none";
  const std::string devices = gpus.automatic ? "auto" : fmt::format("[{}]", fmt::join(gpus.devices, ", "));
  return gpus.per_gpu == 1 ? devices : fmt::format("{{devices: {}, per_gpu: {}}}", devices, gpus.per_gpu);
}

std::string text_of(const MetricBounds& bounds) {
  const auto end = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string("null"); };
  return fmt::format("[{}, {}]", end(bounds.low), end(bounds.high));
}

std::string text_of(const std::string& text) { return text.empty() ? "none" : text; }

template <typename T>
std::string text_of(const T& value);

template <typename T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

// A struct as a study file would have it: "{keep: 3, final: true}".
struct StructText {
  std::vector<std::string> parts = {};

  template <typename T>
  void operator()(const Field& field, const T& value) {
    parts.push_back(fmt::format("{}: {}", field.name, text_of(value)));
  }
};

template <typename T>
std::string text_of(const T& value) {
  if constexpr (Named<T>) {
    return std::string(word(value));
  } else if constexpr (Listed<const T, StructText>) {
    StructText text;
    fields(text, value);
    return fmt::format("{{{}}}", fmt::join(text.parts, ", "));
  } else {
    return fmt::format("{}", value);
  }
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{} s", *seconds) : "none";
}

void compare_field(std::string_view name, const PolicySpec& stored, const PolicySpec& wanted, Lines& lines) {
  if (wanted != stored) lines.add(name, text_of(wanted), text_of(stored));
}

void compare_field(std::string_view name, const Gpus& stored, const Gpus& wanted, Lines& lines) {
  if (text_of(wanted) != text_of(stored)) lines.add(name, text_of(wanted), text_of(stored));
}

std::string text_of(const std::vector<NamedValues>& tries) {
  std::vector<std::string> texts;
  for (const NamedValues& wish : tries) {
    std::vector<std::string> words;
    for (const auto& [name, value] : wish) words.push_back(fmt::format("{}: {}", name, to_text(value)));
    texts.push_back(fmt::format("{{{}}}", fmt::join(words, ", ")));
  }
  return texts.empty() ? "none" : fmt::format("[{}]", fmt::join(texts, ", "));
}

void compare_field(std::string_view name,
                   const std::vector<NamedValues>& stored,
                   const std::vector<NamedValues>& wanted,
                   Lines& lines) {
  if (wanted != stored) lines.add(name, text_of(wanted), text_of(stored));
}

// As the study file has it but for the directory.
std::string text_of(const WarmStart& source) {
  const std::string name = std::filesystem::path(source.study).filename().string();
  return source.metric.empty() ? name : fmt::format("{{study: {}, metric: {}}}", name, source.metric);
}

std::string text_of(const std::vector<WarmStart>& from) {
  std::vector<std::string> texts;
  for (const WarmStart& source : from) texts.push_back(text_of(source));
  return texts.empty() ? "none" : fmt::format("[{}]", fmt::join(texts, ", "));
}

void compare_field(std::string_view name,
                   const std::vector<WarmStart>& stored,
                   const std::vector<WarmStart>& wanted,
                   Lines& lines) {
  if (starts_elsewhere(stored, wanted)) lines.add(name, text_of(wanted), text_of(stored));
}

void compare_field(std::string_view, const std::vector<EarlierStudy>&, const std::vector<EarlierStudy>&, Lines&) {}

// The limit is changed by an event.
void compare_field(std::string_view name, const BudgetSpec& stored, BudgetSpec wanted, Lines& lines) {
  wanted.limit = stored.limit;
  if (wanted != stored) lines.add(name, text_of(wanted), text_of(stored));
}

const Param* find(const Space& space, const std::string& name) {
  const auto it = std::find_if(
      space.params().begin(), space.params().end(), [&](const Param& param) { return param.name == name; });
  return it == space.params().end() ? nullptr : &*it;
}

void compare_field(std::string_view, const Space& stored, const Space& wanted, Lines& lines) {
  if (stored == wanted) return;
  const std::size_t before = lines.lines.size();
  for (const Param& param : wanted.params()) {
    const Param* other = find(stored, param.name);
    const std::string path = "parameters." + param.name;
    if (!other) lines.add(path, domain_text(param), "none");
    if (other && *other != param) lines.add(path, domain_text(param), domain_text(*other));
  }
  for (const Param& param : stored.params()) {
    if (!find(wanted, param.name)) lines.add("parameters." + param.name, "none", domain_text(param));
  }
  if (lines.lines.size() == before) lines.add("parameters: in another order");
}

void compare_field(std::string_view name,
                   const std::vector<Config>& stored,
                   const std::vector<Config>& wanted,
                   Lines& lines) {
  if (wanted == stored) return;
  lines.add(name, fmt::format("{} configurations", wanted.size()), fmt::format("{} others", stored.size()));
}

void compare_field(std::string_view name,
                   const std::map<std::string, std::string>& stored,
                   const std::map<std::string, std::string>& wanted,
                   Lines& lines) {
  const auto text = [](const std::map<std::string, std::string>& variables, const std::string& variable) {
    const auto found = variables.find(variable);
    return found == variables.end() ? std::string("none") : fmt::format("\"{}\"", found->second);
  };
  std::map<std::string, std::string> all = wanted;
  all.insert(stored.begin(), stored.end());
  for (const auto& [variable, value] : all) {
    if (text(wanted, variable) == text(stored, variable)) continue;
    lines.add(fmt::format("{}.{}", name, variable), text(wanted, variable), text(stored, variable));
  }
}

// Where the fields of a struct are, in the order in which they are visited.
struct Addresses {
  std::vector<const void*> list = {};

  template <typename T>
  void operator()(const Field&, const T& value) {
    list.push_back(&value);
  }
};

// What becomes of a difference.
struct Sorted {
  Lines frozen;
  Lines correctable;
  Lines free;

  Lines& of(const Field& field) { return field.free ? free : field.correctable ? correctable : frozen; }
};

// Visits the fields of one struct, with those of another beside it: the same list, so the same types.
class Comparer {
 public:
  // All differences go to `only`, if there is one, but for fields that may change anyway.
  template <typename T>
  Comparer(const T& stored, std::string path, Sorted& found, Lines* only = nullptr)
      : path_(std::move(path)), found_(found), only_(only) {
    fields(stored_, stored);
  }

  template <typename T>
  void operator()(const Field& field, const T& wanted) {
    const T& stored = *static_cast<const T*>(stored_.list[next_++]);
    const std::string path = path_ + std::string(field.name);
    Lines& lines = only_ && !field.free ? *only_ : found_.of(field);
    if constexpr (requires { compare_field(path, stored, wanted, lines); }) {
      compare_field(path, stored, wanted, lines);
    } else if constexpr (Listed<const T, Addresses>) {
      Comparer inside(stored, path + ".", found_, &lines);
      fields(inside, wanted);
    } else if (wanted != stored) {
      lines.add(path, text(field, wanted), text(field, stored));
    }
  }

 private:
  template <typename T>
  static std::string text(const Field& field, const T& value) {
    if constexpr (std::is_convertible_v<T, std::optional<double>>) {
      if (field.seconds) return seconds_text(value);
    }
    return text_of(value);
  }

  Addresses stored_ = {};
  std::string path_;
  Sorted& found_;
  Lines* only_;
  std::size_t next_ = 0;
};

}  // namespace

bool starts_elsewhere(const std::vector<WarmStart>& stored, const std::vector<WarmStart>& wanted) {
  const auto same = [](const WarmStart& a, const WarmStart& b) {
    const auto name = [](const WarmStart& source) {
      const std::filesystem::path path(source.study);
      return path.extension() == ".bapi" ? path.stem().string() : path.filename().string();
    };
    return name(a) == name(b) && a.metric == b.metric;
  };
  return !std::equal(stored.begin(), stored.end(), wanted.begin(), wanted.end(), same);
}

SpecChange compare(const StudySpec& stored, const StudySpec& wanted) {
  SpecChange change;
  Sorted found{.frozen = {.lines = change.frozen},
               .correctable = {.lines = change.correctable, .settings = &change.settings},
               .free = {.lines = change.free, .settings = &change.settings}};
  Comparer comparer(stored, "", found);
  fields(comparer, wanted);
  return change;
}

}  // namespace bapi

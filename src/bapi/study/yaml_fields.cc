#include "bapi/study/yaml_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/base/split.h"
#include "bapi/study/quantity.h"
#include "bapi/study/scalar.h"

namespace bapi {
namespace {

TextPlace place_of(const YAML::Mark& mark) {
  return mark.is_null() ? TextPlace{} : TextPlace{mark.line + 1, mark.column + 1};
}

// "a, b or c"
std::string either(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

// The most frequent slip in a command list deserves better than "end of sequence flow not found".
std::string syntax_hint(std::string_view text, const YAML::Mark& mark) {
  std::size_t begin = 0;
  for (int line = 0; line < mark.line && begin != std::string_view::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  if (begin == std::string_view::npos) return "";
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos) {
    return "; YAML allows no tabs at the beginning of a line: indent with spaces";
  }
  const bool macro_in_list = line.find('[') != std::string_view::npos && line.find("${") != std::string_view::npos;
  return macro_in_list ? "; inside [ ] a macro needs quotes: \"${name}\"" : "";
}

// Hears where a document begins, and nothing else.
class DocumentStart : public YAML::EventHandler {
 public:
  YAML::Mark mark = YAML::Mark::null_mark();

  void OnDocumentStart(const YAML::Mark& begin) override { mark = begin; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::Load reads the first document and forgets the rest; YAML::LoadAll does not return from some broken texts.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start)) return std::nullopt;
  return start.mark;
}

}  // namespace

// ── places ──────────────────────────────────────────────────────────────────────────────────────────────────────────

std::string YamlSource::at(TextPlace place) const {
  if (file.empty()) return "";
  return place.line == 0 ? file + ": " : fmt::format("{}:{}:{}: ", file, place.line, place.column);
}

std::string YamlSource::located(const std::string& message) const {
  std::string path = message.substr(0, message.find(": "));
  while (true) {
    if (const auto found = keys.find(path); found != keys.end()) return at(found->second) + message;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return at({}) + message;
    path.resize(dot);
  }
}

// ── mistakes ────────────────────────────────────────────────────────────────────────────────────────────────────────

void Mistakes::add(const std::string& text) {
  const std::string prefix = source_.file + ":";
  for (const std::string& line : split(text, '\n')) {
    const std::string placed = line.starts_with(prefix) ? line : source_.located(line);
    if (std::find(found_.begin(), found_.end(), placed) == found_.end()) found_.push_back(placed);
  }
}

void Mistakes::refuse() const {
  if (none()) return;
  const auto place = [&](const std::string& text) {
    TextPlace at;
    const std::string rest = text.substr(std::min(text.size(), source_.file.size()));
    if (std::sscanf(rest.c_str(), ":%d:%d:", &at.line, &at.column) != 2) at = {};
    return std::pair(at.line, at.column);
  };
  std::vector<std::string> all = found_;
  std::stable_sort(
      all.begin(), all.end(), [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  for (const auto& [key, message] : missing_) all.push_back(message);
  throw InvalidInput(fmt::format("{}", fmt::join(all, "\n")));
}

// ── fields ──────────────────────────────────────────────────────────────────────────────────────────────────────────

YamlField::YamlField(std::shared_ptr<const YAML::Node> node, std::string path, YamlSource& source)
    : node_(std::move(node)), path_(std::move(path)), source_(&source) {}

std::string YamlField::where() const { return source_->at(place()) + path_; }

bool YamlField::is_mapping() const { return node_->IsMap(); }
bool YamlField::is_list() const { return node_->IsSequence(); }
bool YamlField::is_scalar() const { return node_->IsScalar(); }
bool YamlField::is_null() const { return node_->IsNull(); }
bool YamlField::is_empty() const { return is_null() || std::holds_alternative<std::monostate>(value()); }

void YamlField::fail(const std::string& message) const { fail_at(place(), message); }

void YamlField::fail_at(TextPlace place, const std::string& message) const {
  throw InvalidInput(source_->at(place) + (path_.empty() ? message : path_ + ": " + message));
}

void YamlField::expected(const std::string& what) const { fail(fmt::format("found {}, expected {}", found(), what)); }

Value YamlField::value() const {
  if (!node_->IsScalar()) return std::monostate{};
  if (is_quoted()) return node_->Scalar();
  return parse_scalar(node_->Scalar());
}

std::string YamlField::text(const std::string& what) const {
  if (!node_->IsScalar()) expected(what);
  return node_->Scalar();
}

std::string YamlField::string(const std::string& what) const {
  const Value read = value();
  if (!std::holds_alternative<std::string>(read) || std::get<std::string>(read).empty()) expected(what);
  return std::get<std::string>(read);
}

bool YamlField::boolean() const {
  const Value read = value();
  if (!std::holds_alternative<bool>(read)) expected("true or false");
  return std::get<bool>(read);
}

bool YamlField::yes() const {
  const Value read = value();
  if (const auto* flag = std::get_if<bool>(&read)) return *flag;
  return one_of({"yes", "no"}) == 0;
}

double YamlField::number() const {
  const Value read = value();
  if (const auto* integer = std::get_if<std::int64_t>(&read)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&read)) return *real;
  expected("a number");
}

std::int64_t YamlField::integer() const {
  const Value read = value();
  if (!std::holds_alternative<std::int64_t>(read)) expected("an integer");
  return std::get<std::int64_t>(read);
}

int YamlField::small_integer() const {
  const std::int64_t wide = integer();
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) expected("a smaller integer");
  return static_cast<int>(wide);
}

double YamlField::seconds() const {
  return parse_duration(text("a duration such as 90s, 30m, 2h, 1h30m or seconds"), where());
}

std::size_t YamlField::one_of(const std::vector<std::string>& words) const {
  const auto word = std::find(words.begin(), words.end(), node_->IsScalar() ? node_->Scalar() : std::string());
  if (word == words.end()) expected(either(words));
  return static_cast<std::size_t>(word - words.begin());
}

std::vector<YamlField> YamlField::items(const std::string& what) const {
  if (!node_->IsSequence()) expected(what);
  std::vector<YamlField> fields;
  for (const YAML::Node& item : *node_) {
    fields.emplace_back(std::make_shared<YAML::Node>(item), fmt::format("{}[{}]", path_, fields.size()), *source_);
  }
  return fields;
}

std::vector<YamlField::Entry> YamlField::entries() const {
  std::vector<Entry> entries;
  add_entries(*node_, 0, entries);
  return entries;
}

// What is given stands; a merge key adds what is not, its first mapping before the others.
void YamlField::add_entries(const YAML::Node& node, int depth, std::vector<Entry>& entries) const {
  constexpr int kDeepest = 8;
  std::vector<YAML::Node> merged;
  for (const auto& entry : node) {
    const TextPlace place = place_of(entry.first.Mark());
    if (!entry.first.IsScalar()) fail_at(place, "found a list or mapping, expected a word as key");
    const std::string& key = entry.first.Scalar();
    if (key == "<<" && entry.first.Tag() == "?") {
      if (entry.second.IsMap()) merged.push_back(entry.second);
      if (entry.second.IsSequence()) {
        for (const YAML::Node& item : entry.second) merged.push_back(item);
      }
      const bool mappings =
          !merged.empty() && std::all_of(merged.begin(), merged.end(), [](const YAML::Node& m) { return m.IsMap(); });
      if (!mappings) fail_at(place, "found '<<' without a mapping, expected for example <<: *common");
      if (depth == kDeepest) fail_at(place, "found '<<' that leads to itself, or too deep");
      continue;
    }
    const bool given = std::any_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
    if (given && depth > 0) continue;
    const std::string path = path_.empty() ? key : path_ + "." + key;
    entries.push_back({key, place, YamlField(std::make_shared<YAML::Node>(entry.second), path, *source_)});
  }
  for (const YAML::Node& other : merged) add_entries(other, depth + 1, entries);
}

// yaml-cpp tags plain scalars "?", quoted and block ones "!".
bool YamlField::is_quoted() const { return node_->Tag() == "!" || node_->Tag() == "tag:yaml.org,2002:str"; }

std::string YamlField::found() const {
  if (node_->IsMap()) return "a mapping";
  if (node_->IsSequence()) return "a list";
  if (node_->IsNull()) return "nothing";
  return is_quoted() ? fmt::format("\"{}\"", node_->Scalar()) : fmt::format("'{}'", node_->Scalar());
}

// An empty value stands where its key does; yaml-cpp puts it on the next line.
TextPlace YamlField::place() const {
  const auto key = source_->keys.find(path_);
  return node_->IsNull() && key != source_->keys.end() ? key->second : place_of(node_->Mark());
}

// ── mappings ────────────────────────────────────────────────────────────────────────────────────────────────────────

YamlMapping::YamlMapping(const YamlField& field, const std::string& what) : field_(field) {
  if (!field.is_mapping()) field.expected(what);
  for (const YamlField::Entry& entry : field.entries()) {
    TextPlace& place = field.source().keys[entry.value.path()];
    if (!fields_.emplace(entry.key, entry.value).second) {
      field.fail_at(entry.place, fmt::format("key '{}' is given twice, first in line {}", entry.key, place.line));
    }
    place = entry.place;
    keys_.push_back({entry.key, entry.place});
  }
}

YamlMapping::YamlMapping(const YamlField& field,
                         const std::string& what,
                         const std::vector<std::string>& known,
                         const KeyAdvice& advice)
    : YamlMapping(field, what) {
  refuse_unknown(known, advice);
}

const YamlField& YamlMapping::required(const std::string& key, const std::string& example) const {
  if (!has(key)) field_.fail(fmt::format("found no '{}', expected for example {}", key, example));
  return fields_.at(key);
}

void YamlMapping::forbid(const std::vector<std::string>& keys, const std::string& beside) const {
  for (const std::string& key : keys) {
    if (has(key)) fields_.at(key).fail(fmt::format("has no meaning together with '{}'", beside));
  }
}

std::vector<YamlMapping::Key> YamlMapping::unknown_keys(const std::vector<std::string>& known) const {
  std::vector<Key> unknown;
  for (const Key& key : keys_) {
    const bool is_known = std::find(known.begin(), known.end(), key.name) != known.end();
    if (!is_known && !key.name.starts_with("x-")) unknown.push_back(key);
  }
  return unknown;
}

void YamlMapping::refuse_unknown(const std::vector<std::string>& known, const KeyAdvice& advice) const {
  Mistakes mistakes(field_.source());
  for (const Key& key : unknown_keys(known)) {
    mistakes.of([&] {
      if (const auto found = advice.find(key.name); found != advice.end()) {
        field_.fail_at(key.place, fmt::format("key '{}' is not one of bapi's; {}", key.name, found->second));
      }
      const std::string meant = nearest(key.name, known);
      field_.fail_at(key.place,
                     meant.empty()
                         ? fmt::format("unknown key '{}', expected one of {}", key.name, fmt::join(known, ", "))
                         : fmt::format("unknown key '{}'; did you mean '{}'?", key.name, meant));
    });
  }
  mistakes.refuse();
}

bool YamlMapping::seems_misspelt(const std::string& key,
                                 const std::vector<std::string>& known,
                                 const KeyAdvice& advice) const {
  const std::vector<Key> unknown = unknown_keys(known);
  return std::any_of(unknown.begin(), unknown.end(), [&](const Key& other) {
    const auto found = advice.find(other.name);
    return found != advice.end() ? found->second.starts_with(fmt::format("write '{}'", key))
                                 : nearest(other.name, known) == key;
  });
}

YamlField load_yaml(const std::string& text, YamlSource& source, const std::string& what) {
  try {
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull()) throw InvalidInput(fmt::format("{}found nothing, expected {}", source.at({1, 1}), what));
    if (const auto mark = second_document(text)) {
      throw InvalidInput(
          fmt::format("{}found more after the end of the study, expected nothing", source.at(place_of(*mark))));
    }
    return YamlField(std::make_shared<YAML::Node>(document), "", source);
  } catch (const YAML::Exception& error) {
    throw InvalidInput(
        fmt::format("{}not YAML: {}{}", source.at(place_of(error.mark)), error.msg, syntax_hint(text, error.mark)));
  }
}

}  // namespace bapi

#include "golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bapi::golden {

namespace {

using Json = nlohmann::json;

struct Tolerance {
  double absolute = 0.0;
  double relative = 0.0;
};

double to_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::runtime_error("not a number: " + value.dump());
}

bool within(double got, double expected, const Tolerance& tolerance, double own_error) {
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  const double allowed = tolerance.absolute + tolerance.relative * std::abs(expected) + own_error;
  return std::abs(got - expected) <= allowed;  // false for NaN
}

Json as_json(const Vector& v) { return std::vector<double>(v.data(), v.data() + v.size()); }

std::vector<std::string> path_of(std::string_view key) {
  std::vector<std::string> parts;
  std::stringstream stream{std::string(key)};
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
}

const Json* find(const Json& root, std::string_view key) {
  const Json* node = &root;
  for (const std::string& part : path_of(key)) {
    if (!node->is_object() || !node->contains(part)) return nullptr;
    node = &node->at(part);
  }
  return node;
}

void collect_leaves(const Json& node, const std::string& prefix, std::vector<std::string>& leaves) {
  for (const auto& [key, value] : node.items()) {
    const std::string path = prefix.empty() ? key : prefix + "/" + key;
    if (value.is_object()) {
      collect_leaves(value, path, leaves);
    } else {
      leaves.push_back(path);
    }
  }
}

struct File {
  std::string path;
  std::string topic;
  Json content;
};

std::string topic_of(const Json& content, const std::filesystem::path& path) {
  if (content.is_object() && content.contains("name") && content["name"].is_string()) return content["name"];
  return path.stem().string();
}

std::vector<std::filesystem::path> json_files(const std::string& directory) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::is_directory(directory)) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

File read_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  Json content = Json::parse(stream);
  const std::string topic = topic_of(content, path);
  return {path.string(), topic, std::move(content)};
}

}  // namespace

struct Value::Node {
  std::shared_ptr<const Json> root;  // keeps the file alive
  const Json* json;
};

Value::Value(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

bool Value::has(std::string_view key) const {
  return node_->json->is_object() && node_->json->contains(std::string(key));
}

Value Value::operator[](std::string_view key) const {
  if (!has(key)) throw std::runtime_error("no member " + std::string(key));
  return Value(std::make_shared<const Node>(Node{node_->root, &node_->json->at(std::string(key))}));
}

Value Value::at(int index) const {
  return Value(std::make_shared<const Node>(Node{node_->root, &node_->json->at(static_cast<std::size_t>(index))}));
}

int Value::size() const { return static_cast<int>(node_->json->size()); }

bool Value::is_list() const { return node_->json->is_array(); }

double Value::number() const { return to_number(*node_->json); }

double Value::number_or(std::string_view key, double otherwise) const {
  return has(key) ? (*this)[key].number() : otherwise;
}

int Value::integer() const {
  const double value = number();
  if (value != std::floor(value)) throw std::runtime_error("not an integer: " + node_->json->dump());
  return static_cast<int>(value);
}

bool Value::boolean() const { return node_->json->get<bool>(); }

std::string Value::text() const { return node_->json->get<std::string>(); }

Vector Value::vector() const {
  if (!is_list()) throw std::runtime_error("not a list: " + node_->json->dump());
  Vector v(size());
  for (int i = 0; i < size(); ++i) v[i] = at(i).number();
  return v;
}

std::vector<int> Value::integers() const {
  std::vector<int> v;
  for (int i = 0; i < size(); ++i) v.push_back(at(i).integer());
  return v;
}

Matrix Value::matrix() const {
  if (size() == 0) return Matrix(0, 0);
  Matrix m(size(), at(0).size());
  for (int i = 0; i < size(); ++i) {
    if (at(i).size() != m.cols()) throw std::runtime_error("rows of different length");
    m.row(i) = at(i).vector();
  }
  return m;
}

struct Case::State {
  std::string file;
  std::shared_ptr<const Json> root;
  std::set<std::string, std::less<>> seen;
  std::vector<std::string> failures;

  void fail(const std::string& message) { failures.push_back(file + " " + name() + ": " + message); }

  std::string name() const { return root->value("id", std::string("(no id)")); }

  const Json& expected() const { return root->at("expected"); }

  Tolerance tolerance(std::string_view key) const {
    if (!root->contains("tolerance")) return {};
    const Json& rules = root->at("tolerance");
    const std::vector<std::string> parts = path_of(key);
    for (const std::string& name : {std::string(key), parts.back(), parts.front(), std::string("default")}) {
      if (rules.contains(name) && rules.at(name).is_object() && rules.at(name).contains("abs")) {
        return {rules.at(name).value("abs", 0.0), rules.at(name).value("rel", 0.0)};
      }
    }
    return {};
  }

  void compare(const std::string& key, const Json& want, const Json& got, const Tolerance& allowed, double own_error) {
    if (want.is_array() || got.is_array()) {
      if (!want.is_array() || !got.is_array() || want.size() != got.size()) {
        return fail(key + ": another shape than expected");
      }
      for (std::size_t i = 0; i < want.size(); ++i) {
        compare(key + "[" + std::to_string(i) + "]", want[i], got[i], allowed, own_error);
      }
      return;
    }
    if (want.is_null() || got.is_null() || want.is_boolean() || got.is_boolean()) {
      if (want != got) fail(key + ": got " + got.dump() + ", expected " + want.dump());
      return;
    }
    if (want.is_string() && got.is_string()) {
      if (want != got) fail(key + ": got " + got.dump() + ", expected " + want.dump());
      return;
    }
    const double wanted = to_number(want);
    const double value = to_number(got);
    if (within(value, wanted, allowed, own_error)) return;
    std::ostringstream message;
    message.precision(17);
    message << key << ": got " << value << ", expected " << wanted << ", off by " << value - wanted << ", allowed "
            << allowed.absolute + allowed.relative * std::abs(wanted) + own_error;
    fail(message.str());
  }

  void judge(std::string_view key, const Json& got, const Tolerance& allowed, double own_error) {
    seen.emplace(key);
    const Json* want = find(expected(), key);
    if (want == nullptr) return fail(std::string(key) + ": not among the expected values");
    compare(std::string(key), *want, got, allowed, own_error);
  }

  void check_all_seen() {
    std::vector<std::string> leaves;
    collect_leaves(expected(), "", leaves);
    if (leaves.empty()) fail("nothing is expected");
    for (const std::string& leaf : leaves) {
      if (!seen.contains(leaf)) fail(leaf + ": no assertion looked at it");
    }
  }
};

namespace {

// JSON has no NaN and no infinity: to_number reads the texts that the files use for the latter.
Json number_as_json(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json vector_as_json(const Vector& v) {
  if (v.allFinite()) return as_json(v);
  Json list = Json::array();
  for (Eigen::Index i = 0; i < v.size(); ++i) list.push_back(number_as_json(v[i]));
  return list;
}

Json matrix_as_json(const Matrix& m) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) rows.push_back(vector_as_json(m.row(i).transpose()));
  return rows;
}

std::vector<std::string> run_file(const File& file, const std::function<void(Case&)>& body) {
  std::vector<std::string> failures;
  if (!file.content.is_object() || !file.content.contains("cases") || !file.content["cases"].is_array() ||
      file.content["cases"].empty()) {
    return {file.path + ": no cases"};
  }
  for (const Json& entry : file.content["cases"]) {
    const auto state = std::make_shared<Case::State>();
    state->file = std::filesystem::path(file.path).filename().string();
    state->root = std::make_shared<const Json>(entry);
    try {
      if (!entry.contains("expected") || !entry.contains("inputs")) throw std::runtime_error("no inputs or expected");
      Case golden_case(state);
      body(golden_case);
      state->check_all_seen();
    } catch (const std::exception& error) {
      state->fail(error.what());
    }
    failures.insert(failures.end(), state->failures.begin(), state->failures.end());
  }
  return failures;
}

}  // namespace

Case::Case(std::shared_ptr<State> state) : state_(std::move(state)) {}

std::string Case::id() const { return state_->name(); }

Value Case::inputs() const {
  return Value(std::make_shared<const Value::Node>(Value::Node{state_->root, &state_->root->at("inputs")}));
}

Value Case::params() const {
  return Value(std::make_shared<const Value::Node>(Value::Node{state_->root, &state_->root->at("params")}));
}

bool Case::has_params() const { return state_->root->contains("params"); }

bool Case::expects(std::string_view key) const { return find(state_->expected(), key) != nullptr; }

Value Case::expected(std::string_view key) const {
  const Json* node = find(state_->expected(), key);
  if (node == nullptr) throw std::runtime_error("no expected value " + std::string(key));
  return Value(std::make_shared<const Value::Node>(Value::Node{state_->root, node}));
}

void Case::expect(std::string_view key, double got, double own_error) {
  state_->judge(key, number_as_json(got), state_->tolerance(key), own_error);
}

void Case::expect(std::string_view key, const Vector& got, double own_error) {
  state_->judge(key, vector_as_json(got), state_->tolerance(key), own_error);
}

void Case::expect(std::string_view key, const Matrix& got, double own_error) {
  state_->judge(key, matrix_as_json(got), state_->tolerance(key), own_error);
}

void Case::expect(std::string_view key, const std::vector<Matrix>& got) {
  Json list = Json::array();
  for (const Matrix& m : got) list.push_back(matrix_as_json(m));
  state_->judge(key, list, state_->tolerance(key), 0.0);
}

void Case::expect(std::string_view key, const std::optional<double>& got) {
  state_->judge(key, got ? number_as_json(*got) : Json(nullptr), state_->tolerance(key), 0.0);
}

void Case::expect(std::string_view key, int got) { state_->judge(key, got, {}, 0.0); }

void Case::expect(std::string_view key, bool got) { state_->judge(key, got, {}, 0.0); }

void Case::expect(std::string_view key, const std::vector<int>& got) { state_->judge(key, got, {}, 0.0); }

void Case::expect(std::string_view key, const std::vector<std::string>& got) { state_->judge(key, got, {}, 0.0); }

void Case::expect_true(bool condition, std::string_view what) {
  if (!condition) state_->fail(std::string(what));
}

const std::vector<std::string>& topics() {
  static const std::vector<std::string> names = {"kernels",
                                                 "special",
                                                 "gp_posterior",
                                                 "lml",
                                                 "mono_matrices",
                                                 "mono_posterior",
                                                 "tmvn",
                                                 "ei",
                                                 "qei",
                                                 "qei_local",
                                                 "stopping",
                                                 "curve_points",
                                                 "cost",
                                                 "plan"};
  return names;
}

std::string directory() {
  const char* named = std::getenv("BAPI_GOLDEN_DIR");
  if (named != nullptr && *named != '\0') return named;
  return std::string(BAPI_SOURCE_DIR) + "/tests/golden";
}

std::vector<std::string> directory_faults(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path + ": no such directory"};
  const std::vector<std::filesystem::path> paths = json_files(path);
  if (paths.empty()) return {path + ": holds no golden file"};
  std::vector<std::string> faults;
  for (const auto& file_path : paths) {
    try {
      const File file = read_file(file_path);
      if (std::find(topics().begin(), topics().end(), file.topic) == topics().end()) {
        faults.push_back(file.path + ": unknown topic " + file.topic);
      } else if (!file.content.contains("cases") || !file.content["cases"].is_array() ||
                 file.content["cases"].empty()) {
        faults.push_back(file.path + ": no cases");
      }
    } catch (const std::exception& error) {
      faults.push_back(file_path.string() + ": " + error.what());
    }
  }
  return faults;
}

std::vector<std::string> topics_in(const std::string& path) {
  std::vector<std::string> found;
  for (const auto& file_path : json_files(path)) found.push_back(read_file(file_path).topic);
  return found;
}

std::vector<std::string> failures_of(const std::string& json_text, const std::function<void(Case&)>& body) {
  return run_file({"(text)", "", Json::parse(json_text)}, body);
}

void for_each_case(std::string_view topic, const std::function<void(Case&)>& body) {
  const std::string path = directory();
  const std::vector<std::filesystem::path> paths = json_files(path);
  if (paths.empty()) ADD_FAILURE() << path << ": missing, or holds no golden file";
  bool found = false;
  for (const auto& file_path : paths) {
    const File file = read_file(file_path);
    if (file.topic != topic) continue;
    found = true;
    for (const std::string& failure : run_file(file, body)) ADD_FAILURE() << failure;
  }
  if (!found && std::getenv("BAPI_GOLDEN_DIR") == nullptr) ADD_FAILURE() << path << ": no file of topic " << topic;
}

}  // namespace bapi::golden

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/math/types.h"

// Runs golden files: one JSON file per topic, `{name, cases: [{id, inputs, params, expected, tolerance}]}`. The format
// is described in tests/golden/README.md. Any directory of such files can be run: the environment variable
// BAPI_GOLDEN_DIR names it, the default is tests/golden of the source tree.
namespace bapi::golden {

// A part of a golden file, to be read. Asking for something that is not there or has another type fails the case.
class Value {
 public:
  struct Node;
  explicit Value(std::shared_ptr<const Node> node);

  bool has(std::string_view key) const;
  Value operator[](std::string_view key) const;  // member of an object
  Value at(int index) const;                     // element of a list
  int size() const;                              // elements of a list
  bool is_list() const;

  double number() const;  // "inf" and "-inf" are numbers
  double number_or(std::string_view key, double otherwise) const;
  int integer() const;
  bool boolean() const;
  std::string text() const;
  Vector vector() const;
  std::vector<int> integers() const;
  Matrix matrix() const;  // list of rows

 private:
  std::shared_ptr<const Node> node_;
};

// One case. Every `expect` compares one key of `expected` ("mean", or "linear_mean/var" inside a group) and marks it as
// looked at; a key that is never looked at fails the case when it ends.
//
// A number passes when |got - expected| <= abs + rel |expected| + own_error, elementwise, with the tolerance of the
// key, or of the group it is in, or the default one. Integers, booleans, texts and lists of integers are exact.
// own_error is the error of `got` itself where it is an estimate from samples.
class Case {
 public:
  struct State;
  explicit Case(std::shared_ptr<State> state);

  std::string id() const;
  Value inputs() const;
  Value params() const;
  bool has_params() const;

  bool expects(std::string_view key) const;
  Value expected(std::string_view key) const;  // to read a value without judging it; does not mark it

  void expect(std::string_view key, double got, double own_error = 0.0);
  void expect(std::string_view key, const Vector& got, double own_error = 0.0);
  void expect(std::string_view key, const Matrix& got, double own_error = 0.0);
  void expect(std::string_view key, const std::vector<Matrix>& got);
  void expect(std::string_view key, const std::optional<double>& got);  // nullopt is null
  void expect(std::string_view key, int got);
  void expect(std::string_view key, bool got);
  void expect(std::string_view key, const std::vector<int>& got);
  void expect(std::string_view key, const std::vector<std::string>& got);

  // A condition that is not one of the expected keys; `what` says what should hold.
  void expect_true(bool condition, std::string_view what);

 private:
  std::shared_ptr<State> state_;
};

// The topics for which a test exists. A file of any other topic in the directory is an error.
const std::vector<std::string>& topics();

// Runs `body` on every case of every file of the topic. Adds a failure when the directory is missing or holds no
// golden file, when a file of the topic has no cases, when a case throws, and for every expected key that `body` did
// not look at. Only the directory named by BAPI_GOLDEN_DIR may lack a topic.
void for_each_case(std::string_view topic, const std::function<void(Case&)>& body);

// What is wrong with a directory of golden files as a whole: missing, empty, unreadable or unknown files. Empty when
// nothing is.
std::vector<std::string> directory_faults(const std::string& directory);

// The topics of the golden files in a directory.
std::vector<std::string> topics_in(const std::string& directory);

// The failures of running `body` on the text of one golden file; lets the harness be tested itself.
std::vector<std::string> failures_of(const std::string& json_text, const std::function<void(Case&)>& body);

std::string directory();

}  // namespace bapi::golden

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/base/rng.h"
#include "bapi/math/types.h"

namespace bapi {

// What a parameter can be set to. `std::monostate` is the value of a conditional parameter that does not apply.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// The way a value is written on a command line or in a message; a double with as few digits as read back the same.
std::string to_text(const Value& value);

enum class Scale { linear, log, log_complement };  // log_complement: log(1 - value)

template <>
inline constexpr auto names<Scale> =
    NameTable{Name{Scale::linear, "linear"}, Name{Scale::log, "log"}, Name{Scale::log_complement, "log_complement"}};

struct RealRange {
  double low = 0.0;
  double high = 1.0;
  Scale scale = Scale::linear;
  bool operator==(const RealRange&) const = default;
};

struct IntRange {
  std::int64_t low = 0;
  std::int64_t high = 1;
  Scale scale = Scale::linear;  // linear or log
  bool operator==(const IntRange&) const = default;
};

// One of several values. Ordered choices (32, 64, 128) are neighbours of each other, unordered ones (sgd, adam) are
// all equally far apart.
struct Choice {
  enum class Order { unordered, ordered };
  std::vector<Value> options = {};
  Order order = Order::unordered;
  bool operator==(const Choice&) const = default;
};

template <>
inline constexpr auto names<Choice::Order> =
    NameTable{Name{Choice::Order::unordered, "unordered"}, Name{Choice::Order::ordered, "ordered"}};

struct Constant {
  Value value;
  bool operator==(const Constant&) const = default;
};

using Domain = std::variant<RealRange, IntRange, Choice, Constant>;

// A parameter applies only where the parameter `param` applies and has one of `values`.
struct Condition {
  std::string param;
  std::vector<Value> values = {};
  bool operator==(const Condition&) const = default;
};

struct Param {
  std::string name;
  Domain domain;
  std::vector<Condition> when = {};  // all must hold
  bool operator==(const Param&) const = default;
};

// Values in the order of Space::params(). Meaningless without its Space; compared by value.
struct Config {
  std::vector<Value> values = {};
  bool operator==(const Config&) const = default;
};

// The set of all configurations, and three ways to write one down:
//   Config   what the training program gets;
//   unit     one coordinate in [0, 1] per parameter that varies; every point of the unit cube is a configuration
//            (an integer or an option owns a cell of equal width). Random draws and designs live here;
//   encoded  what the surrogates see: as unit, but an unordered choice takes one column per option (1 for the chosen
//            one, else 0), and a parameter that does not apply stands at 0.5 (its option columns at 1 / options).
class Space {
 public:
  // Throws InvalidInput: no parameter, duplicate name, empty range or list, log of a non-positive bound, a condition
  // on an unknown parameter, on a value that it cannot have, or in a circle.
  explicit Space(std::vector<Param> params);

  const std::vector<Param>& params() const { return params_; }
  int unit_dim() const { return unit_dim_; }
  int encoded_dim() const { return encoded_dim_; }

  Config from_unit(const Vector& u) const;     // coordinates are clamped to [0, 1]
  Vector to_unit(const Config& config) const;  // the middle of the cell; 0.5 where it does not apply
  Vector encode(const Config& config) const;
  Config decode(const Vector& x) const;  // nearest valid configuration; decode(encode(c)) == c
  Config sample(Rng& rng) const;         // uniform in the unit cube; one draw per varying parameter

  // Every configuration, no two the same, if there are at most `limit`; nothing otherwise.
  std::optional<std::vector<Config>> all(std::size_t limit) const;

  // Throws InvalidInput unless `config` has a valid value for every parameter that applies and none for the others.
  void validate(const Config& config) const;

  bool operator==(const Space& other) const { return params_ == other.params_; }

 private:
  bool applies(std::size_t param, const Config& config) const;

  std::vector<Param> params_;
  std::vector<std::size_t> order_;  // every parameter after those it depends on
  int unit_dim_ = 0;
  int encoded_dim_ = 0;
};

}  // namespace bapi

#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/study/event.h"
#include "bapi/study/reason_fields.h"
#include "bapi/study/spec.h"
#include "bapi/study/spec_fields.h"

// Arbitrary specifications and events, for round trips. Texts hold quotes, newlines, NUL, umlauts and bytes that are no
// UTF-8; numbers are any finite bit pattern.
namespace bapi::testing_support {

inline double any_finite(Rng& rng) {
  for (;;) {
    const auto number = std::bit_cast<double>(rng.bits());
    if (std::isfinite(number)) return number;
  }
}

inline double any_number(Rng& rng) {
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            0.1,
                            1e22,
                            std::numeric_limits<double>::min(),
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
  return rng.below(3) == 0 ? special[rng.below(std::size(special))] : any_finite(rng);
}

inline std::string any_text(Rng& rng) {
  const std::string pieces[] = {"a", "lr", "\"", "\\", "\n", std::string(1, '\0'), "ü", "$", "{", "\x1f", " ", "nan"};
  std::string text;
  for (int i = rng.below(8); i > 0; --i) text += pieces[rng.below(std::size(pieces))];
  return text;
}

inline std::string any_bytes(Rng& rng) {
  std::string text = any_text(rng);
  if (rng.below(4) == 0) text += "\xff\xc3";
  return text;
}

inline Value any_value(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return rng.below(2) == 0;
    case 1:
      return static_cast<std::int64_t>(rng.bits());
    case 2:
      return any_number(rng);
    case 3:
      return static_cast<double>(rng.below(5));  // 1.0 must not come back as the integer 1
    default:
      return any_bytes(rng);
  }
}

template <Named Enum>
Enum any_named(Rng& rng) {
  const auto& entries = names<Enum>.entries;
  return entries[static_cast<std::size_t>(rng.below(static_cast<int>(entries.size())))].value;
}

inline Config any_config(Rng& rng) {
  Config config;
  for (int i = rng.below(6); i > 0; --i) {
    config.values.push_back(rng.below(5) == 0 ? Value(std::monostate{}) : any_value(rng));
  }
  return config;
}

inline Domain any_domain(Rng& rng) {
  switch (rng.below(4)) {
    case 0: {
      const double low = 1e-9 + rng.uniform();
      return RealRange{.low = low, .high = low + 1e-9 + rng.uniform(), .scale = static_cast<Scale>(rng.below(2))};
    }
    case 1: {
      const int low = 1 + rng.below(1000);
      return IntRange{.low = low, .high = low + 1 + rng.below(1000), .scale = static_cast<Scale>(rng.below(2))};
    }
    case 2: {
      Choice choice{.order = static_cast<Choice::Order>(rng.below(2))};
      const std::vector<Value> options{1.5, std::int64_t{3}, std::string("sgd"), true, std::string("ü\n")};
      const int count = 2 + rng.below(4);
      choice.options.assign(options.begin(), options.begin() + count);
      return choice;
    }
    default:
      return Constant{.value = any_value(rng)};
  }
}

// A gate with two options, then parameters of any kind, some of them behind the gate.
inline Space any_space(Rng& rng) {
  std::vector<Param> params{{.name = "gate", .domain = Choice{.options = {std::string("open"), std::string("shut")}}}};
  for (int i = 1 + rng.below(6); i > 0; --i) {
    Param param{.name = "p" + std::to_string(i), .domain = any_domain(rng)};
    if (rng.below(3) == 0) param.when = {{.param = "gate", .values = {std::string("open")}}};
    params.push_back(std::move(param));
  }
  return Space(std::move(params));
}

// Fills every field that a visitor is shown with anything, optional ones half of the time.
class AnyFields {
 public:
  explicit AnyFields(Rng& rng) : rng_(rng) {}

  template <typename T>
  void operator()(const Field&, T& field) {
    fill(field);
  }

  template <typename T>
  void if_set(const Field&, T& field) {
    if (rng_.below(2) == 0) fill(field);
  }

 private:
  void fill(bool& field) { field = rng_.below(2) == 0; }
  void fill(int& field) { field = rng_.below(1000000); }
  void fill(std::uint64_t& field) { field = rng_.bits(); }
  void fill(double& field) { field = any_number(rng_); }
  void fill(std::string& field) { field = any_bytes(rng_); }
  void fill(TrialId& field) { field = TrialId{rng_.below(1000000)}; }
  void fill(Value& field) { field = any_value(rng_); }
  void fill(Config& field) { field = any_config(rng_); }
  void fill(Space& field) { field = any_space(rng_); }

  template <Named T>
  void fill(T& field) {
    field = any_named<T>(rng_);
  }

  template <typename T>
  void fill(std::optional<T>& field) {
    if (rng_.below(2) == 0) fill(field.emplace());
  }

  template <typename T>
  void fill(std::map<std::string, T>& field) {
    for (int i = rng_.below(4); i > 0; --i) fill(field[any_text(rng_)]);  // a key of JSON is UTF-8
  }

  template <typename T>
  void fill(Rare<T>& field) {
    fill(field.emplace());
  }

  template <typename T>
  void fill(std::vector<T>& field) {
    for (int i = rng_.below(4); i > 0; --i) fill(field.emplace_back());
  }

  template <typename T>
  void fill(T& field) {
    fields(*this, field);
  }

  Rng& rng_;
};

template <typename T>
T any_fields(Rng& rng) {
  T value;
  AnyFields any(rng);
  fields(any, value);
  return value;
}

inline Reason any_why(Rng& rng) { return any_fields<Reason>(rng); }

inline TrialId any_trial(Rng& rng) { return TrialId{rng.below(1000000)}; }
inline Epoch any_epoch(Rng& rng) { return rng.below(std::numeric_limits<int>::max()); }

// Of the kind with this index in the variant.
inline Event any_event(std::size_t kind, Rng& rng) {
  const TrialId trial = any_trial(rng);
  switch (kind) {
    case 0:
      return TrialStarted{.trial = trial,
                          .config = any_config(rng),
                          .until = any_epoch(rng),
                          .expected_cost = any_number(rng),
                          .why = any_why(rng),
                          .assignment = any_fields<TrialAssignment>(rng)};
    case 1:
      return TrialResumed{
          .trial = trial, .until = any_epoch(rng), .expected_cost = any_number(rng), .why = any_why(rng)};
    case 2:
      return TrialStopped{.trial = trial, .why = any_why(rng)};
    case 3:
      return StudyFinished{.reason = any_bytes(rng)};
    case 4:
      return Measured{.trial = trial,
                      .measurement = {.epoch = any_epoch(rng), .value = any_number(rng), .cost = any_number(rng)},
                      .others = rng.below(2) == 0 ? Rare<OtherMetrics>()
                                                  : Rare<OtherMetrics>(OtherMetrics{{any_text(rng), any_number(rng)}})};
    case 5:
      return SegmentDone{.trial = trial};
    case 6:
      return ProgramEnded{.trial = trial};
    case 7:
      return TrialFailed{.trial = trial, .message = any_bytes(rng), .cause = any_named<FailureCause>(rng)};
    case 8:
      return Interrupted{.trial = trial, .reason = any_bytes(rng)};
    case 9:
      return Overhead{
          .trial = trial, .kind = any_named<OverheadKind>(rng), .epoch = any_epoch(rng), .cost = any_number(rng)};
    case 10:
      return BudgetChanged{.total = any_number(rng)};
    case 11:
      return TrialRetried{.trial = trial, .reason = any_bytes(rng), .until = rng.below(2) == 0 ? 0 : any_epoch(rng)};
    case 12:
      return SettingsChanged{
          .changes = {{.field = any_text(rng), .before = any_bytes(rng), .after = any_bytes(rng)}, {}}};
    default:
      return ConfigEnqueued{.wish = any_config(rng), .by = any_bytes(rng), .id = any_text(rng)};
  }
}

inline StudySpec any_spec(Rng& rng) { return any_fields<StudySpec>(rng); }

}  // namespace bapi::testing_support

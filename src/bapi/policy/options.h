#pragma once

#include <string>
#include <vector>

#include "bapi/policy/registry.h"

namespace bapi {

// Reads a policy's options. Every getter throws InvalidInput that names policy, option, value and rule.
class OptionReader {
 public:
  // Throws if `spec` has an option that is neither `known` nor `retired`; names the nearest known one.
  OptionReader(const PolicySpec& spec,
               const std::vector<std::string>& known,
               const std::vector<std::string>& retired = {});

  int integer(const std::string& name, int default_value, int low, int high) const;
  double real(const std::string& name, double default_value, double low, double high) const;
  bool flag(const std::string& name, bool default_value) const;  // also on/off
  std::string word(const std::string& name,
                   const std::string& default_value,
                   const std::vector<std::string>& allowed) const;
  // A number in [low, high], or `word` itself: nullopt.
  std::optional<double> real_or(const std::string& name,
                                const std::string& word,
                                std::optional<double> default_value,
                                double low,
                                double high) const;
  // The same for a whole number.
  std::optional<int> integer_or(
      const std::string& name, const std::string& word, std::optional<int> default_value, int low, int high) const;

 private:
  const Value* find(const std::string& name) const;
  [[noreturn]] void fail(const std::string& name, const Value& found, const std::string& expected) const;

  const PolicySpec& spec_;
};

}  // namespace bapi

#pragma once

#include <string>
#include <vector>

#include "bapi/policy/registry.h"

namespace bapi::test {

inline std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : policies()) names.push_back(info.name);
  return names;
}

inline std::string as_test_name(std::string policy) {
  for (char& c : policy) c = c == '-' ? '_' : c;
  return policy;
}

// Searches that take a second by default are made short: the laws do not depend on how thorough they are.
inline PolicySpec brisk(const std::string& name) {
  if (name == "ms-ei") return {.name = name, .options = {{"steps", std::int64_t{3}}, {"starts", std::int64_t{1}}}};
  if (name == "binoculars") {
    return {.name = name, .options = {{"draws", std::int64_t{32}}, {"starts", std::int64_t{2}}}};
  }
  if (name == "glasses") return {.name = name, .options = {{"draws", std::int64_t{32}}}};
  if (name == "boil") {
    return {.name = name, .options = {{"virtual_points", std::int64_t{2}}, {"fit_trials", std::int64_t{2}}}};
  }
  return {.name = name};
}

}  // namespace bapi::test

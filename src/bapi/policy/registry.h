#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bapi/policy/policy.h"
#include "bapi/study/spec.h"

namespace bapi {

struct PolicyOptionInfo {
  std::string name;
  std::string default_value;
  std::string help;  // meaning and range
};

struct PolicyInfo {
  std::string name;
  std::string summary;  // one line
  std::vector<PolicyOptionInfo> options;
};

// In the order in which they should be shown.
std::vector<PolicyInfo> policies();

// Throws InvalidInput: unknown name (names the nearest), unknown option, option out of its range.
std::unique_ptr<Policy> make_policy(const PolicySpec& spec);

}  // namespace bapi

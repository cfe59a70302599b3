#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bapi/compare/comparison.h"

namespace bapi {

inline constexpr int kComparisonLogVersion = 1;

// What a comparison's log says.
struct LoggedRuns {
  std::optional<std::string> settings;          // of all runs: how decisions are charged, what continuing costs
  std::map<std::string, std::string> tables;    // name -> fingerprint
  std::map<std::string, std::string> policies;  // label -> policy with options, and what it is charged by if modelled
  std::map<RunKey, RunRecord> finished;
  std::size_t bytes = 0;  // of its whole lines; what follows them was torn by a kill
};

// Nothing if there is no such file. Throws InvalidInput that names the line if it is not a comparison's log.
LoggedRuns read_runs(const std::filesystem::path& file);
LoggedRuns parse_runs(std::string_view text, const std::string& file);  // the same from its contents

// How the settings of all runs are written, for messages and to be compared.
std::string settings_text(const std::string& overhead, const std::string& checkpoint);

}  // namespace bapi

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/tables/curve_table.h"

namespace bapi {

struct NetworkTableOptions {
  std::string task;        // which of the network's tasks; InvalidInput lists them if it has no such
  int rows = 1500;         // configurations drawn at random
  std::uint64_t seed = 0;  // of that draw

  // rows: only the drawn configurations can be trained. any: the network answers at any configuration.
  enum class Answers { rows, any } answers = Answers::rows;
};

// A network fitted to measured learning curves (a YAHPO surrogate: surrogate.json with its constants and the shapes of
// the arrays in surrogate.weights beside it), as a table of its validation accuracy and cumulative seconds. Predicted
// time is made non-decreasing. Throws InvalidInput naming the file and what is wrong with it.
CurveTable read_network_surrogate(const std::filesystem::path& json, const NetworkTableOptions& options);

// The same from the contents of the two files; `file` is the name of the first for messages.
CurveTable parse_network_surrogate(std::string_view json,
                                   std::string_view weights,
                                   const std::string& file,
                                   const NetworkTableOptions& options);

// The names of its tasks, in the order of the file.
std::vector<std::string> network_tasks(const std::filesystem::path& json);

}  // namespace bapi

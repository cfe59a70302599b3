#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "network.h"

namespace mlp {

// Training as it stands after scores.size() epochs.
struct Checkpoint {
  State state;
  std::vector<Score> scores;  // of every epoch so far
};

// Writes beside and renames: whatever happens, the directory holds the old checkpoint or the new one, complete. Throws
// std::runtime_error if it cannot be written.
void save(const Checkpoint& checkpoint, const std::filesystem::path& directory);

// nullopt if the directory has no checkpoint. Throws std::runtime_error if it belongs to another network or is damaged.
// `like` has the shapes that are expected.
std::optional<Checkpoint> load(const std::filesystem::path& directory, const State& like);

}  // namespace mlp

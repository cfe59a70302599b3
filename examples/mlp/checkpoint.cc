#include "checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace mlp {
namespace {

constexpr std::uint64_t kMagic = 0x3150'4c4d'6970'6162;  // "bapiMLP1"

struct Header {
  std::uint64_t magic = kMagic;
  std::uint64_t epochs = 0;
  std::uint64_t numbers = 0;  // in the state
};

// The numbers of a state, in a fixed order.
template <typename AnyState, typename Visit>
void for_each_block(AnyState& state, const Visit& visit) {
  for (auto* network : {&state.network, &state.velocity}) {
    for (auto& layer : *network) {
      visit(std::span(layer.weights.data(), static_cast<std::size_t>(layer.weights.size())));
      visit(std::span(layer.bias.data(), static_cast<std::size_t>(layer.bias.size())));
    }
  }
}

std::uint64_t count_numbers(const State& state) {
  std::uint64_t count = 0;
  for_each_block(state, [&](std::span<const double> block) { count += block.size(); });
  return count;
}

template <typename T>
void append(std::string& bytes, std::span<const T> values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

std::string to_bytes(const Checkpoint& checkpoint) {
  const Header header = {.epochs = checkpoint.scores.size(), .numbers = count_numbers(checkpoint.state)};
  std::string bytes;
  append(bytes, std::span(&header, 1));
  append(bytes, std::span(checkpoint.scores));
  for_each_block(checkpoint.state, [&](std::span<const double> block) { append(bytes, block); });
  return bytes;
}

template <typename T>
void read(std::ifstream& file, std::span<T> values, const std::filesystem::path& path) {
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  if (!file) throw std::runtime_error(path.string() + ": ends too early");
}

// Durable before the rename makes it visible.
void write_file(const std::filesystem::path& path, const std::string& bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool written = file >= 0;
  for (std::size_t done = 0; written && done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    written = n > 0;
    done += written ? static_cast<std::size_t>(n) : 0;
  }
  written = written && ::fdatasync(file) == 0;
  if (file >= 0) ::close(file);
  if (!written) throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace

void save(const Checkpoint& checkpoint, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  write_file(directory / "state.new", to_bytes(checkpoint));
  std::filesystem::rename(directory / "state.new", directory / "state");
}

std::optional<Checkpoint> load(const std::filesystem::path& directory, const State& like) {
  const std::filesystem::path path = directory / "state";
  if (!std::filesystem::exists(path)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  Header header;
  read(file, std::span(&header, 1), path);
  if (header.magic != kMagic || header.numbers != count_numbers(like)) {
    throw std::runtime_error(path.string() + ": belongs to another network; use another --checkpoint directory");
  }
  Checkpoint checkpoint{.state = like, .scores = std::vector<Score>(header.epochs)};
  read(file, std::span(checkpoint.scores), path);
  for_each_block(checkpoint.state, [&](std::span<double> block) { read(file, block, path); });
  return checkpoint;
}

}  // namespace mlp

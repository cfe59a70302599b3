#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace experiments {

// Checkpoints list their members once, in `template <class A> void fields(A& archive)`; both directions follow from it.
// Numbers are stored as they are in memory: a checkpoint belongs to the machine that wrote it.

class ArchiveWriter {
 public:
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const Number& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void operator()(const Eigen::VectorXd& values) { block(values.data(), static_cast<std::uint64_t>(values.size())); }
  void operator()(const std::vector<double>& values) { block(values.data(), values.size()); }
  void operator()(const std::string& text) { block(text.data(), text.size()); }

  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void block(const T* data, std::uint64_t count) {
    (*this)(count);
    bytes_.append(reinterpret_cast<const char*>(data), count * sizeof(T));
  }

  std::string bytes_;
};

// Reading changes a state of the right shape; a block of another size is refused.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void operator()(Number& value) { std::memcpy(&value, take(sizeof value), sizeof value); }
  void operator()(Eigen::VectorXd& values) {
    std::uint64_t count = 0;
    (*this)(count);
    if (count != static_cast<std::uint64_t>(values.size())) throw std::runtime_error("it belongs to another network");
    std::memcpy(values.data(), take(count * sizeof(double)), count * sizeof(double));
  }
  void operator()(std::vector<double>& values) {
    std::uint64_t count = 0;
    (*this)(count);
    require(count, sizeof(double));
    values.resize(count);
    std::memcpy(values.data(), take(count * sizeof(double)), count * sizeof(double));
  }
  void operator()(std::string& text) {
    std::uint64_t count = 0;
    (*this)(count);
    require(count, 1);
    text.assign(take(count), count);
  }

  bool at_end() const { return bytes_.empty(); }

 private:
  void require(std::uint64_t count, std::size_t size) const {
    if (count > bytes_.size() / size) throw std::runtime_error("it ends too early");
  }
  const char* take(std::size_t size) {
    require(size, 1);
    const char* data = bytes_.data();
    bytes_.remove_prefix(size);
    return data;
  }

  std::string_view bytes_;
};

}  // namespace experiments

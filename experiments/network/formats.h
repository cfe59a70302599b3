#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace experiments {

// The formats in which people keep data sets. Every reader checks its input and throws std::runtime_error with the
// name of the file, what was found and what was expected.

// What gzip packed; anything else unchanged.
std::string unpacked(std::string bytes, const std::string& file);

// IDX of unsigned bytes: 0, 0, 8, number of dimensions, their sizes as big-endian words, then the data.
struct IdxArray {
  std::vector<std::size_t> sizes;
  std::string data;
};
IdxArray parse_idx(std::string_view bytes, const std::string& file);

// Numbers separated by commas, with or without a line of names first; every line has as many as the first.
struct NumberTable {
  std::size_t columns = 0;
  std::vector<float> values;  // one line after the other
};
NumberTable parse_numbers(std::string_view text, const std::string& file);

// The binary version of CIFAR-10 (one byte of label) and CIFAR-100 (coarse label, then fine label, which is taken):
// each record has its labels, then 3 x 32 x 32 bytes.
struct CifarImages {
  std::string pixels;
  std::vector<std::int64_t> labels;
};
CifarImages parse_cifar(std::string_view bytes, std::size_t label_bytes, const std::string& file);

}  // namespace experiments

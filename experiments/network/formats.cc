#include "formats.h"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>
#include <limits>
#include <stdexcept>

namespace experiments {
namespace {

class Inflater {
 public:
  explicit Inflater(const std::string& file) : file_(file) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::runtime_error(file + ": zlib did not start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  std::string inflate_all(std::string& packed) {
    if (packed.size() > std::numeric_limits<uInt>::max()) throw std::runtime_error(file_ + ": larger than 4 GB");
    stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    std::string result;
    std::string block(1 << 18, '\0');
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      stream_.next_out = reinterpret_cast<Bytef*>(block.data());
      stream_.avail_out = static_cast<uInt>(block.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END) {
        throw std::runtime_error(fmt::format(
            "{}: damaged gzip data ({}); download it again", file_, stream_.msg ? stream_.msg : "it ends too early"));
      }
      result.append(block, 0, block.size() - stream_.avail_out);
    }
    return result;
  }

 private:
  const std::string& file_;
  z_stream stream_{};
};

std::size_t big_endian_word(std::string_view bytes) {
  std::size_t word = 0;
  for (const char byte : bytes.substr(0, 4)) word = word << 8 | static_cast<unsigned char>(byte);
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// False if a field is not a number.
bool append_numbers(std::string_view line, std::vector<float>& values) {
  const char* at = line.data();
  const char* end = at + line.size();
  while (true) {
    float value = 0.0F;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return false;
    values.push_back(value);
    if (rest == end) return true;
    if (*rest != ',') return false;
    at = rest + 1;
  }
}

}  // namespace

std::string unpacked(std::string bytes, const std::string& file) {
  if (!bytes.starts_with("\x1f\x8b")) return bytes;
  return Inflater(file).inflate_all(bytes);
}

IdxArray parse_idx(std::string_view bytes, const std::string& file) {
  using namespace std::literals;
  if (bytes.size() < 4 || !bytes.starts_with("\0\0\x08"sv)) {
    throw std::runtime_error(file + ": not an IDX file of unsigned bytes, which begins with the bytes 0, 0, 8");
  }
  const auto dimensions = static_cast<std::size_t>(static_cast<unsigned char>(bytes[3]));
  const std::size_t header = 4 + 4 * dimensions;
  if (bytes.size() < header) throw std::runtime_error(file + ": ends within its header; download it again");
  IdxArray array;
  std::size_t expected = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    array.sizes.push_back(big_endian_word(bytes.substr(4 + 4 * i)));
    if (array.sizes.back() != 0 && expected > bytes.size() / array.sizes.back())
      expected = bytes.size() + 1;
    else
      expected *= array.sizes.back();
  }
  if (bytes.size() - header != expected) {
    throw std::runtime_error(fmt::format("{}: {} bytes of data, expected {} ({}); download it again",
                                         file,
                                         bytes.size() - header,
                                         expected > bytes.size() ? "more" : std::to_string(expected),
                                         "the product of its sizes"));
  }
  array.data = bytes.substr(header);
  return array;
}

NumberTable parse_numbers(std::string_view text, const std::string& file) {
  NumberTable table;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (line.empty()) continue;
    const std::size_t before = table.values.size();
    if (!append_numbers(line, table.values)) {
      if (number > 1) throw std::runtime_error(fmt::format("{}:{}: expected numbers between commas", file, number));
      table.values.clear();  // the names
      continue;
    }
    const std::size_t columns = table.values.size() - before;
    if (table.columns == 0) table.columns = columns;
    if (columns != table.columns) {
      throw std::runtime_error(fmt::format("{}:{}: {} numbers, expected {}", file, number, columns, table.columns));
    }
  }
  if (table.columns == 0) throw std::runtime_error(file + ": there is no line of numbers in it");
  return table;
}

CifarImages parse_cifar(std::string_view bytes, std::size_t label_bytes, const std::string& file) {
  constexpr std::size_t kPixels = 3 * 32 * 32;
  const std::size_t record = label_bytes + kPixels;
  if (bytes.empty() || bytes.size() % record != 0) {
    throw std::runtime_error(fmt::format(
        "{}: {} bytes, expected a multiple of {} (labels and 3 x 32 x 32 pixels)", file, bytes.size(), record));
  }
  CifarImages images;
  for (; !bytes.empty(); bytes.remove_prefix(record)) {
    images.labels.push_back(static_cast<unsigned char>(bytes[label_bytes - 1]));
    images.pixels.append(bytes.substr(label_bytes, kPixels));
  }
  return images;
}

}  // namespace experiments

#include "formats.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tiny_data.h"

namespace experiments {
namespace {

std::string packed(const std::string& bytes) {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "x.gz").string();
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Formats, GzipIsUnpackedAndAnythingElseUnchanged) {
  const std::string bytes = class_pixels(40, 784, 10);
  EXPECT_EQ(unpacked(packed(bytes), "f"), bytes);
  EXPECT_EQ(unpacked(bytes, "f"), bytes);
  EXPECT_EQ(unpacked("", "f"), "");
}

TEST(Formats, EveryCutOfAGzipFileIsRefused) {
  const std::string whole = packed(class_pixels(4, 100, 10));
  for (std::size_t size = 2; size < whole.size(); size += 7) {
    EXPECT_THROW(unpacked(whole.substr(0, size), "f"), std::runtime_error) << size;
  }
}

TEST(Formats, IdxGivesSizesAndData) {
  const IdxArray array = parse_idx(idx_bytes({2, 3}, "abcdef"), "f");
  EXPECT_EQ(array.sizes, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(array.data, "abcdef");
}

TEST(Formats, DamagedIdxIsRefused) {
  const std::string whole = idx_bytes({2, 3}, "abcdef");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse_idx(whole.substr(0, size), "f"), std::runtime_error) << size;
  }
  EXPECT_THROW(parse_idx(whole + "g", "f"), std::runtime_error);
  // Sizes whose product is beyond all numbers.
  const std::size_t huge = 0xffffffff;
  EXPECT_THROW(parse_idx(idx_bytes({huge, huge, huge, huge}, "abc"), "f"), std::runtime_error);
}

TEST(Formats, NumbersAreReadWithAndWithoutNames) {
  for (const char* text : {"a,b\n1,2\n3,-4.5\n", "1,2\r\n3,-4.5"}) {
    const NumberTable table = parse_numbers(text, "f");
    EXPECT_EQ(table.columns, 2U);
    EXPECT_EQ(table.values, (std::vector<float>{1.0F, 2.0F, 3.0F, -4.5F}));
  }
}

TEST(Formats, DamagedNumbersAreRefused) {
  for (const char* text : {"", "a,b\n", "1,2\n3\n", "1,2\n3,x\n", "1,2\n3,\n", "1,2\n3,4,5\n"}) {
    EXPECT_THROW(parse_numbers(text, "f"), std::runtime_error) << text;
  }
}

TEST(Formats, CifarTakesTheLastLabelByte) {
  const std::string image = class_pixels(1, 3072, 10);
  EXPECT_EQ(parse_cifar("\x03" + image + "\x09" + image, 1, "f").labels, (std::vector<std::int64_t>{3, 9}));
  const CifarImages fine = parse_cifar("\x03\x63" + image, 2, "f");
  EXPECT_EQ(fine.labels, (std::vector<std::int64_t>{99}));
  EXPECT_EQ(fine.pixels, image);
  EXPECT_THROW(parse_cifar(image, 1, "f"), std::runtime_error);
}

}  // namespace
}  // namespace experiments

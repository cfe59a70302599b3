#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "bapi/base/file.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
namespace {

class Corpus : public testing::TestWithParam<Target> {};

// Seeds, and whatever a fuzzer has ever found.
TEST_P(Corpus, IsReadOrRefused) {
  const std::filesystem::path directory = std::filesystem::path(BAPI_SOURCE_DIR) / "fuzz" / "corpus" / GetParam().name;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    EXPECT_NO_THROW(feed(GetParam(), contents_of(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 2) << directory;
}

// A file that was cut off, or one with a flipped bit, is what damage looks like.
TEST_P(Corpus, IsReadOrRefusedWithDamage) {
  const std::filesystem::path directory = std::filesystem::path(BAPI_SOURCE_DIR) / "fuzz" / "corpus" / GetParam().name;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string text = contents_of(entry.path());
    const std::size_t step = std::max<std::size_t>(1, text.size() / 40);
    for (std::size_t at = 0; at < text.size(); at += step) {
      EXPECT_NO_THROW(feed(GetParam(), text.substr(0, at))) << entry.path() << " cut at " << at;
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      EXPECT_NO_THROW(feed(GetParam(), flipped)) << entry.path() << " flipped at " << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(targets().begin(), targets().end()), [](const auto& info) {
  return std::string(info.param.name);
});

}  // namespace
}  // namespace bapi::fuzz

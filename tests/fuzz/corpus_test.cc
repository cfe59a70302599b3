#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bapi/base/file.h"
#include "bapi/base/rng.h"
#include "bapi/study/spec_file.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
namespace {

// Random inputs per target; BAPI_FUZZ_INPUTS asks for more where there is no fuzzer.
int random_inputs() {
  const char* asked = std::getenv("BAPI_FUZZ_INPUTS");
  return asked ? std::atoi(asked) : 300;
}

class Corpus : public testing::TestWithParam<Target> {
 protected:
  // Seeds, and whatever a fuzzer has ever found, in the order of their names.
  void SetUp() override {
    const auto directory = std::filesystem::path(BAPI_SOURCE_DIR) / "fuzz" / "corpus" / GetParam().name;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) inputs_.push_back(contents_of(file));
    ASSERT_GE(inputs_.size(), 2U) << directory;
  }

  void feed_to_target(const std::string& input) const {
    EXPECT_NO_THROW(feed(GetParam(), input)) << testing::PrintToString(input);
  }

  std::vector<std::string> inputs_;
};

TEST_P(Corpus, IsReadOrRefused) {
  for (const std::string& input : inputs_) feed_to_target(input);
}

// What a crash or a bad disk leaves behind.
TEST_P(Corpus, IsReadOrRefusedWhenCutOffOrFlipped) {
  for (const std::string& input : inputs_) {
    const std::size_t step = std::max<std::size_t>(1, input.size() / 40);
    for (std::size_t at = 0; at < input.size(); at += step) {
      feed_to_target(input.substr(0, at));
      std::string flipped = input;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      feed_to_target(flipped);
    }
  }
}

// A piece of one input, or a delicate word, in a place of another.
TEST_P(Corpus, IsReadOrRefusedWhenMixed) {
  const std::vector<std::string> words = {"-1",  "1e400", "1e308", "nan", "9223372036854775808",  "0",         "{}",
                                          "[]",  "\"",    "null",  "\n",  std::string(1, '\0'),   "\xff\xc3",  "[[[[",
                                          "1e9", "-0.0",  "{\"",   ": ",  "18446744073709551615", "2147483648"};
  Rng rng(1);
  const auto position = [&](const std::string& text) {
    return static_cast<std::size_t>(rng.below(static_cast<int>(text.size()) + 1));
  };
  for (int i = random_inputs(); i > 0; --i) {
    std::string input = inputs_[static_cast<std::size_t>(rng.below(static_cast<int>(inputs_.size())))];
    for (int change = rng.below(3); change >= 0; --change) {
      const std::string& other = inputs_[static_cast<std::size_t>(rng.below(static_cast<int>(inputs_.size())))];
      const std::string piece = rng.below(2) == 0
                                    ? words[static_cast<std::size_t>(rng.below(static_cast<int>(words.size())))]
                                    : other.substr(position(other), static_cast<std::size_t>(rng.below(20)));
      const std::size_t at = position(input);
      input.replace(at, static_cast<std::size_t>(rng.below(12)), piece);
    }
    feed_to_target(input);
  }
}

// A seed that is refused at its first line leads a fuzzer nowhere.
TEST(StudyFileCorpus, HasAFileWithManyKeysThatIsRead) {
  const std::string file = BAPI_SOURCE_DIR "/fuzz/corpus/study_file/many-keys.yaml";
  EXPECT_EQ(parse_study_file(contents_of(file), file).repeat, 3);
}

INSTANTIATE_TEST_SUITE_P(Targets, Corpus, testing::ValuesIn(targets().begin(), targets().end()), [](const auto& one) {
  return std::string(one.param.name);
});

}  // namespace
}  // namespace bapi::fuzz

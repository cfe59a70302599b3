#include "bapi/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "bapi/base/error.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

std::string refusal(const std::filesystem::path& file, std::size_t limit = kLargestFile) {
  try {
    contents_of(file, limit);
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(ReadWholeFile, GivesEveryByteOfFilesOfAnySize) {
  const test::TempDir dir;
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100000}) {
    const std::string text(size, 'a');
    std::ofstream(dir / "file", std::ios::binary) << text;
    EXPECT_EQ(contents_of(dir / "file"), text);
    EXPECT_EQ(read_whole_file(dir / "file", size), text);
  }
}

TEST(ReadWholeFile, ReadsFilesThatHaveNoSize) { EXPECT_FALSE(contents_of("/proc/self/status").empty()); }

TEST(ReadWholeFile, RefusesWhatIsNoFile) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(dir / "pipe").find("is a pipe"), std::string::npos);  // and does not wait for a writer
  EXPECT_NE(refusal(dir.path()).find("is a directory"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero").find("is a device"), std::string::npos);
  EXPECT_NE(refusal(dir / "none").find("cannot be read: No such file"), std::string::npos);
  EXPECT_EQ(read_whole_file(dir / "pipe"), std::nullopt);
}

TEST(ReadWholeFile, RefusesWhatIsLargerThanItsLimit) {
  const test::TempDir dir;
  std::ofstream(dir / "file") << "four";
  EXPECT_EQ(contents_of(dir / "file", 4), "four");
  EXPECT_NE(refusal(dir / "file", 3).find("is too large"), std::string::npos);
  std::filesystem::resize_file(dir / "file", std::uintmax_t{1} << 40);  // takes no room on the disk
  EXPECT_NE(refusal(dir / "file").find("is too large"), std::string::npos);
}

TEST(ReplaceFile, ReplacesALinkThatWasPutInTheWay) {
  const test::TempDir dir;
  std::ofstream(dir / "precious") << "mine";
  std::filesystem::create_symlink(dir / "precious", dir / "file.new");
  replace_file(dir / "file", "text");
  EXPECT_EQ(contents_of(dir / "precious"), "mine");
  EXPECT_EQ(contents_of(dir / "file"), "text");
  EXPECT_FALSE(std::filesystem::is_symlink(dir / "file"));
}

}  // namespace
}  // namespace bapi

#include "bapi/store/new_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "bapi/base/error.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

std::string read_text(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

TEST(MakeFile, WritesTheContentAndNothingElse) {
  const TempDir directory;
  const std::string content("a\0b\n", 4);
  EXPECT_EQ(make_file(directory / "file", content), NewFile::made);
  EXPECT_EQ(read_text(directory / "file"), content);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(MakeFile, LeavesAFileThatIsThereAlone) {
  const TempDir directory;
  make_file(directory / "file", "first");
  EXPECT_EQ(make_file(directory / "file", "second"), NewFile::existed);
  EXPECT_EQ(read_text(directory / "file"), "first");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(MakeFile, SaysWhichPathCannotBeWritten) {
  const TempDir directory;
  try {
    make_file(directory / "nowhere" / "file", "content");
    FAIL() << "written into a directory that does not exist";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find((directory / "nowhere" / "file").string()), std::string::npos);
  }
}

}  // namespace
}  // namespace bapi

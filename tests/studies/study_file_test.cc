#include "bapi/studies/study_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bapi/base/error.h"

namespace bapi {
namespace {

class StudyFile : public testing::Test {
 protected:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "bapi_study_file_test";
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string message(const std::string& path) {
    try {
      read_study_file(path);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(StudyFile, IsReadUnderItsName) {
  const std::string path = folder_ / "net.yaml";
  std::ofstream(path) << "command: [./train]\nmetric: {name: accuracy, goal: maximize}\nbudget: 30m\nepochs: 100\n"
                         "parameters: {lr: {min: 0.1, max: 1.0}}\n";
  EXPECT_EQ(read_study_file(path).name, "net");
}

TEST_F(StudyFile, ThatCannotBeReadIsRefused) {
  const std::string missing = folder_ / "missing.yaml";
  EXPECT_EQ(message(missing), missing + ": cannot be read: No such file or directory");
  EXPECT_EQ(message(folder_), folder_.string() + ": is a directory, expected a file");
  const std::string empty = folder_ / "empty.yaml";
  std::ofstream(empty) << "";
  EXPECT_TRUE(message(empty).starts_with(empty + ":1:1: found nothing, expected a mapping")) << message(empty);
}

}  // namespace
}  // namespace bapi

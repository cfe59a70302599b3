// The studies of examples/ run as they are, with a smaller budget.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

class ExampleStudy : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  // `bapi run` from the root of the source tree; what it prints.
  std::string run(const fs::path& study) const {
    const fs::path output = folder_ / "output";
    const std::string command = "cd " BAPI_SOURCE_DIR " && " BAPI_BINARY_DIR "/bapi run --quiet --format json " +
                                study.string() + " --budget '6 epochs' --dir " + folder_.string() + " > " +
                                output.string();
    EXPECT_EQ(std::system(command.c_str()), 0);
    return contents(output);
  }

  fs::path folder_ = fs::path(testing::TempDir()) /
                     ("bapi_study_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

void expect_spent(const std::string& status) {
  EXPECT_NE(status.find("\"state\": \"finished\""), std::string::npos) << status;
  EXPECT_NE(status.find("\"spent\": 6"), std::string::npos) << status;
  EXPECT_NE(status.find("\"best\": {\"trial\": "), std::string::npos) << status;
}

TEST_F(ExampleStudy, MinimalRuns) { expect_spent(run("examples/minimal/study.yaml")); }

TEST_F(ExampleStudy, MlpRuns) {
  // The file names the program of the release build; this build has its own.
  std::string text = contents(BAPI_SOURCE_DIR "/examples/mlp/study.yaml");
  const std::string release = "build/release/examples";
  text.replace(text.find("[" + release) + 1, release.size(), BAPI_BINARY_DIR "/examples");
  const fs::path study = folder_ / "mlp.yaml";
  std::ofstream(study) << text;
  expect_spent(run(study));
}

}  // namespace

#include "bapi/process/script.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace bapi {
namespace {

class ScriptTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(dir_); }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string file(const std::string& text) const {
    const std::string path = (dir_ / "train.sh").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  const std::filesystem::path dir_ = testing::TempDir() + "script_test";
};

TEST_F(ScriptTest, WindowsLineEndingsAreNamed) {
  const std::string script = file("#!/bin/bash\r\necho hello\r\n");
  const std::optional<std::string> mistake = script_mistake(script, {script});
  ASSERT_TRUE(mistake);
  EXPECT_NE(mistake->find("Windows line endings"), std::string::npos) << *mistake;
  EXPECT_NE(mistake->find("'/bin/bash\\r'"), std::string::npos) << *mistake;
  EXPECT_NE(mistake->find("sed -i"), std::string::npos) << *mistake;
  EXPECT_TRUE(script_mistake("/bin/bash", {"bash", script}));
}

TEST_F(ScriptTest, TheDirectoryOfTheCommandCounts) {
  file("#!/bin/bash\r\necho hello\r\n");
  EXPECT_TRUE(script_mistake("./train.sh", {"./train.sh"}, dir_));
  EXPECT_TRUE(script_mistake("/bin/bash", {"bash", "train.sh"}, dir_));
  EXPECT_FALSE(script_mistake("./train.sh", {"./train.sh"}));
}

TEST_F(ScriptTest, WhatRunsIsLeftAlone) {
  const std::string script = file("#!/bin/bash\necho hello\n");
  EXPECT_FALSE(script_mistake(script, {script}));
  EXPECT_FALSE(script_mistake("/bin/bash", {"bash", script}));
  EXPECT_FALSE(script_mistake("/bin/true", {"true"}));
  EXPECT_FALSE(script_mistake("/no/such/file", {"file"}));
  const std::string python = file("print('hello')\r\n");
  EXPECT_FALSE(script_mistake("/usr/bin/python3", {"python3", python})) << "Python reads them";
  EXPECT_FALSE(script_mistake("/bin/sh", {"sh", "-c", "echo hello"}));
}

}  // namespace
}  // namespace bapi

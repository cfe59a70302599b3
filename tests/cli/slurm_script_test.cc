#include "bapi/cli/slurm_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bapi/base/error.h"

namespace bapi {
namespace {

SlurmArray array_of(std::vector<std::string> command, std::vector<std::string> options = {}) {
  return {.name = "bapi-mlp", .command = std::move(command), .workers = 64, .chain = 20, .options = std::move(options)};
}

TEST(SlurmScript, IsAThrottledArrayThatIsWarnedRequeuedAndAppends) {
  EXPECT_EQ(slurm_script(array_of({"/usr/bin/bapi", "worker", "postgresql://ann@db/tuning#mlp"},
                                  {"--gres=gpu:1", "--time=4:00:00"})),
            "#!/bin/bash\n"
            "#SBATCH --job-name=bapi-mlp\n"
            "#SBATCH --array=1-1280%64\n"
            "#SBATCH --signal=B:USR1@120\n"
            "#SBATCH --requeue\n"
            "#SBATCH --open-mode=append\n"
            "#SBATCH --gres=gpu:1\n"
            "#SBATCH --time=4:00:00\n"
            "exec /usr/bin/bapi worker 'postgresql://ann@db/tuning#mlp'\n");
}

TEST(SlurmScript, AWordAfterAnOptionStaysWithIt) {
  const std::string script = slurm_script(array_of({"bapi"}, {"-p", "gpu", "--mem=8G"}));
  EXPECT_NE(script.find("\n#SBATCH -p gpu\n#SBATCH --mem=8G\n"), std::string::npos) << script;
}

// What Slurm 22.05 makes of a line of options; tests/cluster/slurm_test.py asks Slurm itself.
std::vector<std::string> read_by_slurm(const std::string& line) {
  std::vector<std::string> words;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escaped = line[i] == '\\' && i + 1 < line.size();
    if (escaped) ++i;
    const char c = line[i];
    if (c == ' ' && !quote) {
      words.emplace_back();
    } else if (escaped) {
      words.back() += c;
    } else if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
    } else if (c == '#' && !quote) {
      break;
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST(SlurmScript, SlurmReadsEveryOptionAsItWasGiven) {
  const std::vector<std::string> odd = {"--comment=it's \"so\" #1 \\ $HOME `id` ;|&<>(){}[]!?*~", "--time=1:00:00"};
  std::istringstream lines(slurm_script(array_of({"bapi"}, odd)));
  std::vector<std::string> read;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#SBATCH ")) continue;
    for (const std::string& word : read_by_slurm(line.substr(7))) read.push_back(word);
  }
  for (const std::string& option : odd) EXPECT_EQ(std::count(read.begin(), read.end(), option), 1) << option;
}

// What bash gives to the program: one word per line.
std::string words_by_bash(const std::vector<std::string>& words) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "slurm_script_test.sh";
  std::vector<std::string> command = {"printf", "<%s>"};
  command.insert(command.end(), words.begin(), words.end());
  std::ofstream(file) << slurm_script({.name = "test", .command = command});
  std::FILE* output = ::popen(("bash " + file.string()).c_str(), "r");
  std::string read;
  for (int c = 0; (c = std::fgetc(output)) != EOF;) read += static_cast<char>(c);
  EXPECT_EQ(::pclose(output), 0);
  std::filesystem::remove(file);
  return read;
}

TEST(SlurmScript, TheProgramGetsEveryWordAsItWasGiven) {
  const std::vector<std::string> odd = {
      "a b", "$(touch /tmp/x)", "`id`", "it's", "\"", "", "#", "a\nb", "$HOME", "\\", "~", "*", "größe", "-n"};
  std::string expected;
  for (const std::string& word : odd) expected += "<" + word + ">";
  EXPECT_EQ(words_by_bash(odd), expected);
}

TEST(SlurmScript, OptionsThatItReliesOnAreRefused) {
  for (const char* option : {"--array=1-4",
                             "--arr=1-4",
                             "-a",
                             "-a1-4",
                             "--signal=TERM@5",
                             "--open-mode=truncate",
                             "--no-requeue",
                             "--wrap=id",
                             "--"}) {
    EXPECT_THROW(slurm_script(array_of({"bapi"}, {option})), InvalidInput) << option;
  }
  EXPECT_NO_THROW(slurm_script(array_of({"bapi"}, {"--account=a", "--nodes=1", "--nice", "--output=x", "--wckey=w"})));
}

TEST(SlurmScript, WhatNoLineCanHoldIsRefused) {
  EXPECT_THROW(slurm_script(array_of({"bapi"}, {"--comment=a\nid"})), InvalidInput);
  EXPECT_THROW(slurm_script(array_of({"bapi"}, {"gpu"})), InvalidInput) << "no option";
  EXPECT_THROW(slurm_script(array_of({"bapi"}, {"-p", ""})), InvalidInput);
  SlurmArray named = array_of({"bapi"});
  named.name = "a\nid";
  EXPECT_THROW(slurm_script(named), InvalidInput);
}

TEST(SlurmScript, NumbersThatNoArrayCanHaveAreRefused) {
  EXPECT_THROW(slurm_script({.name = "test", .command = {"bapi"}, .workers = 0}), InvalidInput);
  EXPECT_THROW(slurm_script({.name = "test", .command = {"bapi"}, .chain = 0}), InvalidInput);
  EXPECT_THROW(slurm_script({.name = "test", .command = {"bapi"}, .workers = 2'000'000'000, .chain = 2'000'000'000}),
               InvalidInput);
}

}  // namespace
}  // namespace bapi

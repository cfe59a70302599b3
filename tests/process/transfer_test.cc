#include "bapi/process/transfer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/temp_dir.h"

namespace bapi {
namespace transfer_test {

class TransferTest : public testing::Test {
 protected:
  // Starts it in a session of its own, in the directory.
  pid_t start(const std::vector<std::string>& command, const Transfer& transfer, int from_epoch) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::setsid();
    std::filesystem::current_path(dir_.path());
    ::setenv("BAPI_FROM_EPOCH", std::to_string(from_epoch).c_str(), 1);
    for (const auto& [name, value] : variables_of(transfer)) ::setenv(name.c_str(), value.c_str(), 1);
    const std::vector<std::string> whole = with_transfer(command);
    std::vector<char*> arguments;
    for (const std::string& argument : whole) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(126);
  }

  static int end_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  int run(const std::vector<std::string>& command, const Transfer& transfer, int from_epoch = 1) const {
    return end_of(start(command, transfer, from_epoch));
  }

  std::string book() const {
    std::ifstream file(dir_ / "book");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void wait_for(const std::string& text) const {
    while (book().find(text) == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  test::TempDir dir_;
  const Transfer both_{.fetch = "echo fetch >> book", .push = "echo push >> book"};
};

TEST_F(TransferTest, FetchesBeforeAndPushesAfter) {
  EXPECT_EQ(run({"sh", "-c", "echo \"$1 $2\" >> book", "x", "a b", "c"}, both_), 0);
  EXPECT_EQ(book(), "fetch\na b c\npush\n");
}

TEST_F(TransferTest, NothingIsFetchedForAProgramThatBeginsATrial) {
  EXPECT_EQ(run({"true"}, both_, 0), 0);
  EXPECT_EQ(book(), "push\n");
}

TEST_F(TransferTest, TheProgramDoesNotSeeTheCommands) {
  EXPECT_EQ(run({"sh", "-c", "echo \"[$BAPI_FETCH$BAPI_PUSH]\" >> book"}, both_), 0);
  EXPECT_EQ(book(), "fetch\n[]\npush\n");
}

TEST_F(TransferTest, EndsAsTheProgramDid) {
  EXPECT_EQ(WEXITSTATUS(run({"sh", "-c", "exit 7"}, both_)), 7);
  const int killed = run({"sh", "-c", "kill -KILL $$"}, both_);
  ASSERT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGKILL);
  EXPECT_EQ(book(), "fetch\npush\nfetch\npush\n") << "also after a crash";
}

TEST_F(TransferTest, WithoutItsCheckpointNoProgramRuns) {
  EXPECT_EQ(WEXITSTATUS(run({"sh", "-c", "echo run >> book"}, {.fetch = "exit 5"})), 1);
  EXPECT_EQ(book(), "");
}

TEST_F(TransferTest, AFailedPushDoesNotFailTheProgram) { EXPECT_EQ(run({"true"}, {.push = "exit 5"}), 0); }

TEST_F(TransferTest, WhatIsToldToEndPushesWhenTheProgramHasEnded) {
  const std::string program =
      "trap 'echo saved >> book; exit 0' TERM; echo ready >> book; while :; do sleep 0.01; done";
  const pid_t child = start({"sh", "-c", program}, {.push = "sleep 0.1; echo push >> book"}, 0);
  wait_for("ready");
  ::kill(-child, SIGTERM);
  wait_for("saved");
  ::kill(-child, SIGTERM);  // once more: pushing goes on
  EXPECT_EQ(end_of(child), 0);
  EXPECT_EQ(book(), "ready\nsaved\npush\n");
}

}  // namespace transfer_test
}  // namespace bapi

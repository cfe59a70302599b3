#include "bapi/process/process_identity.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "bapi/process/subprocess.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

class LeftBehind : public testing::Test {
 protected:
  // A shell with a child in its group; both carry MARK in their environment.
  Subprocess family(const std::string& mark) {
    auto launched = Subprocess::launch({.arguments = {"/bin/sh", "-c", "/bin/sleep 100 & echo $!; wait"},
                                        .environment = {"MARK=" + mark, "SECOND=x"},
                                        .output = scratch_.path() / mark});
    Subprocess leader = std::move(std::get<Subprocess>(launched));
    leader.begin();
    while (text_of(scratch_.path() / mark).empty()) ::usleep(1000);
    child_ = std::stoi(text_of(scratch_.path() / mark));
    return leader;
  }

  TempDir scratch_;
  int child_ = 0;
};

TEST(Identify, TellsProcessesApartAndZombiesFromLiving) {
  EXPECT_EQ(identify(::getpid()), identify(::getpid()));
  EXPECT_NE(identify(::getpid()), identify(::getppid()));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info = {};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(identify(child).has_value());
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(identify(child).has_value());
}

TEST_F(LeftBehind, WhatCarriesAllMarksIsEnded) {
  const Subprocess leader = family("a");
  EXPECT_EQ(end_leftovers(leader.identity(), {"MARK=a", "SECOND=x"}), Leftovers::ended);
  EXPECT_FALSE(identify(leader.identity().pid).has_value());
  EXPECT_FALSE(identify(child_).has_value());
  EXPECT_EQ(end_leftovers(leader.identity(), {"MARK=a", "SECOND=x"}), Leftovers::none);
}

TEST_F(LeftBehind, ProcessesOfAnotherControllerOrDirectoryAreLeftAlone) {
  const Subprocess leader = family("d");
  EXPECT_EQ(end_leftovers(leader.identity(), {"MARK=d", "SECOND=y"}), Leftovers::none);
  EXPECT_EQ(end_leftovers(leader.identity(), {"NOT=there"}), Leftovers::none);
  EXPECT_TRUE(identify(leader.identity().pid).has_value());
  EXPECT_TRUE(identify(child_).has_value());
}

TEST_F(LeftBehind, MembersOfADeadLeadersGroupAreEndedIfTheyCarryTheMark) {
  const Subprocess leader = family("b");
  ::kill(leader.identity().pid, SIGKILL);
  while (identify(leader.identity().pid)) ::usleep(1000);
  EXPECT_EQ(end_leftovers(leader.identity(), {"MARK=other"}), Leftovers::none);
  EXPECT_TRUE(identify(child_).has_value());
  EXPECT_EQ(end_leftovers(leader.identity(), {"MARK=b"}), Leftovers::ended);
  EXPECT_FALSE(identify(child_).has_value());
}

TEST_F(LeftBehind, AnotherProcessWithTheSameNumberIsLeftAlone) {
  const Subprocess leader = family("c");
  ProcessIdentity former = leader.identity();
  former.start_ticks -= 1;
  EXPECT_EQ(end_leftovers(former, {"MARK=other"}), Leftovers::none);
  former = leader.identity();
  former.boot = "another";
  EXPECT_EQ(end_leftovers(former, {"MARK=c"}), Leftovers::none);
  EXPECT_TRUE(identify(leader.identity().pid).has_value());
}

}  // namespace
}  // namespace bapi

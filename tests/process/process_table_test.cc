#include "bapi/process/process_table.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace bapi {
namespace {

constexpr int kHeir = 10;

ProcessEntry process(int pid, int parent, int group, int session, std::uint64_t start_ticks = 100) {
  return {.pid = pid, .parent = parent, .group = group, .session = session, .state = 'S', .start_ticks = start_ticks};
}

// A controller (10) with two programs (20 and 30), beside strangers.
class Family : public testing::Test {
 protected:
  std::vector<int> members() const {
    std::vector<int> pids;
    for (const ProcessEntry& entry : family_members(table_, traits_)) pids.push_back(entry.pid);
    std::sort(pids.begin(), pids.end());
    return pids;
  }

  std::vector<ProcessEntry> table_ = {process(1, 0, 1, 1, 1),
                                      process(kHeir, 1, 10, 10, 50),
                                      process(20, kHeir, 20, 20),
                                      process(30, kHeir, 30, 30),
                                      process(40, 1, 40, 40)};
  FamilyTraits traits_ = {.leaders = {{.pid = 20, .start_ticks = 100, .boot = {}}}, .since = 60};
};

TEST_F(Family, IsTheLeaderAloneIfThereIsNobodyElse) { EXPECT_EQ(members(), (std::vector<int>{20})); }

TEST_F(Family, HasTheSessionTheGroupAndAllDescendants) {
  table_.push_back(process(21, 20, 20, 20));  // a child
  table_.push_back(process(22, 21, 22, 20));  // `timeout`: a group of its own
  table_.push_back(process(23, 22, 22, 20));
  table_.push_back(process(24, 23, 24, 24));  // `setsid`
  table_.push_back(process(25, 24, 24, 24));
  table_.push_back(process(26, 1, 24, 24));  // its parent is gone, the session is theirs
  EXPECT_EQ(members(), (std::vector<int>{20, 21, 22, 23, 24, 25, 26}));
}

TEST_F(Family, IsFoundWhenItsLeaderIsReaped) {
  std::erase_if(table_, [](const ProcessEntry& entry) { return entry.pid == 20; });
  table_.push_back(process(21, 1, 21, 20));
  table_.push_back(process(22, 21, 22, 22));
  EXPECT_EQ(members(), (std::vector<int>{21, 22}));
}

TEST_F(Family, OfADeadLeaderHasNobodyWhoGotItsNumber) {
  std::erase_if(table_, [](const ProcessEntry& entry) { return entry.pid == 20; });
  table_.push_back(process(20, 1, 20, 20, 500));
  table_.push_back(process(21, 20, 20, 20, 501));
  EXPECT_EQ(members(), std::vector<int>{});
}

TEST_F(Family, HasNobodyOlderThanItself) {
  table_.push_back(process(21, 20, 20, 20, 59));
  EXPECT_EQ(members(), (std::vector<int>{20}));
}

TEST_F(Family, HasWhoCarriesTheMarkAndItsDescendants) {
  table_.push_back(process(41, 1, 41, 41));
  table_.push_back(process(42, 41, 42, 42));
  traits_.marked = [](int pid) { return pid == 41; };
  EXPECT_EQ(members(), (std::vector<int>{20, 41, 42}));
}

TEST_F(Family, HasTheOrphansOfAnotherSessionThatCameToItsHeir) {
  table_.push_back(process(21, kHeir, 21, 21));     // a daemon without a mark
  table_.push_back(process(22, kHeir, 22, kHeir));  // the heir's own
  traits_.heir = kHeir;
  traits_.outsiders = {30};
  EXPECT_EQ(members(), (std::vector<int>{20, 21}));
}

TEST_F(Family, HasNoDeadMembersButTheirRelatives) {
  table_.push_back(process(21, 20, 21, 20));
  table_.back().state = 'Z';
  table_.push_back(process(22, 1, 21, 21));
  EXPECT_EQ(members(), (std::vector<int>{20, 22}));
}

TEST(Group, StandsWhenAllItsLivingProcessesAreStopped) {
  std::vector<ProcessEntry> table = {process(20, 10, 20, 20), process(21, 20, 20, 20), process(30, 10, 30, 30)};
  table[0].state = 'T';
  EXPECT_FALSE(group_stands(table, 20));
  table[1].state = 'Z';
  EXPECT_TRUE(group_stands(table, 20));
}

TEST(Group, StandsWhileItsLeaderWaitsForAStoppedChildToBeginItsProgram) {
  std::vector<ProcessEntry> table = {process(20, 10, 20, 20), process(21, 20, 20, 20)};
  table[0].state = 'D';
  EXPECT_FALSE(group_stands(table, 20));
  table[1].state = 'T';
  EXPECT_TRUE(group_stands(table, 20));
  table[0].state = 'R';
  EXPECT_FALSE(group_stands(table, 20)) << "it may run on";
}

// What glibc's system() and posix_spawn do, and with them most programs that start others.
TEST(Group, StandsWhenItIsStoppedWhileAChildIsAboutToBeginItsProgram) {
  const pid_t leader = ::fork();
  if (leader == 0) {
    ::setpgid(0, 0);
    ::syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    while (true) ::pause();  // the child; its parent waits for it
  }
  ASSERT_GT(leader, 0);
  const auto members = [&](char state) {
    const std::vector<ProcessEntry> table = process_table();
    return std::ranges::count_if(
        table, [&](const ProcessEntry& entry) { return entry.group == leader && entry.state == state; });
  };
  const auto wait_for = [](const auto& condition) {
    for (int attempt = 0; attempt < 10'000 && !condition(); ++attempt) ::usleep(1000);
    return condition();
  };
  EXPECT_TRUE(wait_for([&] { return members('D') == 1 && members('S') == 1; }));
  ::kill(-leader, SIGSTOP);
  EXPECT_TRUE(wait_for([&] { return group_stands(process_table(), leader); }));
  EXPECT_EQ(members('D'), 1) << "or the test does not show what it should";
  ::kill(-leader, SIGKILL);
  ::waitpid(leader, nullptr, 0);
}

TEST(ProcessTable, HasThisProcess) {
  const std::vector<ProcessEntry> table = process_table();
  const auto self = std::find_if(table.begin(), table.end(), [](const auto& entry) { return entry.pid == ::getpid(); });
  ASSERT_NE(self, table.end());
  EXPECT_EQ(self->parent, ::getppid());
  EXPECT_EQ(self->group, ::getpgid(0));
  EXPECT_EQ(self->session, ::getsid(0));
  EXPECT_TRUE(self->alive());
  EXPECT_FALSE(process_entry(-1).has_value());
}

}  // namespace
}  // namespace bapi

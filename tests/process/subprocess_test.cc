#include "bapi/process/subprocess.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

class Programs : public testing::Test {
 protected:
  Subprocess launch(const std::vector<std::string>& arguments) {
    auto launched =
        Subprocess::launch({.arguments = arguments, .environment = {"NAME=value"}, .output = scratch_.path() / "out"});
    return std::move(std::get<Subprocess>(launched));
  }

  static Exit wait_for_exit(Subprocess& process) {
    pollfd event = {.fd = process.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&event, 1, 60'000), 1);
    const std::optional<Exit> exit = process.poll_exit();
    EXPECT_TRUE(exit.has_value());
    return exit.value_or(Exit{});
  }

  std::string output() const { return text_of(scratch_.path() / "out"); }

  TempDir scratch_;
};

TEST_F(Programs, DoNotRunBeforeTheyAreTold) {
  Subprocess process = launch({"/bin/sh", "-c", "echo ran $NAME; echo wrong >&2; cat; exit 3"});
  ::usleep(50'000);
  EXPECT_EQ(output(), "");
  EXPECT_FALSE(process.poll_exit().has_value());
  EXPECT_EQ(identify(process.identity().pid), process.identity());
  EXPECT_FALSE(process.begin().has_value());
  EXPECT_EQ(wait_for_exit(process).text(), "exit code 3");
  EXPECT_EQ(output(), "ran value\nwrong\n");
  EXPECT_FALSE(identify(process.identity().pid).has_value());
}

TEST_F(Programs, VanishIfTheyAreNeverTold) {
  int pid = 0;
  {
    const Subprocess process = launch({"/bin/sh", "-c", "echo ran"});
    pid = process.identity().pid;
  }
  EXPECT_FALSE(identify(pid).has_value());
  EXPECT_EQ(output(), "");
}

TEST_F(Programs, LeadASessionAndGroupOfTheirOwn) {
  Subprocess process = launch({"/bin/sleep", "100"});
  process.begin();
  EXPECT_EQ(::getsid(process.identity().pid), process.identity().pid);
  EXPECT_EQ(::getpgid(process.identity().pid), process.identity().pid);
  process.signal_group(SIGTERM);
  EXPECT_EQ(wait_for_exit(process).text(), "killed by SIGTERM (Terminated)");
}

TEST_F(Programs, InheritNoFilesAndNoSignalSettings) {
  const int leak = ::dup(0);  // without close-on-exec
  ::signal(SIGPIPE, SIG_IGN);
  Subprocess process = launch({"/bin/sh", "-c", "ls /proc/self/fd; grep SigIgn /proc/self/status"});
  process.begin();
  wait_for_exit(process);
  ::signal(SIGPIPE, SIG_DFL);
  ::close(leak);
  EXPECT_EQ(output().substr(0, 8), "0\n1\n2\n3\n");  // 3 is the listing's own
  // Signals 32 and 33 belong to the C library: they come ignored from any program that was started by posix_spawn, such
  // as those of make, and cannot be set.
  constexpr std::uint64_t kOfTheLibrary = 0x180000000U;
  const std::size_t ignored = output().find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos) << output();
  EXPECT_EQ(std::stoull(output().substr(ignored + 8), nullptr, 16) & ~kOfTheLibrary, 0U) << output();
}

TEST_F(Programs, ThatDoNotExistAreRefusedWithTheReason) {
  const auto failure = Subprocess::launch({.arguments = {"no-such-program"}, .environment = {}, .output = "/dev/null"});
  ASSERT_TRUE(std::holds_alternative<Subprocess::Failure>(failure));
  Subprocess folder = launch({"/tmp"});
  EXPECT_EQ(folder.begin()->message, "cannot run '/tmp': Permission denied");
}

TEST_F(Programs, TakeTheirGroupWithThemWhenTheirEndIsSeen) {
  Subprocess parent = launch({"/bin/sh", "-c", "sleep 100 & echo $!; wait"});
  parent.begin();
  while (output().empty()) ::usleep(1000);
  const int grandchild = std::stoi(output());
  EXPECT_TRUE(identify(grandchild).has_value());
  ::kill(parent.identity().pid, SIGKILL);
  EXPECT_EQ(wait_for_exit(parent).signal, SIGKILL);
  for (int i = 0; i < 60'000 && identify(grandchild); ++i) ::usleep(1000);
  EXPECT_FALSE(identify(grandchild).has_value());
}

}  // namespace
}  // namespace bapi

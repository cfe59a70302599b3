#include "bapi/process/guardian.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <limits>

#include "bapi/process/process_file.h"
#include "bapi/process/subprocess.h"
#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// Waits for up to a minute: a busy machine takes its time.
bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    ::usleep(10'000);
  }
  return condition();
}

class Guarded : public testing::Test {
 protected:
  std::filesystem::path file() const { return scratch_.path() / "process"; }

  // A shell program, its process file, and the numbers that it prints.
  Subprocess launch(const Guardian& guardian, const std::string& script, int numbers) {
    auto launched = Subprocess::launch(
        {.arguments = {"/bin/bash", "-c", script},
         .environment = {guardian.mark(), "BAPI_DIR=" + scratch_.path().string(), "PATH=/usr/bin:/bin"},
         .output = scratch_.path() / "out"});
    Subprocess leader = std::move(std::get<Subprocess>(launched));
    ProcessFile facts;
    facts.identity = leader.identity();
    facts.mark = guardian.mark();
    write_process_file(file(), facts);
    leader.begin();
    EXPECT_TRUE(eventually([&] { return std::ssize(printed()) >= numbers; }));
    return leader;
  }

  std::vector<int> printed() const {
    std::istringstream in(text_of(scratch_.path() / "out"));
    std::vector<int> numbers;
    for (int number = 0; in >> number;) numbers.push_back(number);
    return numbers;
  }

  bool all_gone() const {
    const std::vector<int> pids = printed();
    return std::none_of(pids.begin(), pids.end(), [](int pid) { return identify(pid).has_value(); });
  }

  bool all_stopped() const {
    const std::vector<int> pids = printed();
    return std::all_of(pids.begin(), pids.end(), [](int pid) {
      const std::optional<ProcessEntry> entry = process_entry(pid);
      return entry && entry->stopped();
    });
  }

  TempDir scratch_;
};

// A wrapper, `timeout` in a group of its own, a new session, and a daemon whose parents are gone.
constexpr const char* kRunaways =
    "echo $$; timeout 1000 sleep 1000 & echo $!; setsid sleep 1000 & echo $!; "
    "(setsid env -i sh -c 'echo $$; exec sleep 1000' &) ; wait";

TEST_F(Guarded, EveryProcessOfAProgramIsEnded) {
  Guardian guardian(2, 0.1);
  Subprocess leader = launch(guardian, kRunaways, 4);
  const int ward = guardian.watch(leader.identity(), file());
  guardian.signal(ward, SIGTERM);
  EXPECT_TRUE(eventually([&] { return leader.has_ended(); }));
  EXPECT_TRUE(eventually([&] { return guardian.end_rest(ward) == Rest::none; }));
  EXPECT_TRUE(all_gone());
  guardian.forget(ward);
  leader.poll_exit();
}

TEST_F(Guarded, NothingOutlivesAControllerThatIsKilled) {
  const SystemClock clock;
  const double begin = clock.now();
  const pid_t controller = ::fork();
  if (controller == 0) {
    Guardian guardian(2, 0.1);
    const Subprocess leader = launch(guardian, kRunaways, 4);
    guardian.watch(leader.identity(), file());
    ::usleep(1'000'000);
    ::raise(SIGKILL);
  }
  ::waitpid(controller, nullptr, 0);
  ASSERT_EQ(printed().size(), 4u);
  // Also the daemon without a mark, which lost every tie when its parents died: it was seen before.
  EXPECT_TRUE(eventually([&] { return all_gone(); }));
  EXPECT_TRUE(eventually([&] { return read_process_file(file())->lived >= 0.3; }));
  EXPECT_LE(read_process_file(file())->lived, clock.now() - begin);
  for (const int pid : printed()) ::kill(pid, SIGKILL);
}

TEST_F(Guarded, AStoppedControllerStopsItsProgramsAndTheirClock) {
  const SystemClock clock;
  const double begin = clock.now();
  const pid_t controller = ::fork();
  if (controller == 0) {
    Guardian guardian(1, 0.1);
    const Subprocess leader = launch(guardian, "echo $$; timeout 1000 sleep 1000 & echo $!; wait", 2);
    guardian.watch(leader.identity(), file());
    while (true) ::usleep(100'000);
  }
  ASSERT_TRUE(eventually([&] {
    const auto content = read_process_file(file());
    return printed().size() == 2 && content && content->lived > 0.0;
  }));
  ::kill(controller, SIGSTOP);
  EXPECT_TRUE(eventually([&] { return all_stopped(); }));
  const double stopped_at = clock.now();
  ::usleep(1'500'000);
  const double stopped = clock.now() - stopped_at;
  ::kill(controller, SIGCONT);
  EXPECT_TRUE(eventually([&] { return !all_stopped(); }));
  ::kill(controller, SIGKILL);
  ::waitpid(controller, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return all_gone(); }));
  ::usleep(200'000);
  // What it lived is renewed up to its end: without the stop it would be nearly all of this time.
  EXPECT_LE(read_process_file(file())->lived, clock.now() - begin - stopped);
}

TEST_F(Guarded, APauseStopsEveryProgramAndItsClock) {
  Guardian guardian(1, 0.1);
  Subprocess leader = launch(guardian, "echo $$; timeout 1000 sleep 1000 & echo $!; wait", 2);
  const int ward = guardian.watch(leader.identity(), file());
  guardian.pause();
  EXPECT_TRUE(eventually([&] { return all_stopped(); }));
  const double before = guardian.lived(ward);
  ::usleep(300'000);
  EXPECT_EQ(guardian.lived(ward), before);
  guardian.go_on();
  EXPECT_TRUE(eventually([&] { return !all_stopped(); }));
  EXPECT_GE(guardian.paused(), 0.3);
  guardian.end_all();
  guardian.forget(ward);
}

TEST_F(Guarded, ChildrenThatAreNoProgramsAreLeftAloneWhereOrphansAre) {
  Guardian guardian(1, 0.1, Guardian::Orphans::left);
  const pid_t own = ::fork();
  if (own == 0) {
    ::setsid();
    while (true) ::usleep(100'000);
  }
  {
    Subprocess leader = launch(guardian, "echo $$; setsid sleep 1000 & echo $!; wait", 2);
    const int ward = guardian.watch_marked(leader.identity(), "BAPI_DIR=" + scratch_.path().string());
    guardian.signal(ward, SIGKILL);
    EXPECT_TRUE(eventually([&] { return guardian.end_rest(ward) == Rest::none; }));
    EXPECT_TRUE(all_gone());
    guardian.forget(ward);
  }
  EXPECT_TRUE(identify(own).has_value());
  ::kill(own, SIGKILL);
  ::waitpid(own, nullptr, 0);
}

TEST_F(Guarded, ALimitIsKeptWhileTheControllerIsBusy) {
  Guardian guardian(1, 0.1);
  Subprocess leader = launch(guardian, "trap '' TERM; echo $$; sleep 1000 & echo $!; wait; sleep 1000", 2);
  const int ward = guardian.watch(leader.identity(), file());
  guardian.set_limits({.training_seconds = 0.3, .seconds = kNone});
  EXPECT_TRUE(eventually([&] { return leader.has_ended(); }));  // nothing else is done meanwhile
  EXPECT_TRUE(guardian.limit_passed());
  EXPECT_TRUE(eventually([&] { return all_gone(); }));
  ASSERT_TRUE(eventually([&] { return guardian.ended_at(ward).has_value(); }));
  EXPECT_GT(guardian.lived(ward), 0.3);
  guardian.forget(ward);
}

TEST_F(Guarded, WhatIsLeftAtTheLastLimitIsKilledWithoutAGracePeriod) {
  constexpr double kGrace = 60.0;
  Guardian guardian(1, kGrace);
  Subprocess leader = launch(guardian, "trap '' TERM; echo $$; while :; do sleep 1; done", 1);
  const int ward = guardian.watch(leader.identity(), file());
  const double before = guardian.lived(ward);
  guardian.set_limits({.training_seconds = kNone, .seconds = kNone, .most_training_seconds = 0.3});
  ASSERT_TRUE(eventually([&] { return guardian.ended_at(ward).has_value(); }));
  EXPECT_TRUE(guardian.limit_passed());
  EXPECT_GE(guardian.lived(ward) - before, 0.3);
  EXPECT_LT(guardian.lived(ward), kGrace);
  guardian.forget(ward);
}

TEST_F(Guarded, AnEndIsStampedWhenItHappens) {
  Guardian guardian(1, 0.1);
  Subprocess leader = launch(guardian, "echo $$; sleep 0.4", 1);
  const int ward = guardian.watch(leader.identity(), file());
  guardian.set_limits({.training_seconds = kNone, .seconds = kNone});
  ASSERT_TRUE(eventually([&] { return guardian.ended_at(ward).has_value(); }));
  const double lived = guardian.lived(ward);
  const double at = guardian.now();
  EXPECT_LE(*guardian.ended_at(ward), at);
  ::sleep(1);
  EXPECT_EQ(guardian.lived(ward), lived) << "the dead do not age";
  EXPECT_GE(guardian.now(), at + 0.9);
  EXPECT_FALSE(guardian.limit_passed());
  guardian.forget(ward);
}

TEST_F(Guarded, AGuardianThatIsKilledIsReplaced) {
  Guardian guardian(1, 0.1);
  Subprocess leader = launch(guardian, "echo $$; sleep 1000", 1);
  const int ward = guardian.watch(leader.identity(), file());
  const ProcessIdentity former = guardian.identity();
  ::kill(former.pid, SIGKILL);
  EXPECT_TRUE(eventually([&] {
    guardian.stay_guarded();
    return guardian.identity() != former;
  }));
  guardian.set_limits({.training_seconds = 0.2, .seconds = kNone});
  EXPECT_TRUE(eventually([&] { return leader.has_ended(); }));
  guardian.forget(ward);
}

}  // namespace
}  // namespace bapi

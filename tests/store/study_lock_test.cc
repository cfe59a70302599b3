#include "bapi/store/study_lock.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "bapi/base/error.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

// Another process that holds the lock until it is killed.
class OtherController {
 public:
  explicit OtherController(const std::filesystem::path& directory) {
    int pipe[2];
    if (::pipe(pipe) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      const StudyLock lock = StudyLock::take(directory);
      const char ready = '.';
      if (::write(pipe[1], &ready, 1) == 1) ::pause();
      ::_exit(1);
    }
    char ready = 0;
    EXPECT_EQ(::read(pipe[0], &ready, 1), 1);
    ::close(pipe[0]);
    ::close(pipe[1]);
  }
  ~OtherController() { kill(); }

  pid_t pid() const { return pid_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

TEST(StudyLock, NobodyHoldsANewStudy) {
  const TempDir directory;
  EXPECT_EQ(StudyLock::holder(directory.path()), std::nullopt);
}

TEST(StudyLock, TheHolderIsThisProcessUntilTheLockGoes) {
  const TempDir directory;
  {
    const StudyLock lock = StudyLock::take(directory.path());
    const auto holder = StudyLock::holder(directory.path());
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->pid, ::getpid());
    EXPECT_FALSE(holder->host.empty());
  }
  EXPECT_EQ(StudyLock::holder(directory.path()), std::nullopt);
}

TEST(StudyLock, ASecondLockIsRefusedAlsoWithinOneProcess) {
  const TempDir directory;
  const StudyLock lock = StudyLock::take(directory.path());
  EXPECT_THROW(StudyLock::take(directory.path()), StoreError);
  EXPECT_TRUE(StudyLock::holder(directory.path()));
}

TEST(StudyLock, ASecondControllerIsRefusedWithTheProcessThatHoldsIt) {
  const TempDir directory;
  const OtherController other(directory.path());
  try {
    StudyLock::take(directory.path());
    FAIL() << "two controllers";
  } catch (const StoreError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("process " + std::to_string(other.pid())), std::string::npos) << message;
  }
  EXPECT_EQ(StudyLock::holder(directory.path())->pid, other.pid());
}

TEST(StudyLock, ALockIsFreeOnceItsHolderWasKilled) {
  const TempDir directory;
  OtherController other(directory.path());
  other.kill();
  EXPECT_EQ(StudyLock::holder(directory.path()), std::nullopt);
  const StudyLock lock = StudyLock::take(directory.path());
  EXPECT_EQ(StudyLock::holder(directory.path())->pid, ::getpid());
}

// A controller that starts programs: between fork and exec each has the lock too, and outlives the controller.
void take_lock_and_fork(const std::filesystem::path& directory) {
  const StudyLock lock = StudyLock::take(directory);
  while (true) {
    if (::fork() == 0) {
      ::usleep(30000);
      ::_exit(0);
    }
    ::usleep(5000);
  }
}

TEST(StudyLock, IsTakenAtTheFirstAttemptRightAfterItsHolderWasKilled) {
  const TempDir directory;
  for (int round = 0; round < 50; ++round) {
    const pid_t controller = ::fork();
    if (controller == 0) {
      ::signal(SIGCHLD, SIG_IGN);
      take_lock_and_fork(directory.path());
    }
    while (!StudyLock::holder(directory.path()) || StudyLock::holder(directory.path())->pid != controller) {
      ::usleep(500);
    }
    ::usleep(static_cast<useconds_t>(500 * (round % 16)));
    ::kill(controller, SIGKILL);
    EXPECT_NO_THROW(StudyLock::take(directory.path())) << "round " << round;
    ::waitpid(controller, nullptr, 0);
  }
}

void pin_to_first_processor(pid_t process) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  EXPECT_EQ(::sched_setaffinity(process, sizeof first, &first), 0);
}

TEST(StudyLock, IsTakenAtTheFirstAttemptWhereTheKilledHolderGetsNoProcessorToDieOn) {
  const TempDir directory;
  const pid_t busy = ::fork();
  if (busy == 0) {
    pin_to_first_processor(0);
    ::alarm(60);
    while (true) ::getppid();
  }
  for (int round = 0; round < 5; ++round) {
    OtherController other(directory.path());
    pin_to_first_processor(other.pid());
    const sched_param none = {};
    ASSERT_EQ(::sched_setscheduler(other.pid(), SCHED_IDLE, &none), 0);  // it runs when nobody else wants to
    ::kill(other.pid(), SIGKILL);
    EXPECT_NO_THROW(StudyLock::take(directory.path())) << "round " << round;
  }
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
}

TEST(StudyLock, KnowsThatItsFileWasRemovedOrReplaced) {
  const TempDir directory;
  const StudyLock lock = StudyLock::take(directory.path());
  EXPECT_NO_THROW(lock.check_held());
  std::filesystem::remove(directory / "lock");
  EXPECT_THROW(lock.check_held(), StoreError);
  const StudyLock thief = StudyLock::take(directory.path());
  EXPECT_THROW(lock.check_held(), StoreError);
  EXPECT_NO_THROW(thief.check_held());
}

TEST(StudyLock, AskingForTheHolderDoesNotDropTheLock) {
  const TempDir directory;
  const StudyLock lock = StudyLock::take(directory.path());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(StudyLock::holder(directory.path()));
  EXPECT_THROW(StudyLock::take(directory.path()), StoreError);
}

TEST(StudyLock, ATrainingProcessDoesNotKeepTheLock) {
  const TempDir directory;
  pid_t sleeper = 0;
  {
    const StudyLock lock = StudyLock::take(directory.path());
    sleeper = ::fork();
    if (sleeper == 0) {
      ::execlp("sleep", "sleep", "60", nullptr);
      ::_exit(127);
    }
    ::usleep(100000);  // until it runs the other program
  }
  EXPECT_EQ(StudyLock::holder(directory.path()), std::nullopt);
  ::kill(sleeper, SIGKILL);
  ::waitpid(sleeper, nullptr, 0);
}

TEST(StudyLock, MovesWithItsOwner) {
  const TempDir directory;
  StudyLock first = StudyLock::take(directory.path());
  const StudyLock second = std::move(first);
  EXPECT_TRUE(StudyLock::holder(directory.path()));
}

TEST(StudyLock, OfAnythingButARegularFileIsRefusedAtOnce) {
  const TempDir scratch;
  const std::filesystem::path file = scratch.path() / "lock";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THROW(StudyLock::take(scratch.path()), StoreError);
  EXPECT_THROW(StudyLock::holder(scratch.path()), StoreError);
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/zero", file);
  EXPECT_THROW(StudyLock::take(scratch.path()), StoreError);
  EXPECT_THROW(StudyLock::holder(scratch.path()), StoreError);
}

TEST(StudyLock, ADirectoryThatIsNotThereIsAStoreError) {
  const TempDir directory;
  EXPECT_THROW(StudyLock::take(directory / "nowhere"), StoreError);
  EXPECT_EQ(StudyLock::holder(directory / "nowhere"), std::nullopt);
}

}  // namespace
}  // namespace bapi

// std::condition_variable::wait as libstdc++ had it before GCC 12 gave it a new version (GLIBCXX_3.4.30), the only one
// of its symbols that the extension would need. The linker puts this one in its place (--wrap), so that wheels run with
// the libstdc++ of GCC 11: RHEL 9, for example.

#include <pthread.h>

#include <condition_variable>
#include <mutex>

// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name for what it calls instead.
extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* condition,
                                                                                 std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(condition->native_handle(), lock.mutex()->native_handle());
}

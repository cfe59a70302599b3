#include "bapi/process/short_slices.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace bapi {
namespace {

constexpr std::uint64_t kSlice = 100'000;  // nanoseconds; the shortest that is granted
constexpr std::uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK
constexpr std::uint32_t kNormal = 0;       // SCHED_OTHER

// struct sched_attr of linux/sched/types.h, in its first version; that header and <sched.h> exclude each other.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // the slice, where time is shared
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

}  // namespace

void ask_for_short_slices() {
  Attributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != kNormal) return;
  attributes.size = sizeof attributes;
  attributes.flags |= kResetOnFork;
  attributes.runtime = kSlice;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace bapi

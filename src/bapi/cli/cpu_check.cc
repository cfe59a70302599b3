// Compiled for the oldest processor of the family, unlike everything else, and run before every other initialiser: on a
// processor that lacks what the program was built for, a sentence is better than "illegal instruction".

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "bapi/cli/exit_code.h"

#if defined(BAPI_NEEDS_AVX2) && defined(__x86_64__)

namespace {

__attribute__((constructor(101))) void check_cpu() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return;
  const char* message =
      "bapi: this program was built for processors with AVX2 and FMA, which this one lacks; "
      "build it with cmake -DBAPI_CPU=x86-64\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message, std::strlen(message));
  _exit(bapi::kWrongUse);
}

}  // namespace

#endif

// The entry points of libFuzzer: BAPI_FUZZ_TARGET names the target, tools/run_fuzz.py runs them all.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets.h"

namespace {

const bapi::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("BAPI_FUZZ_TARGET");
  for (const bapi::fuzz::Target& target : bapi::fuzz::targets()) {
    if (name && target.name == name) chosen = &target;
  }
  if (chosen) return 0;
  std::fprintf(stderr, "BAPI_FUZZ_TARGET must be one of:\n");
  for (const bapi::fuzz::Target& target : bapi::fuzz::targets()) std::fprintf(stderr, "  %s\n", target.name.data());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bapi::fuzz::feed(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}

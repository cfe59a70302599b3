#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"

namespace {

int complain(const std::string& what, int code) {
  std::fprintf(stderr, "bapi: %s\n", what.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bapi;
  try {
    const int code = dispatch(all_commands(), std::vector<std::string>(argv + 1, argv + argc));
    // A full disk shows when the buffer is written at last.
    return std::fflush(stdout) == 0 ? code : complain("cannot write to standard output", kStoreUnavailable);
  } catch (const InvalidInput& error) {
    return complain(error.what(), kWrongUse);
  } catch (const StoreError& error) {
    return complain(error.what(), kStoreUnavailable);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kStoreUnavailable);
  } catch (const std::exception& error) {
    return complain(std::string("this is a bug in bapi, please report it: ") + error.what(), kBug);
  }
}

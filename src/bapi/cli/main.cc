#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"

namespace {

int complain(const std::string& what, int code) {
  std::fprintf(stderr, "bapi: %s\n", what.c_str());
  return code;
}

extern "C" void on_failed_write(int) {}

// A write to a closed pipe, or past a limit on file sizes, fails as a full disk does. Handlers, unlike SIG_IGN, are not
// inherited by training programs.
void let_writes_fail() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, on_failed_write);
}

// A parent that ignores the ends of its children, or blocks signals, passes that on: ends of programs would never be
// seen, and Ctrl-C would not be heard.
void hear_signals() {
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Whether the reader of standard output has closed its end.
bool reader_left() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

// `code`, unless the results could not be written. A full disk shows when the buffer is written at last.
int delivered(int code) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || reader_left()) return code;
  return complain("cannot write to standard output", bapi::kStoreUnavailable);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bapi;
  let_writes_fail();
  hear_signals();
  try {
    return delivered(dispatch(all_commands(), std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const InvalidInput& error) {
    return complain(error.what(), kWrongUse);
  } catch (const StoreError& error) {
    return complain(error.what(), kStoreUnavailable);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kStoreUnavailable);
  } catch (const std::system_error& error) {  // a file that cannot be accessed, a thread that cannot be started
    return complain(std::string("the system refused: ") + error.what(), kStoreUnavailable);
  } catch (const std::exception& error) {
    return complain(std::string("this is a bug in bapi, please report it: ") + error.what(), kBug);
  }
}

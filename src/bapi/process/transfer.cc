#include "bapi/process/transfer.h"

namespace bapi {
namespace {

// The shell and its program get SIGTERM together: the shell waits for the program, and what it runs afterwards ignores
// the signal. A program that was ended by a signal is seen to have been.
constexpr const char* kScript = R"sh(
fetch=$BAPI_FETCH push=$BAPI_PUSH
unset BAPI_FETCH BAPI_PUSH
if [ "$BAPI_FROM_EPOCH" -gt 0 ] && [ -n "$fetch" ]; then
  sh -c "$fetch" || { echo "the command of --fetch failed with exit code $?" >&2; exit 1; }
fi
trap : TERM INT
"$@"
code=$?
trap '' TERM INT
if [ -n "$push" ]; then
  sh -c "$push" || echo "the command of --push failed with exit code $?" >&2
fi
if [ "$code" -gt 128 ]; then
  trap - TERM INT
  kill -"$((code - 128))" $$
fi
exit "$code"
)sh";

}  // namespace

std::map<std::string, std::string> variables_of(const Transfer& transfer) {
  return {{"BAPI_FETCH", transfer.fetch}, {"BAPI_PUSH", transfer.push}};
}

std::vector<std::string> with_transfer(const std::vector<std::string>& command) {
  std::vector<std::string> whole = {"sh", "-c", kScript, "bapi-transfer"};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

}  // namespace bapi

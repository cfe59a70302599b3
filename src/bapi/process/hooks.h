#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/process/subprocess.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/notices.h"

namespace bapi {

struct HookLimits {
  double seconds = 60.0;                  // after which a hook is killed
  double last_seconds = 60.0;             // for all that are left when the study has ended, before `study_end`
  std::size_t waiting = 1000;             // notices that may wait; the oldest report of an epoch makes room for another
  std::uintmax_t log_bytes = 16'000'000;  // of hooks.log, beyond which a hook is killed and output no longer kept
};

// Both times as the variable BAPI_HOOK_SECONDS says, if it is a positive number.
HookLimits limits_from_environment();

// What hooks are told of where the study is.
struct HookPlace {
  StudyDir dir;               // with the files of the trials
  std::string study;          // as commands of this machine take it
  std::filesystem::path log;  // for their output
};

// Runs the programs of `hooks:` in a study file: one at a time, in the order of events, each a process of its own whose
// output goes to the log. They learn what happened from their environment (docs/hooks.md).
//
// Nothing that they do concerns the study: none of the calls waits but `finish`, none throws, a hook that cannot be
// run, fails or takes too long is a line in that log, and when this process dies, so do they. Driven by one thread.
class HookRunner {
 public:
  HookRunner(const StudySpec& spec, HookPlace place, const Clock& clock, HookLimits limits = {});
  ~HookRunner();  // kills what still runs

  void tell(const Notice& notice, const History& history);

  // Goes on with the next one when a hook has ended or its time is over. To be called several times a second.
  void look();

  // Waits for those that are left, for a while, and ends the others. The hook of the study's end is run in any case,
  // with the time of any hook.
  void finish();

 private:
  struct Call {
    NoticeKind kind;
    Launch launch;
  };

  const std::vector<std::string>& command_of(NoticeKind kind) const;
  void make_room();
  void kill_running(const std::string& why);
  void wait_until(double until);
  bool log_is_full() const;
  void begin(const Call& call);
  void note(const std::string& text) const;

  const StudySpec spec_;
  const HookPlace place_;
  const Clock& clock_;
  const HookLimits limits_;
  std::deque<Call> waiting_;
  std::optional<Subprocess> running_;
  NoticeKind running_kind_ = NoticeKind::epoch;
  double kill_at_ = 0.0;
  bool killed_ = false;  // the running one
  bool quiet_ = false;   // the output of the running one is not kept
  int dropped_ = 0;
};

}  // namespace bapi

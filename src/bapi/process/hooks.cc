#include "bapi/process/hooks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bapi/process/gpus.h"
#include "bapi/study/codec.h"
#include "bapi/study/progress.h"

namespace bapi {
namespace {

// Seconds, while the last hooks are waited for: a hook that floods its log is to be seen soon.
constexpr double kLook = 0.02;
constexpr double kLongestWait = 0.2;

// Every number of the report, the metric among them.
std::string metrics_json(const Notice& notice, const StudySpec& spec) {
  OtherMetrics all = notice.others;
  if (notice.value) all[spec.metric.name] = *notice.value;
  return encode(all);
}

Environment facts_of(const Notice& notice, const History& history, const HookPlace& place) {
  const StudySpec& spec = history.spec();
  Environment variables = Machine::this_one().environment;
  const auto number = [](double value) { return fmt::format("{}", value); };
  variables["BAPI_EVENT"] = word(notice.kind);
  variables["BAPI_STUDY"] = spec.name;
  variables["BAPI_STUDY_DIR"] = place.dir.root().string();
  variables["BAPI_STUDY_PLACE"] = place.study;
  std::error_code unknown;
  variables["BAPI_PROGRAM"] = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  variables["BAPI_METRIC"] = spec.metric.name;
  variables["BAPI_GOAL"] = word(spec.metric.goal);
  variables["BAPI_SPENT"] = number(history.budget().spent());
  variables["BAPI_BUDGET"] = number(history.budget().total());
  variables["BAPI_UNIT"] = spec.budget.unit;
  if (!notice.reason.empty()) variables["BAPI_REASON"] = notice.reason;
  if (const std::optional<Best> found = best(history)) {
    variables["BAPI_BEST_TRIAL"] = std::to_string(index(found->trial));
    variables["BAPI_BEST_EPOCH"] = std::to_string(found->epoch);
    variables["BAPI_BEST_VALUE"] = number(found->value);
    if (found->standard_error) variables["BAPI_BEST_STANDARD_ERROR"] = number(*found->standard_error);
    variables["BAPI_BEST_VALUES"] = encode(found->config, spec.space);
  }
  if (!notice.trial) return variables;
  const TrialDir files = place.dir.trial(*notice.trial);
  variables["BAPI_TRIAL"] = std::to_string(index(*notice.trial));
  variables["BAPI_DIR"] = files.root.string();
  variables["BAPI_CHECKPOINT_DIR"] = files.checkpoint().string();
  variables["BAPI_EPOCH"] = std::to_string(notice.epoch);
  variables["BAPI_METRICS"] = metrics_json(notice, spec);
  if (notice.value) variables["BAPI_VALUE"] = number(*notice.value);
  if (!notice.state.empty()) variables["BAPI_STATE"] = notice.state;
  variables["BAPI_VALUES"] = encode(history.trial(*notice.trial).config, spec.space);
  return variables;
}

// A NUL would end the variable; a failed program's message may hold anything.
std::vector<std::string> as_list(const Environment& variables) {
  std::vector<std::string> list;
  for (const auto& [name, value] : variables) list.push_back(name + "=" + value.substr(0, value.find('\0')));
  return list;
}

}  // namespace

HookLimits limits_from_environment() {
  HookLimits limits;
  const char* text = std::getenv("BAPI_HOOK_SECONDS");
  const double seconds = text ? std::strtod(text, nullptr) : 0.0;
  if (seconds > 0.0 && std::isfinite(seconds)) limits.seconds = limits.last_seconds = seconds;
  return limits;
}

HookRunner::HookRunner(const StudySpec& spec, HookPlace place, const Clock& clock, HookLimits limits)
    : spec_(spec), place_(std::move(place)), clock_(clock), limits_(limits) {}

HookRunner::~HookRunner() = default;

const std::vector<std::string>& HookRunner::command_of(NoticeKind kind) const {
  switch (kind) {
    case NoticeKind::epoch:
      return spec_.hooks.epoch;
    case NoticeKind::best:
      return spec_.hooks.best;
    case NoticeKind::trial_end:
      return spec_.hooks.trial_end;
    case NoticeKind::study_end:
      return spec_.hooks.study_end;
  }
  return spec_.hooks.epoch;
}

void HookRunner::tell(const Notice& notice, const History& history) {
  const std::vector<std::string>& command = command_of(notice.kind);
  if (command.empty()) return;
  if (waiting_.size() >= limits_.waiting) make_room();
  waiting_.push_back({.kind = notice.kind,
                      .launch = {.arguments = command,
                                 .environment = as_list(facts_of(notice, history, place_)),
                                 .output = place_.log,
                                 .directory = spec_.cwd,
                                 .session = Launch::Session::of_this_process}});
  look();
}

// Epochs come in thousands and are the least missed.
void HookRunner::make_room() {
  const auto oldest =
      std::find_if(waiting_.begin(), waiting_.end(), [](const Call& call) { return call.kind == NoticeKind::epoch; });
  waiting_.erase(oldest == waiting_.end() ? waiting_.begin() : oldest);
  if (dropped_++ == 0) note("hooks cannot keep up with the events: the oldest events are dropped");
}

void HookRunner::look() {
  if (running_) {
    if (clock_.now() >= kill_at_) {
      kill_running(fmt::format("it took longer than {:.6g} s", limits_.seconds));
      kill_at_ = clock_.now() + limits_.seconds;
    } else if (!killed_ && !quiet_ && log_is_full()) {
      kill_running(fmt::format("hooks.log is longer than {} MB; output of later hooks is not kept",
                               limits_.log_bytes / 1'000'000));
    }
    const std::optional<Exit> exit = running_->poll_exit();
    if (!exit) return;
    if (!exit->in_order()) note(fmt::format("{}: {}", word(running_kind_), exit->text()));
    running_.reset();
  }
  while (!running_ && !waiting_.empty()) {
    begin(waiting_.front());
    waiting_.pop_front();
  }
}

void HookRunner::kill_running(const std::string& why) {
  note(fmt::format("{}: killed, {}", word(running_kind_), why));
  running_->signal_group(SIGKILL);
  killed_ = true;
}

// A hook that writes without end must not fill the disk that the study needs.
bool HookRunner::log_is_full() const {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(place_.log, missing);
  return !missing && size > limits_.log_bytes;
}

void HookRunner::begin(const Call& call) {
  try {
    Launch launch = call.launch;
    quiet_ = log_is_full();
    if (quiet_) launch.output.clear();
    auto launched = Subprocess::launch(launch);
    std::optional<Subprocess::Failure> failure;
    if (const auto* refused = std::get_if<Subprocess::Failure>(&launched)) failure = *refused;
    if (!failure) failure = std::get<Subprocess>(launched).begin();
    if (failure) return note(fmt::format("{}: {}", word(call.kind), failure->message));
    running_.emplace(std::move(std::get<Subprocess>(launched)));
    running_kind_ = call.kind;
    killed_ = false;
    kill_at_ = clock_.now() + limits_.seconds;
  } catch (const std::exception& error) {
    note(fmt::format("{}: {}", word(call.kind), error.what()));
  }
}

void HookRunner::wait_until(double until) {
  for (look(); running_ && clock_.now() < until; look()) {
    pollfd ended{.fd = running_->descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&ended, 1, static_cast<int>(std::ceil(1e3 * std::clamp(until - clock_.now(), kLook, kLongestWait))));
  }
}

void HookRunner::finish() {
  wait_until(clock_.now() + limits_.last_seconds);
  std::optional<Call> end;
  if (!waiting_.empty() && waiting_.back().kind == NoticeKind::study_end) {
    end = std::move(waiting_.back());
    waiting_.pop_back();
  }
  const std::size_t left = waiting_.size() + (running_ ? 1 : 0);
  if (left > 0) note(fmt::format("the study has ended; {} more hooks are left out", left));
  waiting_.clear();
  running_.reset();
  if (!end) return;
  begin(*end);
  wait_until(clock_.now() + 2.0 * limits_.seconds);  // look() kills it in time
  running_.reset();
}

// A full disk must not end the study because of a remark.
void HookRunner::note(const std::string& text) const {
  const FileDescriptor log = open_regular(place_.log, O_WRONLY | O_APPEND | O_CREAT);
  const std::string line = fmt::format("[bapi] {}\n", text);
  [[maybe_unused]] const ssize_t ignored = log ? ::write(log.get(), line.data(), line.size()) : 0;
}

}  // namespace bapi

// The guardian's side of guardian.h: everything here runs in the guardian's own process.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "bapi/base/file.h"
#include "bapi/process/guardian_page.h"
#include "bapi/process/process_file.h"
#include "bapi/process/process_table.h"
#include "bapi/process/short_slices.h"

namespace bapi {
namespace {

constexpr double kGuardEvery = 0.1;          // seconds
constexpr double kNoteEvery = 0.5;           // seconds between two notes of how long programs have trained
constexpr double kLimitSlack = 0.1;          // seconds that the controller has to keep a limit itself
constexpr double kEndWithin = 60.0;          // seconds after which even a process that cannot be killed is given up
constexpr double kLookForStraysEvery = 0.2;  // seconds
constexpr double kShortPause = 0.005;        // seconds between two looks while processes are ended or stopped
constexpr double kStandstill = 1.0;          // seconds without anything that runs which are no accident
constexpr double kRunsAtMost = 0.2;          // of that time, a process that stood still: it ran before and after
constexpr double kTurnsAtMost = 5.0;         // a second of it, at a processor
constexpr double kTurnsAround = 10.0;        // before and after

void sleep_for(double seconds) {
  const timespec time = {.tv_sec = static_cast<time_t>(seconds),
                         .tv_nsec = static_cast<long>(1e9 * (seconds - std::floor(seconds)))};
  ::nanosleep(&time, nullptr);
}

// What a process had of the machine so far.
struct Share {
  double ran = 0.0;     // seconds, of all its threads
  double waited = 0.0;  // seconds, of its first thread: ready to run
  double turns = 0.0;   // of its first thread at a processor
};

// nullopt if it is gone, or if the kernel does not count.
std::optional<Share> share_of(int pid) {
  clockid_t clock = 0;
  timespec time = {};
  const FileDescriptor file(::open(fmt::format("/proc/{}/schedstat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  char text[96] = {};
  unsigned long long waited = 0;
  unsigned long long turns = 0;
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return std::nullopt;
  if (std::sscanf(text, "%*u %llu %llu", &waited, &turns) != 2) return std::nullopt;
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return Share{.ran = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec),
               .waited = 1e-9 * static_cast<double>(waited),
               .turns = static_cast<double>(turns)};
}

int open_process(int pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// A program as the guardian follows it.
struct Followed {
  ProcessIdentity leader;
  FileDescriptor descriptor;
  bool noted_end = false;
  double killed_at = std::numeric_limits<double>::infinity();  // training time
};

class Watch {
 public:
  explicit Watch(const GuardianDuty& duty)
      : page_(*duty.page),
        controller_(duty.controller),
        mark_(duty.mark),
        grace_(duty.grace),
        adopts_orphans_(duty.adopts_orphans),
        alive_(open_process(duty.controller)) {}

  void run() {
    while (!controller_is_gone()) {
      leave_out_standstill();
      follow_wards();
      stamp_ends();
      follow_stops();
      keep_limits();
      note_lives();
      look_for_strays();
      sleep();
    }
    end_everything();
  }

 private:
  bool controller_is_gone() const {
    if (::getppid() != controller_) return true;
    pollfd event = {.fd = alive_.get(), .events = POLLIN, .revents = 0};
    return alive_ && ::poll(&event, 1, 0) > 0;
  }

  bool paused() const { return page_.pause.get().since > 0.0; }
  double training_now() const { return training_time(page_.pause.get(), monotonic_seconds()); }

  // A job that is suspended, a container that is paused: the controller, its programs and this process stand still
  // together, and none can say so meanwhile. Afterwards it shows: this process has neither run nor waited for a
  // processor for far longer than it meant to sleep, and nobody else has run either. Such time is a pause.
  void leave_out_standstill() {
    const double now = monotonic_seconds();
    const std::optional<Share> own = share_of(::getpid());
    if (last_look_.own && own && !paused()) {
      const double passed = now - last_look_.at;
      const double busy = own->ran - last_look_.own->ran + own->waited - last_look_.own->waited;
      if (passed - busy > kStandstill && all_stood_still(passed)) {
        page_.pause.set({.since = 0.0, .before = page_.pause.get().before + passed});
      }
    }
    last_look_ = {.at = now, .own = own};
    for (const int pid : relatives_) {
      if (const auto share = share_of(pid)) last_look_.shares.emplace(pid, *share);
    }
    page_.looked_at.store(now);
  }

  bool all_stood_still(double passed) const {
    return std::all_of(last_look_.shares.begin(), last_look_.shares.end(), [&](const auto& known) {
      const Share before = known.second;
      const Share share = share_of(known.first).value_or(before);
      return share.ran - before.ran < kRunsAtMost * passed &&
             share.turns - before.turns < kTurnsAround + kTurnsAtMost * passed;
    });
  }

  // The page as it is now: who came, who is forgotten. A program that ended before it was first seen is seen as well,
  // because the controller reaps it only after it has forgotten it.
  void follow_wards() {
    for (int i = 0; i < page_.wards_size; ++i) {
      const Ward& ward = page_.wards()[i];
      const int pid = ward.pid.load(std::memory_order_acquire);
      const auto known = followed_.find(i);
      const bool same = known != followed_.end() && known->second.leader.pid == pid &&
                        known->second.leader.start_ticks == ward.start_ticks;
      if (same) continue;
      if (known != followed_.end()) followed_.erase(known);
      if (pid == 0) continue;
      Followed followed;
      followed.leader = {.pid = pid, .start_ticks = ward.start_ticks, .boot = {}};
      followed.descriptor = FileDescriptor(open_process(pid));
      followed_.emplace(i, std::move(followed));
    }
  }

  // A program that was killed has trained up to then.
  void stamp_ends() {
    for (auto& [index, followed] : followed_) {
      Ward& ward = page_.wards()[index];
      if (!followed.descriptor || ward.ended() > 0.0) continue;
      pollfd event = {.fd = followed.descriptor.get(), .events = POLLIN, .revents = 0};
      if (::poll(&event, 1, 0) <= 0) continue;
      ward.end.set({.pid = followed.leader.pid,
                    .start_ticks = followed.leader.start_ticks,
                    .at = std::min(training_now(), followed.killed_at)});
    }
  }

  FamilyTraits traits() const {
    FamilyTraits traits;
    for (const auto& [index, followed] : followed_) traits.leaders.push_back(followed.leader);
    for (const auto& [pid, start_ticks] : strays_) {
      traits.leaders.push_back({.pid = pid, .start_ticks = start_ticks, .boot = {}});
    }
    traits.marked = [this](int pid) { return has_variables(pid, {mark_}); };
    traits.since = page_.since;
    traits.heir = adopts_orphans_ ? controller_ : 0;
    traits.outsiders = {controller_, ::getpid()};
    return traits;
  }

  std::vector<ProcessEntry> members() const { return family_members(process_table(), traits()); }

  // The groups of the programs, which nearly all processes are in, without a look at all processes of the machine: on a
  // busy one that takes a while.
  void signal_groups(int signal) const {
    for (const auto& [index, followed] : followed_) {
      const Ward& ward = page_.wards()[index];
      if (ward.pid.load() == followed.leader.pid && ward.ended() <= 0.0) ::kill(-followed.leader.pid, signal);
    }
  }

  void terminate_all() const {
    signal_groups(SIGTERM);
    for (const ProcessEntry& entry : members()) {
      if (!is_leader(entry.group)) ::kill(entry.pid, SIGTERM);
    }
  }

  // Returns how many are left.
  std::size_t kill_all() {
    signal_groups(SIGKILL);
    const double now = training_now();
    for (auto& [index, followed] : followed_) followed.killed_at = std::min(followed.killed_at, now);
    const std::vector<ProcessEntry> left = members();
    for (const ProcessEntry& entry : left) ::kill(entry.pid, SIGKILL);
    killed_ = true;
    return left.size();
  }

  void follow_stops() {
    const std::optional<ProcessEntry> controller = process_entry(controller_);
    const bool stopped = page_.stop_requests.load() > 0 || (controller && controller->stopped());
    if (stopped && !paused()) pause();
    if (!stopped && paused()) go_on();
  }

  std::vector<ProcessEntry> held_members(const std::vector<ProcessEntry>& table) const {
    FamilyTraits traits;
    for (const auto& [index, followed] : followed_) {
      if (page_.wards()[index].held.load()) traits.leaders.push_back(followed.leader);
    }
    return family_members(table, traits);
  }

  // Until none of them runs: one may have forked while the others were stopped.
  void pause() {
    constexpr int kAttempts = 20;
    const double since = monotonic_seconds();
    signal_groups(SIGSTOP);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      bool all = true;
      for (const ProcessEntry& entry : members()) {
        if (entry.stopped()) continue;
        all = false;
        ::kill(entry.pid, SIGSTOP);
      }
      if (attempt == 0) page_.pause.set({.since = since, .before = page_.pause.get().before});
      if (all) return;
      sleep_for(kShortPause);
    }
  }

  void go_on() {
    const Pause pause = page_.pause.get();
    const std::vector<ProcessEntry> table = process_table();
    const std::vector<ProcessEntry> held = held_members(table);
    for (const ProcessEntry& entry : family_members(table, traits())) {
      const bool stays =
          std::any_of(held.begin(), held.end(), [&](const auto& other) { return other.pid == entry.pid; });
      if (!stays) ::kill(entry.pid, SIGCONT);
    }
    page_.pause.set({.since = 0.0, .before = pause.before + monotonic_seconds() - pause.since});
  }

  // Seconds until the limits are passed; infinity if they cannot be, with what runs now.
  struct ToLimits {
    double end;   // SIGTERM
    double most;  // SIGKILL
  };
  ToLimits seconds_to_limits() const {
    const PublishedLimits limits = page_.limits.get();
    const double now = training_now();
    double used = 0.0;
    int running = 0;
    for (const auto& [index, followed] : followed_) {
      const Ward& ward = page_.wards()[index];
      const double ended = ward.ended();
      if (ended <= 0.0) ++running;
      used += std::max(0.0, (ended > 0.0 ? ended : now) - std::max(ward.started, limits.from));
    }
    const double to_deadline = limits.deadline - monotonic_seconds();
    if (running == 0) return {.end = to_deadline, .most = std::numeric_limits<double>::infinity()};
    return {.end = std::min(to_deadline, (limits.training_seconds - used) / running),
            .most = (limits.most_training_seconds - used) / running};
  }

  void keep_limits() {
    if (paused() || followed_.empty()) return;
    const double now = monotonic_seconds();
    const ToLimits left = seconds_to_limits();
    if (!page_.limit_passed.load()) {
      if (left.end + kLimitSlack > 0.0 && left.most > 0.0) return;
      page_.limit_passed.store(true);
      kill_at_ = now + grace_;
      if (left.most > 0.0) terminate_all();
    }
    if (now >= kill_at_ || left.most <= 0.0) kill_all();
  }

  // Seconds until `keep_limits` has something to do.
  double seconds_to_act() const {
    if (paused() || killed_ || followed_.empty()) return kGuardEvery;
    const ToLimits left = seconds_to_limits();
    if (!page_.limit_passed.load()) return std::min(left.end + kLimitSlack, left.most);
    return std::min(kill_at_ - monotonic_seconds(), left.most);
  }

  // Processes that left the session of their program are remembered: should the controller be killed, the kernel kills
  // the program at once, and with it goes what tells whose they were, if they have cleared their environment as well.
  void look_for_strays() {
    const double now = monotonic_seconds();
    if (now - looked_for_strays_at_ < kLookForStraysEvery) return;
    looked_for_strays_at_ = now;
    std::erase_if(strays_, [](const auto& stray) {
      const std::optional<ProcessEntry> entry = process_entry(stray.first);
      return !entry || entry->start_ticks != stray.second;
    });
    relatives_ = {controller_};
    for (const auto& [index, followed] : followed_) {
      relatives_.insert(followed.leader.pid);
      add_strays_below(followed.leader.pid, followed.leader.pid);
    }
    for (const auto& [pid, start_ticks] : std::map(strays_)) add_strays_below(pid, 0);
    if (adopts_orphans_) add_strays_below(controller_, ::getsid(controller_));
  }

  // Descendants of a process that are not in a session.
  void add_strays_below(int pid, int session) {
    for (const int child : children_of(pid).value_or(std::vector<int>())) {
      const std::optional<ProcessEntry> entry = process_entry(child);
      if (!entry || entry->start_ticks < page_.since || child == ::getpid() || is_leader(child)) continue;
      relatives_.insert(child);
      if (entry->session != session && !strays_.emplace(child, entry->start_ticks).second) continue;
      add_strays_below(child, session);
    }
  }

  bool is_leader(int pid) const {
    return std::any_of(
        followed_.begin(), followed_.end(), [&](const auto& ward) { return ward.second.leader.pid == pid; });
  }

  void note(int index) const {
    const Ward& ward = page_.wards()[index];
    if (ward.file.front() == '\0') return;
    const double ended = ward.ended();
    renew_lived(ward.file.data(), mark_, ward.pid.load(), (ended > 0.0 ? ended : training_now()) - ward.started);
  }

  void note_lives() {
    const double now = monotonic_seconds();
    const bool all = now - noted_at_ >= kNoteEvery && !paused();
    if (all) noted_at_ = now;
    for (auto& [index, followed] : followed_) {
      const bool ended = page_.wards()[index].ended() > 0.0;
      if (followed.noted_end || (!ended && !all)) continue;
      note(index);
      followed.noted_end = ended;
    }
    last_look_.at += monotonic_seconds() - now;  // a disk may have kept it waiting
  }

  // Until the next look, the next limit, or until a program or the controller ends.
  void sleep() const {
    std::vector<pollfd> events = {{.fd = alive_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& [index, followed] : followed_) {
      if (page_.wards()[index].ended() <= 0.0) {
        events.push_back({.fd = followed.descriptor.get(), .events = POLLIN, .revents = 0});
      }
    }
    const double seconds = std::clamp(seconds_to_act(), kShortPause, kGuardEvery);
    ::poll(events.data(), events.size(), static_cast<int>(std::ceil(1e3 * seconds)));
  }

  // The controller is gone. Twice nobody is left: a process may have been born during the first look.
  void end_everything() {
    follow_wards();
    const double give_up = monotonic_seconds() + kEndWithin;
    int empty_looks = 0;
    for (double pause = kShortPause; empty_looks < 2 && monotonic_seconds() < give_up;
         pause = std::min(0.2, 1.5 * pause)) {
      stamp_ends();
      const bool empty = kill_all() == 0;
      empty_looks = empty ? empty_looks + 1 : 0;
      sleep_for(empty ? kShortPause : pause);
    }
    stamp_ends();
    for (const auto& [index, followed] : followed_) note(index);
  }

  GuardianPage& page_;
  const int controller_;
  const std::string mark_;
  const double grace_;
  const bool adopts_orphans_;
  const FileDescriptor alive_;  // readable when the controller is gone
  std::map<int, Followed> followed_;
  std::map<int, std::uint64_t> strays_;  // when they were started, by number
  double looked_for_strays_at_ = 0.0;
  std::set<int> relatives_;  // the controller, the programs and all that descends from them, as they were then
  struct Look {
    double at = 0.0;
    std::optional<Share> own = {};
    std::map<int, Share> shares = {};  // of the relatives
  };
  Look last_look_;
  double kill_at_ = 0.0;
  bool killed_ = false;
  double noted_at_ = 0.0;
};

// Out of the terminal's reach, and without a file of the controller's: a lock or a pipe would stay open with it.
void leave_the_controller() {
  ::setsid();
  ::prctl(PR_SET_NAME, "bapi-guardian");
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (const int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2}) {
    ::sigaction(signal, &ignore, nullptr);
  }
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(nothing, fd);
  ::syscall(SYS_close_range, 3U, UINT_MAX, 0U);
  [[maybe_unused]] const int ignored = ::chdir("/");
}

}  // namespace

double monotonic_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void stand_guard(const GuardianDuty& duty) {
  leave_the_controller();
  ask_for_short_slices();
  try {
    Watch(duty).run();
  } catch (...) {
    ::_exit(70);  // the controller starts another
  }
  ::_exit(0);
}

}  // namespace bapi

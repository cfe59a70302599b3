#include "bapi/process/guardian.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/process/guardian_page.h"

namespace bapi {
namespace {

std::size_t page_size(int wards) { return sizeof(GuardianPage) + static_cast<std::size_t>(wards) * sizeof(Ward); }

void unmap(GuardianPage* page) { ::munmap(page, page_size(page->wards_size)); }

GuardianPage* map_page(int wards) {
  void* memory = ::mmap(nullptr, page_size(wards), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Shortage(fmt::format("cannot share memory: {}", std::strerror(errno)));
  auto* page = new (memory) GuardianPage;
  page->wards_size = wards;
  for (int i = 0; i < wards; ++i) new (page->wards() + i) Ward;
  return page;
}

// As /proc counts them for the start of processes.
std::uint64_t ticks_since_boot() {
  timespec time = {};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(time.tv_sec) * per_second +
         static_cast<std::uint64_t>(time.tv_nsec) * per_second / 1'000'000'000U;
}

std::string random_mark() {
  std::uint64_t number[2] = {};
  if (::getrandom(number, sizeof number, 0) != sizeof number) {
    number[0] = static_cast<std::uint64_t>(::getpid());
    number[1] = static_cast<std::uint64_t>(1e9 * monotonic_seconds());
  }
  return fmt::format("BAPI_CONTROLLER={:016x}{:016x}", number[0], number[1]);
}

// SIGCONT has come since Ctrl-Z.
std::atomic<bool> stop_taken_back = false;

// Returns when the guardian has stopped the programs, or does not, or when the stop is taken back. Does nothing that a
// signal handler must not do. A guardian that was stopped itself is continued.
void request_stop(GuardianPage& page) {
  constexpr int kAttempts = 100;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  page.stop_requests.fetch_add(1);
  if (const int guardian = page.guardian.load(); guardian > 0) ::kill(guardian, SIGCONT);
  for (int i = 0; i < kAttempts && page.pause.get().since <= 0.0 && !stop_taken_back; ++i) {
    ::nanosleep(&kPause, nullptr);
  }
}

// Ctrl-Z: first the programs, then this process.
std::atomic<GuardianPage*> page_of_stop_signal = nullptr;

extern "C" void on_stop_signal(int) {
  const int error = errno;
  GuardianPage* page = page_of_stop_signal.load();
  stop_taken_back = false;
  if (page) request_stop(*page);
  if (!stop_taken_back) ::raise(SIGSTOP);
  if (page) page->stop_requests.fetch_sub(1);
  errno = error;
}

// It may come before the stop, which takes a moment: a stop after it would last.
extern "C" void on_continue_signal(int) { stop_taken_back = true; }

bool has_default(int signal) {
  struct sigaction current = {};
  ::sigaction(signal, nullptr, &current);
  return current.sa_handler == SIG_DFL;
}

// Only where the application has no wish of its own.
void catch_stop_signal(GuardianPage* page) {
  if (!has_default(SIGTSTP) || !has_default(SIGCONT) || page_of_stop_signal.load()) return;
  page_of_stop_signal.store(page);
  struct sigaction action = {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTSTP, &action, nullptr);
  action.sa_handler = on_continue_signal;
  ::sigaction(SIGCONT, &action, nullptr);
}

void release_stop_signal(GuardianPage* page) {
  if (page_of_stop_signal.load() != page) return;
  ::signal(SIGTSTP, SIG_DFL);
  ::signal(SIGCONT, SIG_DFL);
  page_of_stop_signal.store(nullptr);
}

}  // namespace

Guardian::Guardian(int wards, double grace, Orphans orphans)
    : owner_(::getpid()),
      mark_(random_mark()),
      grace_(grace),
      orphans_(orphans),
      page_(map_page(wards), unmap),
      own_marks_(static_cast<std::size_t>(wards)),
      killed_(static_cast<std::size_t>(wards)),
      asked_at_(monotonic_seconds()) {
  page_->since = ticks_since_boot();
  page_->looked_at = monotonic_seconds();
  if (orphans_ == Orphans::adopted) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  start();
  catch_stop_signal(page_.get());
}

void Guardian::start() {
  const int controller = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw Shortage(fmt::format("cannot start the guardian process: {}", std::strerror(errno)));
  if (pid == 0) {
    stand_guard({.page = page_.get(),
                 .controller = controller,
                 .mark = mark_.c_str(),
                 .grace = grace_,
                 .adopts_orphans = orphans_ == Orphans::adopted});
  }
  page_->guardian.store(pid);
  identity_ = identify(pid).value_or(ProcessIdentity{.pid = pid, .start_ticks = 0, .boot = {}});
}

void Guardian::end_all() {
  constexpr int kAttempts = 1000;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int attempt = 0; !traits_of_all().leaders.empty() && attempt < kAttempts; ++attempt) {
    const std::vector<ProcessEntry> table = process_table();
    const std::vector<ProcessEntry> left = family_members(table, traits_of_all());
    reap_orphans(table);
    if (left.empty()) return;
    for (const ProcessEntry& entry : left) ::kill(entry.pid, SIGKILL);
    ::nanosleep(&kPause, nullptr);
  }
}

Guardian::~Guardian() {
  if (::getpid() != owner_) return;  // a forked child's copy guards nothing
  release_stop_signal(page_.get());
  end_all();
  end_orphans();
  ::kill(identity_.pid, SIGKILL);
  while (::waitpid(identity_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::stay_guarded() {
  int status = 0;
  if (::waitpid(identity_.pid, &status, WNOHANG | WUNTRACED) != identity_.pid) return;
  if (WIFSTOPPED(status)) {
    ::kill(identity_.pid, SIGCONT);
  } else {
    start();
  }
}

int Guardian::watch(const ProcessIdentity& leader, const std::filesystem::path& file) {
  return watch(leader, file.string(), "BAPI_DIR=" + file.parent_path().string());
}

int Guardian::watch_marked(const ProcessIdentity& leader, const std::string& own_mark) {
  return watch(leader, "", own_mark);
}

int Guardian::watch(const ProcessIdentity& leader, const std::string& path, const std::string& own_mark) {
  Ward* const end = page_->wards() + page_->wards_size;
  Ward* const free = std::find_if(page_->wards(), end, [](const Ward& ward) { return ward.pid.load() == 0; });
  check(free != end, "Guardian: more programs than wards");
  free->file.fill('\0');
  std::copy_n(path.begin(), std::min(path.size(), free->file.size() - 1), free->file.begin());
  free->start_ticks = leader.start_ticks;
  free->started = now();
  free->held.store(false);
  free->pid.store(leader.pid, std::memory_order_release);
  const auto ward = static_cast<int>(free - page_->wards());
  own_marks_[static_cast<std::size_t>(ward)] = own_mark;
  killed_[static_cast<std::size_t>(ward)].clear();
  return ward;
}

void Guardian::forget(int ward) { page_->wards()[ward].pid.store(0, std::memory_order_release); }

FamilyTraits Guardian::traits_of(int ward) const {
  const Ward& of = page_->wards()[ward];
  const std::string& own_mark = own_marks_[static_cast<std::size_t>(ward)];
  FamilyTraits traits;
  traits.leaders = {{.pid = of.pid.load(), .start_ticks = of.start_ticks, .boot = {}}};
  traits.marked = [this, own_mark](int pid) { return has_variables(pid, {mark_, own_mark}); };
  traits.since = of.start_ticks;
  traits.outsiders = {::getpid(), identity_.pid};
  // Whose an orphan without any mark is cannot be told while several programs run; it goes with the last of them.
  traits.heir = orphans_ == Orphans::adopted ? ::getpid() : 0;
  for (int i = 0; i < page_->wards_size; ++i) {
    if (i == ward || page_->wards()[i].pid.load() == 0) continue;
    traits.outsiders.push_back(page_->wards()[i].pid.load());
    traits.heir = 0;
  }
  return traits;
}

FamilyTraits Guardian::traits_of_all() const {
  FamilyTraits traits;
  traits.marked = [this](int pid) { return has_variables(pid, {mark_}); };
  traits.since = page_->since;
  traits.outsiders = {::getpid(), identity_.pid};
  for (int i = 0; i < page_->wards_size; ++i) {
    const Ward& ward = page_->wards()[i];
    const int pid = ward.pid.load();
    if (pid != 0) traits.leaders.push_back({.pid = pid, .start_ticks = ward.start_ticks, .boot = {}});
  }
  return traits;
}

bool Guardian::is_watched(int pid) const {
  return std::any_of(
      page_->wards(), page_->wards() + page_->wards_size, [&](const Ward& ward) { return ward.pid.load() == pid; });
}

// Whether the program is a single process. As orphans come to this process, its own children and those of the leader
// tell, without a look at all processes of the machine.
bool Guardian::is_alone(const ProcessIdentity& leader) const {
  if (orphans_ == Orphans::left) return false;
  const std::optional<std::vector<int>> ours = children_of(::getpid());
  if (!ours) return false;
  const auto known = [&](int pid) { return pid == identity_.pid || is_watched(pid); };
  if (!std::all_of(ours->begin(), ours->end(), known)) return false;
  const std::optional<ProcessEntry> entry = process_entry(leader.pid);
  if (!entry || !entry->alive()) return true;
  const std::optional<std::vector<int>> theirs = children_of(leader.pid);
  return theirs && theirs->empty();
}

void Guardian::signal(int ward, int signal) {
  const FamilyTraits traits = traits_of(ward);
  const ProcessIdentity& leader = traits.leaders.front();
  std::set<int>& killed = killed_[static_cast<std::size_t>(ward)];
  const bool has_group = ::kill(-leader.pid, signal) == 0;
  if (signal == SIGKILL) killed.insert(leader.pid);
  if (is_alone(leader)) return;
  for (const ProcessEntry& entry : family_members(process_table(), traits)) {
    if (!has_group || entry.group != leader.pid) ::kill(entry.pid, signal);
    if (signal == SIGKILL) killed.insert(entry.pid);
  }
}

void Guardian::hold(int ward) {
  page_->wards()[ward].held.store(true);
  signal(ward, SIGSTOP);
}

void Guardian::go_on(int ward) {
  page_->wards()[ward].held.store(false);
  signal(ward, SIGCONT);
}

void Guardian::pause() {
  stop_taken_back = false;
  request_stop(*page_);
}

void Guardian::go_on() {
  page_->stop_requests.fetch_sub(1);
  constexpr int kAttempts = 100;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int i = 0; i < kAttempts && page_->stop_requests.load() == 0 && page_->pause.get().since > 0.0; ++i) {
    ::nanosleep(&kPause, nullptr);
  }
}

Rest Guardian::end_rest(int ward) {
  const FamilyTraits traits = traits_of(ward);
  if (is_alone(traits.leaders.front())) return Rest::none;
  const bool were_orphans = traits.heir != 0 && end_orphans();
  const std::vector<ProcessEntry> table = process_table();
  const std::vector<ProcessEntry> left = family_members(table, traits);
  Rest rest = were_orphans ? Rest::found : left.empty() ? Rest::none : Rest::dying;
  for (const ProcessEntry& entry : left) {
    ::kill(entry.pid, SIGKILL);
    if (killed_[static_cast<std::size_t>(ward)].insert(entry.pid).second) rest = Rest::found;
  }
  reap_orphans(table);
  return rest;
}

// Dead children that are neither watched nor anyone else's: outside this process's session, younger than the guardian.
void Guardian::reap_orphans(const std::vector<ProcessEntry>& table) const {
  if (orphans_ == Orphans::left) return;
  const int self = ::getpid();
  const int session = ::getsid(0);
  const std::vector<ProcessIdentity> leaders = traits_of_all().leaders;
  for (const ProcessEntry& entry : table) {
    const bool watched = std::any_of(
        leaders.begin(), leaders.end(), [&](const ProcessIdentity& leader) { return leader.pid == entry.pid; });
    if (entry.parent != self || entry.alive() || watched || entry.pid == identity_.pid) continue;
    if (entry.session != session && entry.start_ticks >= page_->since) ::waitpid(entry.pid, nullptr, WNOHANG);
  }
}

// A program may go on in ever new processes, faster than a look at all processes of the machine. Its orphans come to
// this process, whose own children are soon looked through: until none was there several times. Returns whether there
// was any.
bool Guardian::end_orphans() const {
  constexpr int kLooks = 200;
  constexpr int kNoneLeft = 3;
  constexpr timespec kBetweenLooks = {.tv_sec = 0, .tv_nsec = 1'000'000};
  if (orphans_ == Orphans::left) return false;
  const int session = ::getsid(0);
  bool found = false;
  for (int look = 0, none = 0; look < kLooks && none < kNoneLeft; ++look) {
    ++none;
    for (const int child : children_of(::getpid()).value_or(std::vector<int>())) {
      const std::optional<ProcessEntry> entry = process_entry(child);
      if (!entry || child == identity_.pid || is_watched(child) || entry->session == session ||
          entry->start_ticks < page_->since) {
        continue;
      }
      found = found || entry->alive();
      none = 0;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, WNOHANG);
    }
    ::nanosleep(&kBetweenLooks, nullptr);
  }
  return found;
}

double Guardian::lived(int ward) const { return ended_at(ward).value_or(now()) - page_->wards()[ward].started; }

std::optional<double> Guardian::ended_at(int ward) const {
  const double ended = page_->wards()[ward].ended();
  if (ended <= 0.0) return std::nullopt;
  return ended;
}

// After a standstill of all, the first to run may be this process: it is for the guardian to say what that was.
void Guardian::let_guardian_look() const {
  constexpr double kLong = 1.0;  // seconds since the time was last asked for
  constexpr double kLate = 0.5;  // seconds for which a guardian that runs never fails to look
  constexpr int kAttempts = 60;
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 5'000'000};
  const double asked_at = asked_at_.exchange(monotonic_seconds());
  if (monotonic_seconds() - asked_at < kLong) return;
  for (int i = 0; i < kAttempts && monotonic_seconds() - page_->looked_at.load() > kLate; ++i) {
    if (i == 0) ::kill(identity_.pid, SIGCONT);
    ::nanosleep(&kPause, nullptr);
  }
  asked_at_ = monotonic_seconds();
}

double Guardian::now() const {
  let_guardian_look();
  return training_time(page_->pause.get(), monotonic_seconds());
}

double Guardian::paused() const {
  let_guardian_look();
  const Pause pause = page_->pause.get();
  return pause.before + (pause.since > 0.0 ? monotonic_seconds() - pause.since : 0.0);
}

void Guardian::set_limits(const GuardianLimits& limits) {
  page_->limits.set({.from = now(),
                     .training_seconds = limits.training_seconds,
                     .most_training_seconds = limits.most_training_seconds,
                     .deadline = monotonic_seconds() + limits.seconds});
}

bool Guardian::limit_passed() const { return page_->limit_passed.load(); }

}  // namespace bapi

#pragma once

#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bapi/process/process_identity.h"
#include "bapi/process/process_table.h"

namespace bapi {

struct GuardianPage;

// How long what runs may go on without a word of its controller. Infinity is no limit.
struct GuardianLimits {
  double training_seconds;  // of all training programs together
  double seconds;
  double most_training_seconds = std::numeric_limits<double>::infinity();  // with grace periods: then SIGKILL, at once
};

// What is left of a program whose leader has ended.
enum class Rest {
  none,
  dying,  // was killed before; the kernel has not taken it down yet
  found,  // has run until now
};

// Keeps a controller's promises where the controller cannot: a small process, forked by the constructor, that watches
// the controller and its training programs.
//
// - When the controller is gone, however it died, it ends every process of every training program, also those that left
//   their session, group or parent, and notes how long each program trained.
// - While the controller is stopped (kill -STOP, Ctrl-Z) it keeps the programs stopped too. Such time is `paused`.
// - A time in which all stand still together (a job that is suspended, a container that is paused) is `paused` as well.
// - When a limit is passed and the controller is busy elsewhere, it ends the programs: SIGTERM, after `grace` SIGKILL.
// - It stamps the instant at which a program ends, whatever the controller does then. For a program that it kills, that
//   is the SIGKILL: the program executes nothing more after it, however long the machine takes to take it down.
//
// Instants are seconds of training time: those of the monotonic clock, in which a sleeping machine does not age, less
// `paused`.
class Guardian {
 public:
  // What becomes of processes that a program leaves behind, should they carry no mark of it any more.
  enum class Orphans {
    adopted,  // the process that has the guardian inherits them (PR_SET_CHILD_SUBREAPER); children of its own that lead
              // a session and are younger than the guardian are taken for such orphans
    left,     // this process may have children of its own that are nobody's business
  };

  // Watches up to `wards` programs at a time. Throws Shortage if the system has no process left.
  Guardian(int wards, double grace, Orphans orphans = Orphans::adopted);
  ~Guardian();  // ends what is still watched, then the guardian
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  // BAPI_CONTROLLER=..., different in every controller; must be in the environment of every program.
  const std::string& mark() const { return mark_; }
  const ProcessIdentity& identity() const { return identity_; }

  // From now on the program is watched. Its leader must not be reaped before `forget`. `file` is its process file,
  // in the directory that the program knows as BAPI_DIR.
  int watch(const ProcessIdentity& leader, const std::filesystem::path& file);
  int watch_marked(const ProcessIdentity& leader, const std::string& own_mark);  // without a file; NAME=value
  void forget(int ward);

  void signal(int ward, int signal);  // to every process of the program

  // Stops a program, and continues it: the guardian leaves one that is held as it is.
  void hold(int ward);
  void go_on(int ward);

  // Stops everything, as while the controller is stopped, and continues it.
  void pause();
  void go_on();

  void end_all();  // kills every process of every program; returns when they are gone

  // Kills what a program left whose leader has ended. To be called again until nothing is left.
  Rest end_rest(int ward);

  double lived(int ward) const;  // seconds that the program has trained, or had when it ended

  // When the leader ended, if the guardian saw it.
  std::optional<double> ended_at(int ward) const;

  double now() const;     // training time
  double paused() const;  // seconds since the start that were no training time

  void set_limits(const GuardianLimits& limits);
  bool limit_passed() const;  // and the programs were ended for it; for good

  // Forks another guardian if somebody has ended this one, and continues one that was stopped.
  void stay_guarded();

 private:
  void start();
  int watch(const ProcessIdentity& leader, const std::string& file, const std::string& own_mark);
  FamilyTraits traits_of(int ward) const;
  FamilyTraits traits_of_all() const;
  bool is_alone(const ProcessIdentity& leader) const;
  void reap_orphans(const std::vector<ProcessEntry>& table) const;
  bool end_orphans() const;
  bool is_watched(int pid) const;
  void let_guardian_look() const;

  const int owner_;  // process id
  std::string mark_;
  double grace_;
  Orphans orphans_;
  std::unique_ptr<GuardianPage, void (*)(GuardianPage*)> page_;  // shared with the guardian
  std::vector<std::string> own_marks_;                           // of the wards: NAME=value
  std::vector<std::set<int>> killed_;                            // processes of the wards that got SIGKILL from here
  ProcessIdentity identity_;
  mutable std::atomic<double> asked_at_;  // when the time was last asked for, of the monotonic clock
};

}  // namespace bapi

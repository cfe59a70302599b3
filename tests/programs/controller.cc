// A controller as the program `bapi run` is one, for tests that kill it:
//
//   controller STUDY_DIR SPEC_FILE [--kill-before N | --kill-after N]
//
// Creates or continues the study of SPEC_FILE (JSON) in STUDY_DIR and runs it to its end. With a flag it kills itself
// (SIGKILL) right before or after the Nth write to the log.
#include <signal.h>

#include <cstdio>
#include <exception>
#include <string>

#include "bapi/base/file.h"
#include "bapi/control/session.h"
#include "bapi/control/tune.h"
#include "bapi/policy/registry.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_lock.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

// Passes everything on, and dies at the appointed write.
class MortalStore : public Store {
 public:
  MortalStore(Store& store, long before, long after) : store_(store), before_(before), after_(after) {}

  const StudySpec& spec() const override { return store_.spec(); }
  using Store::read;
  EventLog read(EventSeq after, EventSeq most) const override { return store_.read(after, most); }

  bool append(EventSeq last, std::span<const Event> facts, double at, Durability durability) override {
    ++writes_;
    die_if(writes_ == before_);
    const bool done = store_.append(last, facts, at, durability);
    die_if(writes_ == after_);
    return done;
  }

  bool append_decision(EventSeq last, const Event& decision, double at) override {
    ++writes_;
    die_if(writes_ == before_);
    const bool done = store_.append_decision(last, decision, at);
    die_if(writes_ == after_);
    return done;
  }

 private:
  static void die_if(bool now) {
    if (now) ::raise(SIGKILL);
  }

  Store& store_;
  long before_;
  long after_;
  long writes_ = 0;
};

SqliteStore open_or_create(const StudyDir& dir, const std::string& spec_file) {
  dir.create();
  if (std::filesystem::exists(dir.database())) return SqliteStore::open(dir.database(), Access::read_write);
  return SqliteStore::create(dir.database(), decode_spec(read_whole_file(spec_file).value()));
}

void run(const std::string& study, const std::string& spec_file, long before, long after) {
  const StudyDir dir(study);
  dir.create();
  const StudyLock lock = StudyLock::take(dir.root());
  SqliteStore sqlite = open_or_create(dir, spec_file);
  sqlite.write_under(lock);
  MortalStore store(sqlite, before, after);
  const SystemClock clock;
  const std::unique_ptr<Policy> policy = make_policy(store.spec().policy);
  Session session(store, *policy, clock);
  ProcessEvaluator evaluator(store.spec(), dir, clock);
  session.record(evaluator.recover(session.history()));
  tune(session, evaluator, clock, {});
}

}  // namespace
}  // namespace bapi

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string flag = argc == 5 ? argv[3] : "";
  const long write = argc == 5 ? std::stol(argv[4]) : 0;
  try {
    bapi::run(argv[1], argv[2], flag == "--kill-before" ? write : 0, flag == "--kill-after" ? write : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "controller: %s\n", error.what());
    return 70;
  }
  return 0;
}

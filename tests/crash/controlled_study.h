#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "bapi/base/error.h"
#include "bapi/process/subprocess.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/study/codec.h"
#include "bapi/study/history.h"
#include "tests/process/trainer_study.h"

namespace bapi {

// A study in a directory of its own that is run by a controller process.
class ControlledStudy {
 public:
  explicit ControlledStudy(const StudySpec& spec) : dir_(scratch_.path() / "fake.bapi") {
    std::ofstream(spec_file()) << encode(spec);
  }

  const StudyDir& dir() const { return dir_; }

  // A controller that has begun.
  Subprocess launch(const std::vector<std::string>& flags = {}) const {
    Launch launch = {.arguments = {BAPI_CONTROLLER, dir_.root().string(), spec_file().string()},
                     .environment = {},
                     .output = scratch_.path() / "controller.log"};
    launch.arguments.insert(launch.arguments.end(), flags.begin(), flags.end());
    auto launched = Subprocess::launch(launch);
    check(std::holds_alternative<Subprocess>(launched), "the controller cannot be launched");
    Subprocess process = std::move(std::get<Subprocess>(launched));
    check(!process.begin(), "the controller cannot begin");
    return process;
  }

  static Exit wait_for_exit(Subprocess& process) {
    for (int i = 0; i < 60'000; ++i) {
      if (const std::optional<Exit> exit = process.poll_exit()) return *exit;
      ::usleep(1000);
    }
    throw LogicError("the controller does not end");
  }

  // Runs to the end, or to its appointed death. True if it reached the end.
  bool run(const std::vector<std::string>& flags = {}) const {
    Subprocess process = launch(flags);
    const Exit exit = wait_for_exit(process);
    check(exit.in_order() || exit.signal == SIGKILL, controller_log().c_str());
    return exit.in_order();
  }

  bool exists() const { return std::filesystem::exists(dir_.database()); }

  std::vector<StoredEvent> log() const { return SqliteStore::open(dir_.database(), Access::read_only).events(0); }

  History history() const {
    const SqliteStore store = SqliteStore::open(dir_.database(), Access::read_only);
    History history(store.spec());
    for (const StoredEvent& stored : store.events(0)) history.apply(stored.event);
    return history;
  }

  std::string controller_log() const { return text_of(scratch_.path() / "controller.log"); }

 private:
  std::filesystem::path spec_file() const { return scratch_.path() / "spec.json"; }

  TempDir scratch_;
  StudyDir dir_;
};

}  // namespace bapi

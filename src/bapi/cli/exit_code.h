#pragma once

namespace bapi {

// What the program says to the shell.
enum ExitCode : int {
  kDone = 0,
  kRunFailed = 1,         // the program cannot be run, too many trials failed, or none ever reported
  kWrongUse = 2,          // arguments, study file, study
  kStoreUnavailable = 3,  // gone, locked by another controller, disk full
  kBug = 70,
  kInterrupted = 130,
};

}  // namespace bapi

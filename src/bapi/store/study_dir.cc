#include "bapi/store/study_dir.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "bapi/base/file.h"

namespace bapi {

void TrialDir::create() const {
  make_directories(checkpoint());
  open_file(log(), O_WRONLY | O_CREAT | O_APPEND);
  open_file(report(), O_WRONLY | O_CREAT | O_APPEND);
}

TrialDir StudyDir::trial(TrialId trial) const { return {root_ / "trials" / fmt::format("{:04}", index(trial))}; }

void StudyDir::create() const { make_directories(root_ / "trials"); }

}  // namespace bapi

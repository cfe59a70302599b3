#include "bapi/studies/study_repair.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/store/sqlite_store.h"
#include "bapi/store/study_lock.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

namespace fs = std::filesystem;

// Its process is none of the copy's: what it reported is found in the report, what it cost is not charged twice.
void copy_trial(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove(TrialDir{to}.process());
}

// Returns how many trials the log of the copy does not know.
int copy_trials(const StudyDir& dir, const StudyDir& copy, std::int64_t known) {
  int unknown = 0;
  if (!fs::exists(dir.root() / "trials")) return 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir.root() / "trials")) {
    const std::string name = entry.path().filename().string();
    const std::optional<std::int64_t> number = number_in<std::int64_t>(name);
    if (!number) continue;
    if (*number >= known) ++unknown;
    copy_trial(entry.path(), (*number < known ? copy.root() : copy.root() / "set-aside") / "trials" / name);
  }
  return unknown;
}

}  // namespace

RepairSummary repair_study(const StudyDir& dir, const StudyDir& copy) {
  const std::string from = shown_path(dir.root());
  require(!fs::exists(copy.root()), fmt::format("{}: it exists already; name a new directory", copy.root().string()));
  if (StudyLock::holder(dir.root())) throw StoreError(fmt::format("{}: it is running; end it first", from));
  const StudyView study = open_study(dir.root().string());
  require(study.damage.has_value(), fmt::format("{}: its log is intact; there is nothing to repair", from));
  try {
    copy.create();
    RepairSummary summary{.kept = study.damage->seq - 1};
    summary.set_aside = SqliteStore::copy_until(dir.database(), copy.database(), summary.kept);
    summary.trials_set_aside = copy_trials(dir, copy, std::ssize(study.history.trials()));
    return summary;
  } catch (const fs::filesystem_error& error) {
    throw StoreError(fmt::format("{}: cannot be copied: {}", from, error.what()));
  }
}

}  // namespace bapi

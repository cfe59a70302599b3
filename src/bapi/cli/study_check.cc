#include "bapi/cli/study_check.h"

#include <fmt/format.h>

#include <filesystem>

#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/studies/study_repair.h"
#include "bapi/studies/study_view.h"

namespace bapi {

namespace {

std::string repaired(const RepairSummary& repair, const std::string& copy) {
  std::string out = check_line("repaired", fmt::format("{}/ ends with event {}", copy, repair.kept));
  out +=
      check_line("set aside", fmt::format("{} events, in the table set_aside of {}/study.db", repair.set_aside, copy));
  if (repair.trials_set_aside > 0) {
    out += check_line("", fmt::format("the files of {} trials, in {}/set-aside/", repair.trials_set_aside, copy));
  }
  return out + check_line("continue", "bapi resume " + copy);
}

}  // namespace

bool names_study(const std::string& text) {
  std::error_code ignored;
  if (text.empty() || std::filesystem::is_regular_file(text, ignored)) return false;
  return std::filesystem::is_directory(text, ignored) || is_study(StudyDir(text + ".bapi"));
}

int check_study(const std::string& text, const std::optional<std::string>& copy) {
  const StudyView study = open_study(text);
  const std::string shown = study.shown();
  print(check_line("study", fmt::format("{} in {}/", study.spec().name, shown)));
  print(check_line("log", fmt::format("{} events can be read", study.events.size())));
  if (study.damage) print(check_line("damage", study.damage->text()));
  if (copy) {
    print(repaired(repair_study(study.dir, StudyDir(*copy)), *copy));
    return kDone;
  }
  if (!study.damage) return kDone;
  print(check_line("repair", fmt::format("bapi doctor {} --repair COPY writes a copy that ends before it", shown)));
  return kStoreUnavailable;
}

}  // namespace bapi

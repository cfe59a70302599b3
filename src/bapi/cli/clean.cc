#include "bapi/studies/clean.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/store/study_lock.h"

namespace bapi {

namespace {

constexpr int kKeptByDefault = 3;

struct CleanArguments {
  ListingArguments listing;
  std::optional<int> keep = {};
  bool without_final = false;
  bool dry_run = false;
};

KeptCheckpoints to_keep(const CleanArguments& arguments, const StudySpec& spec) {
  KeptCheckpoints keep = spec.checkpoints;
  if (keep.best == 0) keep.best = kKeptByDefault;
  if (arguments.keep) keep.best = *arguments.keep;
  require(keep.best >= 1, fmt::format("--keep {}: expected at least 1, the best trial", keep.best));
  if (arguments.without_final) keep.final = false;
  return keep;
}

std::string summary_text(const std::vector<Rubbish>& rubbish, const KeptCheckpoints& keep, bool dry_run) {
  std::int64_t bytes = 0;
  for (const Rubbish& item : rubbish) bytes += item.bytes;
  const std::string kept =
      keep.best == 1 ? "the best trial is kept" : fmt::format("the best {} trials are kept", keep.best);
  if (rubbish.empty()) return fmt::format("nothing to remove; {}\n", kept);
  return fmt::format("{} {} in {} director{}; {}\n",
                     dry_run ? "would free" : "freed",
                     short_bytes(bytes),
                     rubbish.size(),
                     rubbish.size() == 1 ? "y" : "ies",
                     kept);
}

int clean(const CleanArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  const StudyDir dir = locate_study(arguments.listing.study);
  // Nobody may start the study meanwhile; a look needs no lock.
  std::optional<StudyLock> lock;
  if (!arguments.dry_run) lock = StudyLock::take(dir.root());
  const StudyView study = study_to_show(dir.root().string());
  require(!study.damage, "a study whose log is damaged is not cleaned; repair it first");
  const KeptCheckpoints keep = to_keep(arguments, study.spec());
  const std::vector<Rubbish> rubbish = rubbish_of(study.dir, study.history, keep);
  std::vector<std::string> troubles;
  if (!arguments.dry_run) troubles = remove_rubbish(study.dir, rubbish);
  if (format != Format::table) {
    print(render(rubbish_table(rubbish), format));
  } else {
    if (!rubbish.empty()) print(render(rubbish_table(rubbish), format));
    print(summary_text(rubbish, keep, arguments.dry_run));
  }
  for (const std::string& trouble : troubles) note(trouble);
  return troubles.empty() ? kDone : kStoreUnavailable;
}

}  // namespace

Command clean_command() {
  return {.name = "clean",
          .summary = "Remove the checkpoints of trials that are not among the best",
          .examples =
              "Examples:\n"
              "  bapi clean mlp --dry-run\n"
              "  bapi clean mlp --keep 1 --no-final\n\n"
              "Removes the checkpoints of trials that are not among the best, if the trial or its study has ended. "
              "If you raise\nthe budget later and such a trial continues, it is trained again from epoch 1. The log, "
              "reports and curves are\nnever touched.\n\n"
              "JSON: [{trial, kind, path, bytes}]. kind is checkpoint (the trial's own files), snapshot (the model of "
              "its best\nepoch) or leftover (a copy that was never completed).",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<CleanArguments>();
            parsed->listing.declare(arguments);
            arguments.option(
                "--keep", parsed->keep, "Number of best trials to keep (default: the study file's, else 3)");
            arguments.flag("--no-final",
                           parsed->without_final,
                           "Of these, keep the model of the best epoch only, not the last checkpoint");
            arguments.flag("-n,--dry-run", parsed->dry_run, "Only list what would be removed");
            return [parsed] { return clean(*parsed); };
          }};
}

}  // namespace bapi

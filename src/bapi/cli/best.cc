#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/report/range_text.h"
#include "bapi/report/summary.h"
#include "bapi/studies/best_model.h"

namespace bapi {

namespace {

struct BestArguments {
  ListingArguments listing;
  std::optional<std::string> copy = {};
};

Fields without_nulls(const Fields& fields) {
  Fields kept;
  for (const auto& [name, value] : fields) {
    if (!value.is_null()) kept.emplace_back(name, value);
  }
  return kept;
}

int show_best(const BestArguments& arguments) {
  const Format format = arguments.listing.parsed_format();
  const StudyView study = study_to_show(arguments.listing.study);
  if (arguments.copy) {
    copy_best_model(study, *arguments.copy);
    note(fmt::format("copied to {}/: model/, config.json, card.json, card.md", shown_path(*arguments.copy)));
  }
  const Cell found = best_cell(study.history, best_model(study.dir, study.history));
  if (found.is_object()) {
    const Fields& fields = found.get_ref<const Fields&>();
    print(render(format == Format::table ? without_nulls(fields) : fields, format));
    const Best top = best(study.history).value();
    for (const std::string& sentence : at_the_ends(study.spec().space, top.config)) note(sentence);
    return kDone;
  }
  if (format == Format::json) print("null\n");
  note(fmt::format(
      "no trial of {} has reported yet; bapi status {} shows how far the study is", study.spec().name, study.shown()));
  return kDone;
}

}  // namespace

Command best_command() {
  return {
      .name = "best",
      .summary = "Show the best configuration, its value and model; copy the model",
      .examples =
          "Examples:\n"
          "  bapi best mlp\n"
          "  bapi best mlp --copy model\n"
          "  bapi best mlp -f json | jq -r .checkpoint\n\n"
          "JSON: {trial, epoch, value, config, checkpoint, checkpoint_epoch, checkpoint_note}, and {standard_error,\n"
          "trainings, trial_value} of a study that trains its finalists again (repeat): value is then their mean, and\n"
          "trial the best of these trainings. epoch is where the "
          "value was\nreached; checkpoint is the directory with the model, checkpoint_epoch the epoch it is from. If "
          "that is not the best\none, or not known (null), checkpoint_note says why. checkpoint is null if the "
          "program saved nothing. Before the\nfirst report the result is null (a note on standard error says so) "
          "and the exit code 0.",
      .declare = [](Arguments& arguments) -> std::function<int()> {
        const auto parsed = std::make_shared<BestArguments>();
        parsed->listing.declare(arguments);
        arguments.option("--copy", parsed->copy, "New directory for the model, config.json and a card");
        return [parsed] { return show_best(*parsed); };
      }};
}

}  // namespace bapi

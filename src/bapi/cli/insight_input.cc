#include "bapi/cli/insight_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/number.h"
#include "bapi/cli/plot_files.h"
#include "bapi/study/spec_file.h"

namespace bapi {

Insight insight_of(const StudyView& study) {
  const std::vector<std::string> presets = bapi_presets();
  const PolicySpec& policy = study.spec().policy;
  const bool planner = std::find(presets.begin(), presets.end(), policy.name) != presets.end();
  return Insight(study.history, bapi_options(planner ? policy : PolicySpec{.name = "bapi"}));
}

Cost parse_total(const std::string& text, const StudyView& study) {
  const bool more = text.starts_with("+");
  const BudgetSpec& own = study.spec().budget;
  BudgetSpec given = parse_budget(more ? text.substr(1) : text, "--budget");
  const bool time_for_money = given.unit == "s" && own.meter == Meter::seconds;
  require(given.unit == own.unit || time_for_money,
          fmt::format("--budget {}: the study's budget is in {}", text, own.unit));
  const Cost cost = given.unit == own.unit ? given.limit : own.of_seconds(given.limit);
  return more ? study.history.budget().total() + cost : cost;
}

StudyAndTrial study_and_trial(std::vector<std::string> words) {
  StudyAndTrial result;
  for (const std::string& word : words) {
    const bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (number && !result.trial) {
      const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      result.trial = static_cast<std::int64_t>(parse_whole_number(word, 0, largest, "the number of a trial"));
    } else {
      require(result.study.empty(), fmt::format("{}: expected one study and at most one trial number", word));
      result.study = word;
    }
  }
  return result;
}

const Trial& trial_of(const StudyView& study, std::int64_t number) {
  require(
      number >= 0 && number < std::ssize(study.history.trials()),
      fmt::format(
          "there is no trial {}; the study has {} (bapi trials lists them)", number, study.history.trials().size()));
  return study.history.trial(TrialId{number});
}

std::string write_picture(const StudyView& study,
                          const std::string& out,
                          const std::string& name,
                          const std::string& svg) {
  const std::filesystem::path folder = out.empty() ? plot_folder(study.dir) : std::filesystem::path(out);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw StoreError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  replace_file(folder / name, svg);
  return shown_path(folder / name);
}

}  // namespace bapi

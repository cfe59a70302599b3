#include "bapi/studies/earlier_studies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bapi/base/error.h"
#include "bapi/studies/study_view.h"
#include "bapi/studies/table_input.h"
#include "bapi/tables/warm_start.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;

// A study may be given without its ending; what is no path at all is for load_table to understand.
std::string place_of(const std::string& study) {
  std::error_code ignored;
  if (fs::exists(study, ignored)) return study;
  return is_study(StudyDir(study + ".bapi")) ? study + ".bapi" : study;
}

void refuse_itself(const std::string& place, const std::optional<fs::path>& own) {
  std::error_code ignored;
  require(!own || !fs::equivalent(place, *own, ignored),
          fmt::format("{} is this study itself; to continue it, leave `from` out", shown_path(place)));
}

// A directory without a study would be searched for as a name.
void require_study(const std::string& place) {
  std::error_code ignored;
  require(fs::exists(place, ignored),
          fmt::format("there is no study {}; expected the directory of an earlier study, such as old.bapi",
                      shown_path(place)));
  require(!fs::is_directory(place, ignored) || is_study(StudyDir(place)),
          fmt::format("{} is not a study: it has no study.db", shown_path(place)));
}

void require_same_metric(const Metric& earlier, const StudySpec& spec, const WarmStart& source) {
  const std::string name = fs::path(source.study).filename().string();
  if (!source.metric.empty()) {
    require(source.metric == earlier.name,
            fmt::format("metric: found {}, but the metric of {} is {}", source.metric, name, earlier.name));
    return;
  }
  require(earlier.name == spec.metric.name && earlier.goal == spec.metric.goal,
          fmt::format("its metric is {}, to {}; that of this study is {}, to {}. If a configuration that is good there "
                      "is good here, say so: from: [{{study: {}, metric: {}}}]",
                      earlier.name,
                      word(earlier.goal),
                      spec.metric.name,
                      word(spec.metric.goal),
                      name,
                      earlier.name));
}

EarlierStudy read_earlier(const StudySpec& spec, const WarmStart& source, const std::optional<fs::path>& own) {
  const std::string place = place_of(source.study);
  refuse_itself(place, own);
  require_study(place);
  const CurveTable table = load_table(place);
  require_same_metric(table.metric, spec, source);
  EarlierStudy earlier = earlier_study(table, spec);
  earlier.place = place;
  return earlier;
}

}  // namespace

StudySpec with_earlier_studies(StudySpec spec, const std::optional<fs::path>& own, const Tell& tell) {
  spec.earlier.clear();
  for (WarmStart& source : spec.from) {
    source.study = fs::absolute(source.study).lexically_normal().string();
    try {
      spec.earlier.push_back(read_earlier(spec, source, own));
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("from: {}: {}", shown_path(source.study), error.what()));
    } catch (const StoreError& error) {
      throw StoreError(fmt::format("from: {}: {}", shown_path(source.study), error.what()));
    }
    if (tell) tell("warm start from " + earlier_text(spec.earlier.back()));
  }
  return spec;
}

std::string earlier_text(const EarlierStudy& earlier) {
  std::string text = fmt::format(
      "{}: {} {}", shown_path(earlier.place), earlier.trials.size(), earlier.trials.size() == 1 ? "trial" : "trials");
  if (earlier.left_out > 0) text += fmt::format("; {} outside the ranges of this study left out", earlier.left_out);
  if (!earlier.missing.empty()) text += fmt::format("; nothing is known of {}", fmt::join(earlier.missing, ", "));
  return text;
}

}  // namespace bapi

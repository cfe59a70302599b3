#include "bapi/studies/forecast.h"

#include <fmt/format.h>

#include <memory>

#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/cli/plot_files.h"
#include "bapi/cli/study_and_trial.h"

namespace bapi {
namespace {

struct ForecastArguments {
  std::vector<std::string> words;
  std::string format = "table";
  std::string out;
};

int show_forecast(const ForecastArguments& arguments) {
  const Format format = parse_format(arguments.format);
  const StudyAndTrial target = study_and_trial(arguments.words);
  const StudyView study = study_to_show(target.study);
  const std::vector<CurveForecast> forecasts = forecast(study, target.trial);
  print(render(target.trial ? course_table(study, forecasts.front()) : forecast_table(study, forecasts), format));
  const std::string name = target.trial ? fmt::format("forecast-{}.svg", *target.trial) : "forecast.svg";
  note("picture: " + write_picture(study, arguments.out, name, plot_forecasts(study, forecasts)));
  return kDone;
}

}  // namespace

Command forecast_command() {
  return {.name = "forecast",
          .summary = "Predict how each trial's learning curve will continue",
          .examples =
              "Examples:\n"
              "  bapi forecast mlp           every trial that can still grow, the most promising first\n"
              "  bapi forecast mlp 7         one trial, epoch by epoch\n\n"
              "low and high are the ends of the 80 % band; stop is the epoch where the curve will have flattened out.\n"
              "Writes forecast.svg.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<ForecastArguments>();
            arguments.optional_positionals("[STUDY] [TRIAL]", parsed->words, kStudyHelp);
            arguments.option("-f,--format", parsed->format, "table, json or csv");
            arguments.option("-o,--out", parsed->out, "Directory for the picture; default: plots/ of the study");
            return [parsed] { return show_forecast(*parsed); };
          }};
}

}  // namespace bapi

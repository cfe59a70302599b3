#include "bapi/policy/rivals/random_search.h"

#include "bapi/policy/fresh.h"
#include "bapi/policy/options.h"

namespace bapi {

PolicyInfo RandomSearch::info() {
  return {.name = "random", .summary = "trains random configurations to the last epoch", .options = {}};
}

RandomSearch::RandomSearch(const PolicySpec& spec) { const OptionReader check_names(spec, {}); }

Decision RandomSearch::ask(const History& history, Rng&) {
  // A run that the budget cut short goes on when the budget is raised, before anything new.
  for (const Trial& trial : history.trials()) {
    if (!trial.resumable()) continue;
    return Resume{.trial = trial.id, .until = history.spec().epochs.max, .why = {.rule = Rule::finish_begun}};
  }
  std::optional<Config> config = fresh_config(history);
  if (config) return Start{.config = *config, .until = history.spec().epochs.max, .why = {.rule = Rule::uniform_draw}};
  if (history.open_segments() > 0) return Wait{};
  return Finish{kPoolExhausted};
}

}  // namespace bapi

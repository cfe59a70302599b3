#include "bapi/policy/binoculars.h"

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/tree_search.h"
#include "bapi/math/quasi_random.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/full_runs.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/tree_choice.h"

namespace bapi {
namespace {

// Batches to look at for a point that was not tried yet.
constexpr std::size_t kBatches = 5;

Vector log_improvements(const ConfigurationModel& model, const Matrix& points) {
  const Moments at = model.gp.predict(Rows::at_configurations(points.transpose()));
  Vector logs(points.cols());
  for (Eigen::Index i = 0; i < logs.size(); ++i) {
    logs[i] = log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), model.best);
  }
  return logs;
}

const OptionTable<BinocularsOptions>& table() {
  static const auto all =
      OptionTable<BinocularsOptions>()
          .integer(
              "q", [](BinocularsOptions & o) -> auto& { return o.batch; }, 1, 16, "runs of a batch, 1 being ei")
          .word<BinocularsPick>(
              "pick",
              [](BinocularsOptions & o) -> auto& { return o.pick; },
              {{"sample", BinocularsPick::sample}, {"best", BinocularsPick::best}},
              "sample (in proportion to expected improvement) or best")
          .integer(
              "draws",
              [](BinocularsOptions & o) -> auto& { return o.draws; },
              16,
              100000,
              "draws that the joint improvement is averaged over")
          .integer(
              "starts",
              [](BinocularsOptions & o) -> auto& { return o.starts; },
              1,
              100,
              "ascents of the search over batches")
          .integer_or(
              "initial_runs",
              [](BinocularsOptions & o) -> auto& { return o.design.runs; },
              "auto",
              1,
              1000,
              "runs before the first model, auto: parameters + 1");
  return all;
}

}  // namespace

PolicyInfo Binoculars::info() {
  return {.name = "binoculars",
          .summary = "one full training out of the batch with the largest joint expected improvement",
          .options = table().describe({})};
}

Binoculars::Binoculars(const PolicySpec& spec) : options_(table().read(spec, {})) {}

int draw_in_proportion(const Vector& logs, Rng& rng) {
  const double largest = logs.maxCoeff();
  Vector weights = Vector::Ones(logs.size());
  if (std::isfinite(largest)) weights = (logs.array() - largest).exp();
  double rest = rng.uniform() * weights.sum();
  int i = 0;
  while (i + 1 < logs.size() && rest >= weights[i]) rest -= weights[i++];
  return i;
}

Decision Binoculars::ask(const History& history, Rng& rng) {
  if (const std::optional<Decision> first = before_model(history, options_.design)) return *first;
  const Evidence evidence(history);
  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(evidence, model_stream);
  if (options_.batch == 1) return largest_improvement(evidence, model, options_.design, rng);

  Rng draw_stream = rng.fork("draws");
  const Matrix normals = normal_base_samples(options_.draws, options_.batch - 1, draw_stream).transpose();
  const FantasyTree batch = FantasyTree::path(options_.batch);
  const SearchObjective objective = joint_objective(model.gp, batch, model.best, normals);
  Rng search_stream = rng.fork("batches");
  std::vector<ScoredPoint> found =
      search_among(objective, tree_starts(model, batch, search_stream), {}, tree_ascents(options_.starts));
  found.resize(std::min(found.size(), kBatches));

  const NearestUntried untried(history);
  Rng pick_stream = rng.fork("pick");
  for (const ScoredPoint& each : found) {
    const Matrix points = each.x.reshaped(each.x.size() / options_.batch, options_.batch);
    const Vector logs = log_improvements(model, points);
    Eigen::Index picked = 0;
    logs.maxCoeff(&picked);
    if (options_.pick == BinocularsPick::sample) picked = draw_in_proportion(logs, pick_stream);
    const std::optional<Candidate> chosen = untried.nearest(points.col(picked));
    if (!chosen) continue;
    return train(*chosen,
                 history.spec().epochs.max,
                 0.0,
                 {.rule = options_.pick == BinocularsPick::sample ? Rule::drawn_from_batch : Rule::best_of_batch,
                  .forecast = forecast_full_run(history, model, chosen->x),
                  .score = score_in_metric(model.scale, model.best, logs[picked]),
                  .notes = {{.kind = NoteKind::log_batch_score, .value = each.score},
                            {.kind = NoteKind::batch_size, .value = static_cast<double>(options_.batch)}}});
  }
  return options_.design.next(history);
}

}  // namespace bapi

#include "bapi/policy/rivals/binoculars.h"

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/tree_search.h"
#include "bapi/math/quasi_random.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/option_table.h"
#include "bapi/policy/rivals/full_runs.h"
#include "bapi/policy/rivals/tree_choice.h"
#include "bapi/policy/shared_options.h"

namespace bapi {
namespace {

// Batches to look at for a point that was not tried yet.
constexpr std::size_t kBatches = 5;

// Of each point, times its probability of success.
Vector log_improvements(const Evidence& evidence, const ConfigurationModel& model, const Matrix& points) {
  const Moments at = model.gp.predict(Rows::at_configurations(points.transpose()));
  Vector logs = evidence.failures().log_factors(points);
  for (Eigen::Index i = 0; i < logs.size(); ++i) {
    logs[i] += log_expected_improvement(at.mean[i], std::sqrt(at.variance[i]), model.best);
  }
  return logs;
}

// The log probability that all points of a batch, one column each, are trained without failing.
BatchObjective all_succeed(const Evidence& evidence, Eigen::Index d, int batch) {
  if (!evidence.failures().any()) return {};
  return [&failures = evidence.failures(), d, batch](const Matrix& batches, Vector& logs, Matrix& gradients) {
    for (Eigen::Index i = 0; i < batches.cols(); ++i) {
      Vector each;
      Matrix slopes;
      failures.log_factors(batches.col(i).reshaped(d, batch), each, slopes);
      logs[i] = each.sum();
      gradients.col(i) = slopes.reshaped();
    }
  };
}

const OptionTable<BinocularsOptions>& binoculars_table() {
  static const auto all =
      OptionTable<BinocularsOptions>()
          .integer(
              "q", [](BinocularsOptions & o) -> auto& { return o.batch; }, 1, 16, "trials in a batch; 1 is ei")
          .word<BinocularsPick>(
              "pick",
              [](BinocularsOptions & o) -> auto& { return o.pick; },
              {{"sample", BinocularsPick::sample}, {"best", BinocularsPick::best}},
              "which trial of the batch: sample (by expected improvement) or best")
          .integer(
              "draws",
              [](BinocularsOptions & o) -> auto& { return o.draws; },
              16,
              100000,
              "draws over which the joint improvement is averaged")
          .integer(
              "starts",
              [](BinocularsOptions & o) -> auto& { return o.starts; },
              1,
              100,
              "starting points of the search over batches")
          .part(
              initial_runs_option(), [](BinocularsOptions & o) -> auto& { return o.design; });
  return all;
}

}  // namespace

PolicyInfo Binoculars::info() {
  return {.name = "binoculars",
          .summary = "trains one trial of the batch with the largest joint improvement",
          .options = binoculars_table().describe({})};
}

Binoculars::Binoculars(const PolicySpec& spec) : options_(binoculars_table().read(spec, {})) {}

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
  const Eigen::Index d = history.spec().space.encoded_dim();
  const SearchObjective objective = times(joint_objective(model.gp, batch, model.best, normals),
                                          all_succeed(evidence, d, options_.batch),
                                          d * options_.batch);
  Rng search_stream = rng.fork("batches");
  std::vector<ScoredPoint> found =
      search_among(objective, tree_starts(model, batch, search_stream), {}, tree_ascents(options_.starts));
  found.resize(std::min(found.size(), kBatches));

  const NearestUntried untried(history);
  Rng pick_stream = rng.fork("pick");
  for (const ScoredPoint& each : found) {
    const Matrix points = each.x.reshaped(each.x.size() / options_.batch, options_.batch);
    const Vector logs = log_improvements(evidence, model, points);
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

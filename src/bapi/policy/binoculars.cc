#include "bapi/policy/binoculars.h"

#include <cmath>

#include "bapi/acquisition/improvement.h"
#include "bapi/acquisition/tree_search.h"
#include "bapi/math/quasi_random.h"
#include "bapi/policy/forecasts.h"
#include "bapi/policy/full_runs.h"
#include "bapi/policy/options.h"
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

}  // namespace

PolicyInfo Binoculars::info() {
  return {.name = "binoculars",
          .summary = "one full run out of the batch with the largest joint expected improvement",
          .options = {{"q", "4", "runs of a batch; 1 (ei) to 16"},
                      {"pick", "sample", "sample (in proportion to expected improvement) or best"},
                      {"draws", "512", "draws that the joint improvement is averaged over; 16 to 100000"},
                      {"starts", "20", "ascents of the search over batches; 1 to 100"},
                      {"initial_runs", "auto", "runs before the first model; auto (parameters + 1) or 1 to 1000"}}};
}

Binoculars::Binoculars(const PolicySpec& spec) {
  const OptionReader options(spec, info());
  batch_ = options.integer("q", batch_, 1, 16);
  pick_ = options.word("pick", "sample", {"sample", "best"}) == "best" ? Pick::best : Pick::sample;
  draws_ = options.integer("draws", draws_, 16, 100000);
  starts_ = options.integer("starts", starts_, 1, 100);
  design_.runs = options.integer_or("initial_runs", "auto", 1, 1000).value_or(0);
}

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
  if (const std::optional<Decision> first = before_model(history, design_)) return *first;
  Rng model_stream = rng.fork("model");
  const ConfigurationModel model = fit_configurations(history, model_stream);
  if (batch_ == 1) return largest_improvement(history, model, design_, rng);

  Rng draw_stream = rng.fork("draws");
  const Matrix normals = normal_base_samples(draws_, batch_ - 1, draw_stream).transpose();
  const FantasyTree batch = FantasyTree::path(batch_);
  const SearchObjective objective = joint_objective(model.gp, batch, model.best, normals);
  Rng search_stream = rng.fork("batches");
  std::vector<ScoredPoint> found =
      search_among(objective, tree_starts(model, batch, search_stream), {}, tree_ascents(starts_));
  found.resize(std::min(found.size(), kBatches));

  const NewConfigurations new_configurations(history);
  Rng pick_stream = rng.fork("pick");
  for (const ScoredPoint& each : found) {
    const Matrix points = each.x.reshaped(each.x.size() / batch_, batch_);
    const Vector logs = log_improvements(model, points);
    Eigen::Index picked = 0;
    logs.maxCoeff(&picked);
    if (pick_ == Pick::sample) picked = draw_in_proportion(logs, pick_stream);
    const std::optional<Candidate> chosen = new_configurations.nearest(points.col(picked));
    if (!chosen) continue;
    return train(*chosen,
                 history.spec().epochs.max,
                 0.0,
                 {.rule = pick_ == Pick::sample ? Rule::drawn_from_batch : Rule::best_of_batch,
                  .forecast = forecast_full_run(history, model, chosen->x),
                  .score = score_in_metric(model.scale, model.best, logs[picked]),
                  .notes = {{.kind = NoteKind::log_batch_score, .value = each.score},
                            {.kind = NoteKind::batch_size, .value = static_cast<double>(batch_)}}});
  }
  return design_.next(history);
}

}  // namespace bapi

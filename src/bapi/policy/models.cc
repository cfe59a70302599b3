#include "bapi/policy/models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "bapi/base/error.h"
#include "bapi/planner/curve_points.h"

namespace bapi {
namespace {

// One trial's curve on its way into the model.
struct Source {
  int trial = 0;
  Vector x;
  CurveResponse response;
  std::vector<std::size_t> kept;  // indices into the response

  double last_value() const { return response.values[response.values.size() - 1]; }
};

CurveResponse response_of(const Trial& trial, const ModelOptions& options, Epoch max_epoch) {
  std::vector<Epoch> epochs;
  Vector scores(trial.curve.last_epoch());
  for (const Measurement& m : trial.curve.points()) {
    scores[m.epoch - 1] = m.value;
    epochs.push_back(m.epoch);
  }
  const CurveEnd end = trial.state == TrialState::completed ? CurveEnd::ended : CurveEnd::open;
  CurveResponse response = curve_response(epochs, scores, options.response, end, max_epoch);
  if (trial.state != TrialState::failed) return response;
  if (!response.epochs.empty() && response.epochs.back() == max_epoch) return response;
  response.epochs.push_back(max_epoch);
  response.values.conservativeResize(response.values.size() + 1);
  response.values[response.values.size() - 1] = -std::numeric_limits<double>::infinity();
  return response;
}

std::vector<Source> sources_of(const History& history, const ModelOptions& options) {
  std::vector<Source> sources;
  for (const Trial& trial : history.trials()) {
    if (trial.curve.empty() && trial.state != TrialState::failed) continue;
    sources.push_back({.trial = static_cast<int>(index(trial.id)),
                       .x = history.spec().space.encode(trial.config),
                       .response = response_of(trial, options, history.spec().epochs.max),
                       .kept = {}});
  }
  return sources;
}

// The last point, and going back every point whose epoch is at most half of the one kept before.
std::vector<std::size_t> halved_points(const std::vector<Epoch>& epochs) {
  std::vector<std::size_t> kept = {epochs.size() - 1};
  for (std::size_t i = epochs.size() - 1; i-- > 0;) {
    if (2 * epochs[i] <= epochs[kept.back()]) kept.push_back(i);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

Eigen::Index rows_of(const std::vector<Source>& sources) {
  Eigen::Index rows = 0;
  for (const Source& source : sources) rows += std::ssize(source.kept);
  return rows;
}

// The worst trials give up their early points first, then their place.
void thin(std::vector<Source>& sources, int max_rows) {
  Eigen::Index rows = rows_of(sources);
  if (rows <= max_rows) return;
  std::vector<std::size_t> worst_first(sources.size());
  std::iota(worst_first.begin(), worst_first.end(), 0);
  std::stable_sort(worst_first.begin(), worst_first.end(), [&](std::size_t a, std::size_t b) {
    return sources[a].last_value() < sources[b].last_value();
  });
  for (const std::size_t i : worst_first) {
    if (rows <= max_rows) return;
    rows -= std::ssize(sources[i].kept) - 1;
    sources[i].kept = {sources[i].kept.back()};
  }
  std::vector<bool> dropped(sources.size(), false);
  for (const std::size_t i : worst_first) {
    if (rows <= max_rows) break;
    dropped[i] = true;
    --rows;
  }
  std::size_t i = 0;
  std::erase_if(sources, [&](const Source&) { return dropped[i++]; });
}

struct CurveRows {
  Rows rows;
  Vector values;  // not yet clipped
};

CurveRows kept_rows(const std::vector<Source>& sources, Epoch max_epoch) {
  const Eigen::Index n = rows_of(sources);
  Matrix x(n, sources.front().x.size());
  Vector values(n);
  std::vector<Epoch> epochs;
  std::vector<int> groups;
  Eigen::Index row = 0;
  for (const Source& source : sources) {
    for (const std::size_t i : source.kept) {
      x.row(row) = source.x.transpose();
      values[row++] = source.response.values[static_cast<Eigen::Index>(i)];
      epochs.push_back(source.response.epochs[i]);
      groups.push_back(source.trial);
    }
  }
  return {Rows::at_epochs(std::move(x), std::move(epochs), max_epoch, std::move(groups)), std::move(values)};
}

GpParameters structure(TimeKind time, const ModelOptions& options, Eigen::Index dim) {
  GpParameters parameters;
  parameters.kernel.space = {.kind = SpaceKind::matern52, .lengthscales = Vector::Constant(dim, 0.7)};
  parameters.kernel.time.kind = time;
  parameters.kernel.own_amplitude = options.own_term ? 0.1 : 0.0;
  return parameters;
}

// Whole trials, evenly taken, up to `max_rows` rows: a curve that is cut would say the wrong thing about time.
std::vector<Eigen::Index> fit_subset(const Rows& rows, int max_rows) {
  std::vector<Eigen::Index> all(static_cast<std::size_t>(rows.size()));
  std::iota(all.begin(), all.end(), 0);
  if (rows.size() <= max_rows) return all;
  std::vector<Eigen::Index> first;  // of each trial
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows.group[static_cast<std::size_t>(i)] != rows.group[static_cast<std::size_t>(i) - 1]) {
      first.push_back(i);
    }
  }
  const double share = static_cast<double>(max_rows) / static_cast<double>(rows.size());
  std::vector<Eigen::Index> subset;
  double due = 0.5;
  for (std::size_t trial = 0; trial < first.size(); ++trial) {
    due += share;
    if (due < 1.0) continue;
    due -= 1.0;
    const Eigen::Index end = trial + 1 < first.size() ? first[trial + 1] : rows.size();
    for (Eigen::Index i = first[trial]; i < end; ++i) subset.push_back(i);
  }
  return subset.empty() ? all : subset;
}

struct FittedKernel {
  GpParameters parameters;
  FitSummary summary;
};

FittedKernel fit_kernel(const Rows& rows,
                        const Vector& y,
                        TimeKind time,
                        const ModelOptions& options,
                        const FitOptions& fit_options,
                        const Rng& rng) {
  Rng stream = rng.fork("curves", static_cast<std::uint64_t>(time));
  const FitResult result = fit(rows, y, structure(time, options, rows.dim()), fit_options, stream);
  return {result.gp.parameters(), result.summary};
}

struct FittedRows {
  Rows rows;
  Vector y;
};

FittedRows rows_to_fit(const CurveRows& data, const Vector& y, const ModelOptions& options) {
  const std::vector<Eigen::Index> subset = fit_subset(data.rows, options.fit_rows);
  return {data.rows.select(subset), y(subset)};
}

FittedKernel best_kernel(const CurveRows& data,
                         const Vector& y,
                         const ModelOptions& options,
                         const FitOptions& fit_options,
                         const Rng& rng) {
  const auto fit_with = [&, part = rows_to_fit(data, y, options)](TimeKind time) {
    return fit_kernel(part.rows, part.y, time, options, fit_options, rng);
  };
  if (options.time == TimeChoice::rbf) return fit_with(TimeKind::rbf);
  FittedKernel decay = fit_with(TimeKind::exponential_decay);
  if (options.time == TimeChoice::exponential_decay) return decay;
  FittedKernel rbf = fit_with(TimeKind::rbf);
  return rbf.summary.log_likelihood > decay.summary.log_likelihood ? rbf : decay;
}

// One ascent from the hyperparameters of an earlier fit to nearly the same data.
FittedKernel refined_kernel(
    const CurveRows& data, const Vector& y, const GpParameters& start, const ModelOptions& options, const Rng& rng) {
  const FittedRows part = rows_to_fit(data, y, options);
  return fit_kernel(part.rows, part.y, start.kernel.time.kind, options, {.warm_start = start, .restarts = 0}, rng);
}

Response response_to(const std::vector<Source>& sources, const Vector& values, const ModelOptions& options) {
  const double factor = options.clip ? ClipOptions{}.factor : std::numeric_limits<double>::infinity();
  Vector reached(std::ssize(sources));
  for (std::size_t i = 0; i < sources.size(); ++i) reached[static_cast<Eigen::Index>(i)] = sources[i].last_value();
  return standardised_response(values, {.factor = factor}, options.warp ? gap_warp(reached) : GapWarp{});
}

// Trial by trial the epochs of largest variance given the trials before, with the hyperparameters of a first, rough
// fit, which are returned.
GpParameters choose_greedily(std::vector<Source>& sources,
                             const ModelOptions& options,
                             Epoch max_epoch,
                             const Rng& rng) {
  const CurveRows first = kept_rows(sources, max_epoch);
  const Response response = response_to(sources, first.values, options);
  const FittedKernel kernel = best_kernel(first, response.y, options, {.tolerance = 0.05}, rng.fork("points"));
  ExactGp gp(Rows::at_epochs(Matrix(0, first.rows.dim()), {}, max_epoch), Vector(0), kernel.parameters);
  for (Source& source : sources) {
    const std::vector<Epoch>& epochs = source.response.epochs;
    const CurvePointChoice choice = choose_curve_points(gp, source.x, source.trial, epochs, max_epoch);
    source.kept.clear();
    std::vector<Epoch> chosen = choice.epochs;
    std::sort(chosen.begin(), chosen.end());
    for (const Epoch epoch : chosen) {
      source.kept.push_back(
          static_cast<std::size_t>(std::lower_bound(epochs.begin(), epochs.end(), epoch) - epochs.begin()));
    }
    gp.append(Rows::of_curve(source.x, chosen, max_epoch, source.trial), Vector::Zero(std::ssize(chosen)));
  }
  return kernel.parameters;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Of the better half of the trials: bad ones may do what they like.
double typical_fluctuation(const History& history, const ResponseScale& scale) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : history.trials()) {
    if (trial.curve.last_epoch() >= 4) trials.push_back(&trial);
  }
  std::stable_sort(
      trials.begin(), trials.end(), [](const Trial* a, const Trial* b) { return a->curve.best() > b->curve.best(); });
  trials.resize((trials.size() + 1) / 2);
  std::vector<double> each;
  for (const Trial* trial : trials) {
    Vector values(trial->curve.last_epoch());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      values[i] = scale.apply(trial->curve.value(static_cast<Epoch>(i) + 1));
    }
    const double found = fluctuation(values).value_or(0.0);
    if (std::isfinite(found)) each.push_back(found);
  }
  return each.empty() ? 0.0 : median(std::move(each));
}

// Trials whose cost is known, evenly taken if there are more than `max_trials`: cost is smooth in x, and the model of
// it must not become dearer than that of the curves.
std::vector<const Trial*> trials_with_cost(const History& history, int max_trials) {
  std::vector<const Trial*> trials;
  for (const Trial& trial : history.trials()) {
    if (trial.curve.spent() > 0.0) trials.push_back(&trial);
  }
  const std::size_t count = std::min(trials.size(), static_cast<std::size_t>(max_trials));
  for (std::size_t k = 0; k < count; ++k) trials[k] = trials[k * trials.size() / count];
  trials.resize(count);
  return trials;
}

CostData cost_data(const History& history, const ModelOptions& options) {
  CostData data;
  std::vector<Vector> xs;
  std::vector<double> costs;
  for (const Trial* known : trials_with_cost(history, options.cost_trials)) {
    const Trial& trial = *known;
    const Epoch last = trial.curve.last_epoch();
    const Vector x = history.spec().space.encode(trial.config);
    const auto add = [&](Epoch epoch, Cost cost) {
      if (cost <= 0.0) return;
      xs.push_back(x);
      costs.push_back(cost);
      data.epochs.push_back(epoch);
      data.groups.push_back(static_cast<int>(index(trial.id)));
    };
    if (last > 1) add(1, trial.curve.points().front().cost);
    add(last, trial.curve.spent());
  }
  data.x.resize(std::ssize(xs), history.spec().space.encoded_dim());
  data.costs.resize(std::ssize(xs));
  for (std::size_t i = 0; i < xs.size(); ++i) {
    data.x.row(static_cast<Eigen::Index>(i)) = xs[i].transpose();
    data.costs[static_cast<Eigen::Index>(i)] = costs[i];
  }
  return data;
}

CostModel fit_cost(const History& history, const ModelOptions& options, const Rng& rng) {
  CostOptions cost;
  cost.form = options.cost;
  Rng stream = rng.fork("cost");
  return CostModel::fit(
      cost_data(history, options), history.spec().space.encoded_dim(), history.spec().epochs.max, cost, stream);
}

}  // namespace

double Models::observed_sd(double mean, double latent_sd) const {
  return std::sqrt(latent_sd * latent_sd + gp.parameters().noise) * scale.slope(mean);
}

bool has_data(const History& history) {
  return std::any_of(history.trials().begin(), history.trials().end(), [](const Trial& trial) {
    return !trial.curve.empty() || trial.state == TrialState::failed;
  });
}

Models fit_models(const History& history, const ModelOptions& options, Rng& rng) {
  const Epoch max_epoch = history.spec().epochs.max;
  std::vector<Source> sources = sources_of(history, options);
  check(!sources.empty(), "fit_models: there is nothing to learn from yet");
  for (Source& source : sources) {
    source.kept = options.points == PointRule::last ? std::vector<std::size_t>{source.response.epochs.size() - 1}
                                                    : halved_points(source.response.epochs);
  }
  std::optional<GpParameters> first;
  if (options.points == PointRule::greedy) first = choose_greedily(sources, options, max_epoch, rng);
  thin(sources, options.max_rows);

  const CurveRows data = kept_rows(sources, max_epoch);
  const Response response = response_to(sources, data.values, options);
  const FittedKernel kernel =
      first ? refined_kernel(data, response.y, *first, options, rng) : best_kernel(data, response.y, options, {}, rng);
  ExactGp gp(data.rows, response.y, kernel.parameters);
  SlopeConstraint slopes = slope_constraint(gp, history.spec().epochs.min, {.monotone = options.monotone});
  return {.gp = std::move(gp),
          .scale = response.scale,
          .best = response.y.maxCoeff(),
          .range = std::max(1e-12, response.y.maxCoeff() - clip_level(response.y)),
          .fluctuation = typical_fluctuation(history, response.scale),
          .slopes = std::move(slopes),
          .cost = fit_cost(history, options, rng),
          .fit = kernel.summary};
}

}  // namespace bapi

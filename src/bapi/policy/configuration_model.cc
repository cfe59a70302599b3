#include "bapi/policy/configuration_model.h"

#include <algorithm>
#include <limits>

#include "bapi/base/error.h"
#include "bapi/gp/fit.h"

namespace bapi {
namespace {

// Hyperparameters are fitted on at most this many rows, evenly taken.
constexpr Eigen::Index kFitRows = 300;

bool finished(const Trial& trial) { return trial.state == TrialState::completed && !trial.curve.empty(); }

struct Outcomes {
  Matrix x;
  Vector values;
};

Outcomes outcomes(const History& history) {
  double worst = std::numeric_limits<double>::infinity();
  std::vector<const Trial*> trials;
  for (const Trial& trial : history.trials()) {
    if (finished(trial)) worst = std::min(worst, trial.curve.best());
    if (finished(trial) || trial.state == TrialState::failed) trials.push_back(&trial);
  }
  Outcomes all{.x = Matrix(std::ssize(trials), history.spec().space.encoded_dim()),
               .values = Vector(std::ssize(trials))};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    all.x.row(row) = history.spec().space.encode(trials[i]->config).transpose();
    all.values[row] = finished(*trials[i]) ? trials[i]->curve.best() : worst;
  }
  return all;
}

GpParameters structure(Eigen::Index dim) {
  GpParameters parameters;
  parameters.kernel.space = {.kind = SpaceKind::matern52, .lengthscales = Vector::Constant(dim, 0.5)};
  parameters.kernel.time.kind = TimeKind::constant;
  return parameters;
}

std::vector<Eigen::Index> evenly(Eigen::Index n, Eigen::Index most) {
  const Eigen::Index count = std::min(n, most);
  std::vector<Eigen::Index> chosen;
  for (Eigen::Index i = 0; i < count; ++i) chosen.push_back(i * n / count);
  return chosen;
}

void append_running(const History& history, ExactGp& gp) {
  for (const Trial& trial : history.trials()) {
    if (!trial.segment) continue;
    const Rows row = Rows::at_configurations(history.spec().space.encode(trial.config).transpose());
    gp.append(row, gp.predict(row).mean);
  }
}

}  // namespace

bool has_finished_trial(const History& history) {
  return std::any_of(history.trials().begin(), history.trials().end(), finished);
}

ExactGp fit_over_configurations(const Rows& rows, const Vector& y, Rng& rng) {
  const std::vector<Eigen::Index> subset = evenly(rows.size(), kFitRows);
  const Vector values = y(subset);
  const FitResult fitted =
      fit(rows.select(subset), values, structure(rows.dim()), {.priors = HyperPriors::for_configurations()}, rng);
  return ExactGp(rows, y, fitted.gp.parameters());
}

ConfigurationModel fit_configurations(const History& history, Rng& rng) {
  check(has_finished_trial(history), "fit_configurations: there is nothing to learn from yet");
  const Outcomes data = outcomes(history);
  const Response response = standardised_response(data.values);
  const Rows rows = Rows::at_configurations(data.x);
  ExactGp gp = fit_over_configurations(rows, response.y, rng);
  append_running(history, gp);
  return {.gp = std::move(gp), .scale = response.scale, .best = response.y.maxCoeff()};
}

}  // namespace bapi

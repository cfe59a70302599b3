#include "bapi/gp/fit.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <thread>

#include "bapi/base/error.h"
#include "bapi/gp/log_likelihood.h"
#include "tests/support/references.h"

namespace bapi {
namespace fit_test {

GpParameters curve_structure(int d, double own = 0.0) {
  GpParameters p;
  p.kernel.space.lengthscales = Vector::Ones(d);
  p.kernel.own_amplitude = own;
  return p;
}

GpParameters plain_structure(int d) {
  GpParameters p = curve_structure(d);
  p.kernel.time.kind = TimeKind::constant;
  return p;
}

struct Data {
  Rows rows;
  Vector y;
};

// Curves of `per_curve` rows drawn from the model with the given hyperparameters.
Data drawn(int configurations, int per_curve, const GpParameters& truth, Rng& rng) {
  const auto d = truth.kernel.space.lengthscales.size();
  Rows rows;
  for (int c = 0; c < configurations; ++c) {
    Vector x(d);
    for (Eigen::Index j = 0; j < d; ++j) x(j) = rng.uniform();
    std::vector<Epoch> epochs;
    for (int k = 1; k <= per_curve; ++k) epochs.push_back(50 * k / per_curve);
    rows.append(Rows::of_curve(x, epochs, 50, c));
  }
  Matrix k = Covariance(truth.kernel, 50).gram(rows);
  k.diagonal().array() += truth.noise;
  Vector z(rows.size());
  for (Eigen::Index i = 0; i < z.size(); ++i) z(i) = rng.normal();
  const Matrix lower = k.llt().matrixL();
  return {rows, lower * z};
}

TEST(Fit, RecoversLengthscalesAndNoiseOfTheModelThatMadeTheData) {
  Rng rng(1);
  GpParameters truth = plain_structure(2);
  truth.kernel.amplitude = 1.0;
  truth.kernel.space.lengthscales << 0.3, 1.5;
  truth.noise = 0.01;
  const Data data = drawn(200, 1, truth, rng);
  const FitResult result = fit(data.rows, data.y, plain_structure(2), {}, rng);
  EXPECT_EQ(result.summary.end, FitEnd::converged);
  const GpParameters& found = result.gp.parameters();
  EXPECT_NEAR(std::log(found.kernel.space.lengthscales(0) / 0.3), 0.0, 0.5);
  EXPECT_GT(found.kernel.space.lengthscales(1), 2.0 * found.kernel.space.lengthscales(0));
  EXPECT_NEAR(std::log(found.noise / 0.01), 0.0, 0.5);
}

TEST(Fit, GradientVanishesAtTheMaximumExceptAtBounds) {
  Rng rng(2);
  const Data data = drawn(12, 3, curve_structure(2, 0.3), rng);
  const GpParameters structure = curve_structure(2, 0.1);
  const FitOptions options{.max_iterations = 300, .tolerance = 1e-9};
  const FitResult result = fit(data.rows, data.y, structure, options, rng);
  const JointPrior prior(options.priors, structure);
  LogLikelihood likelihood(data.rows, data.y, structure);
  const Vector logs = log_parameters(result.gp.parameters());
  Vector gradient;
  likelihood(logs, gradient);
  gradient += prior.gradient(logs);
  const Box box = prior.box();
  for (Eigen::Index i = 0; i < logs.size(); ++i) {
    const bool at_bound = logs(i) <= box.low(i) + 1e-9 || logs(i) >= box.high(i) - 1e-9;
    if (!at_bound) {
      EXPECT_NEAR(gradient(i), 0.0, 5e-3) << log_parameter_names(structure)[i];
    }
  }
}

TEST(Fit, WarmStartFromItsOwnResultStaysThere) {
  Rng rng(3);
  const Data data = drawn(15, 3, curve_structure(2), rng);
  const FitResult first = fit(data.rows, data.y, curve_structure(2), {}, rng);
  const FitResult again =
      fit(data.rows, data.y, curve_structure(2), {.warm_start = first.gp.parameters(), .restarts = 0}, rng);
  EXPECT_LE(again.summary.evaluations, 15);
  EXPECT_EQ(again.summary.screening_evaluations, 0);
  EXPECT_NEAR(again.summary.final_log_posterior, first.summary.final_log_posterior, 0.05);
  EXPECT_GE(again.summary.final_log_posterior, first.summary.final_log_posterior - 1e-9);
}

TEST(Fit, ScreeningOnAPartOfTheRowsLosesLittle) {
  Rng rng(4);
  double worst = 0.0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const Data data = drawn(60, 3, curve_structure(3), rng);
    Rng a = rng.fork("a", repetition);
    Rng b = a;
    const FitResult quick = fit(data.rows, data.y, curve_structure(3), {}, a);
    const FitResult full = fit(data.rows, data.y, curve_structure(3), {.screening_rows = 1000, .tolerance = 1e-6}, b);
    worst = std::max(worst, full.summary.final_log_posterior - quick.summary.final_log_posterior);
  }
  EXPECT_LT(worst, 0.5);
}

TEST(Fit, FixedNoiseStaysFixed) {
  Rng rng(5);
  const Data data = drawn(20, 1, plain_structure(2), rng);
  const FitResult result = fit(
      data.rows, data.y, plain_structure(2), {.priors = HyperPriors::for_configurations(), .fixed_noise = 1e-4}, rng);
  EXPECT_NEAR(result.gp.parameters().noise, 1e-4, 1e-15);
}

TEST(Fit, WithoutDataThePriorDecides) {
  Rng rng(6);
  for (const GpParameters& structure : {curve_structure(2, 0.1), plain_structure(2)}) {
    const FitResult result =
        fit(Rows::at_epochs(Matrix(0, 2), {}, 50), Vector(0), structure, {.tolerance = 1e-10}, rng);
    EXPECT_NEAR(result.gp.parameters().kernel.space.lengthscales(0), 0.7, 1e-3);
  }
}

TEST(Fit, OnePointDuplicatesAndConstantValuesGiveFiniteModels) {
  Rng rng(7);
  const Rows query = Rows::of_curve(Vector::Constant(2, 0.2), {1, 50}, 50, 99);
  for (const int n : {1, 2, 10}) {
    const Rows rows = Rows::at_epochs(Matrix::Constant(n, 2, 0.5), std::vector<Epoch>(n, 7), 50);
    for (const double level : {0.0, 1.0}) {
      for (const double own : {0.0, 0.1}) {
        const FitResult result = fit(rows, Vector::Constant(n, level), curve_structure(2, own), {}, rng);
        const Moments moments = result.gp.predict(query);
        EXPECT_TRUE(moments.mean.allFinite());
        EXPECT_TRUE(moments.variance.allFinite());
        EXPECT_TRUE(std::isfinite(result.summary.final_log_posterior));
      }
    }
  }
}

TEST(Fit, ResultDoesNotDependOnThreadsBesideIt) {
  Rng rng(8);
  const Data data = drawn(20, 3, curve_structure(2), rng);
  const auto run = [&] {
    Rng own(1);
    return log_parameters(fit(data.rows, data.y, curve_structure(2), {}, own).gp.parameters());
  };
  const Vector alone = run();
  std::vector<Vector> results(4);
  {
    std::vector<std::jthread> threads;
    for (Vector& result : results) threads.emplace_back([&result, &run] { result = run(); });
  }
  for (const Vector& result : results) EXPECT_EQ(result, alone);
}

TEST(Fit, OptionsOutsideTheirRangeAreNamed) {
  EXPECT_THROW(FitOptions{.restarts = -1}.validate(), InvalidInput);
  EXPECT_THROW(FitOptions{.tolerance = 0.0}.validate(), InvalidInput);
  EXPECT_THROW(FitOptions{.fixed_noise = -1.0}.validate(), InvalidInput);
}

}  // namespace fit_test
}  // namespace bapi

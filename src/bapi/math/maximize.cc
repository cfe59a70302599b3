#include "bapi/math/maximize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/base/error.h"

namespace bapi {
namespace {

// Share of the growth promised by the gradient that a step must keep.
constexpr double kSufficientGrowth = 1e-4;

// A line that was shortened this often has no growth left that double precision can see.
constexpr int kMaxShortenings = 25;

Vector projected(const Vector& x, const Box& box) { return x.cwiseMax(box.low).cwiseMin(box.high); }

}  // namespace

void MaximizeOptions::validate() const {
  require(max_iterations >= 1, fmt::format("maximize.max_iterations = {}, must be at least 1", max_iterations));
  require(relative_tolerance >= 0.0,
          fmt::format("maximize.relative_tolerance = {}, must not be negative", relative_tolerance));
  require(value_tolerance >= 0.0, fmt::format("maximize.value_tolerance = {}, must not be negative", value_tolerance));
  require(gradient_tolerance >= 0.0,
          fmt::format("maximize.gradient_tolerance = {}, must not be negative", gradient_tolerance));
  require(first_step > 0.0, fmt::format("maximize.first_step = {}, must be positive", first_step));
  require(memory >= 1, fmt::format("maximize.memory = {}, must be at least 1", memory));
}

BoxAscent::BoxAscent(const Vector& start, const Box& box, const MaximizeOptions& options)
    : box_(box), options_(options), x_(projected(start, box)), trial_(x_) {
  options.validate();
  check(box.low.size() == start.size() && box.high.size() == start.size(), "maximize: box and start differ in size");
  check((box.low.array() <= box.high.array()).all(), "maximize: the box is empty");
}

void BoxAscent::tell(double value, const Vector& gradient) {
  check(!done_, "maximize: told after the end");
  ++evaluations_;
  const bool usable = std::isfinite(value) && gradient.allFinite();
  if (!started_) {
    started_ = true;
    value_ = value;
    initial_value_ = value;
    gradient_ = gradient;
    if (!usable) return finish(MaximizeEnd::no_progress);
    return start_line();
  }
  const double promised = gradient_.dot(trial_ - x_);
  if (!usable) return shorten(value);
  if (value < value_ + kSufficientGrowth * promised) return shorten(value);
  accept(value, gradient);
}

void BoxAscent::accept(double value, const Vector& gradient) {
  ++iterations_;
  const double growth = value - value_;
  Vector step = trial_ - x_;
  Vector change = gradient_ - gradient;  // of the gradient of -f
  const double product = step.dot(change);
  x_ = trial_;
  value_ = value;
  gradient_ = gradient;
  // Only curvature of the right sign keeps the model concave.
  if (product > 1e-10 * step.norm() * change.norm()) {
    if (static_cast<int>(pairs_.size()) == options_.memory) pairs_.pop_front();
    pairs_.push_back({std::move(step), std::move(change), 1.0 / product});
  }
  const double negligible =
      std::max(options_.value_tolerance, options_.relative_tolerance * std::max(1.0, std::abs(value_)));
  if (growth <= negligible) return finish(MaximizeEnd::converged);
  if (iterations_ >= options_.max_iterations) return finish(MaximizeEnd::iteration_limit);
  start_line();
}

void BoxAscent::start_line() {
  const Vector free = free_gradient();
  if (free.size() == 0 || free.cwiseAbs().maxCoeff() <= options_.gradient_tolerance) {
    return finish(MaximizeEnd::converged);
  }
  direction_ = direction();
  if (!(direction_.dot(free) > 0.0)) {
    pairs_.clear();
    direction_ = free;
  }
  length_ = pairs_.empty() ? std::min(1.0, options_.first_step / direction_.norm()) : 1.0;
  shortened_ = 0;
  trial_ = projected(x_ + length_ * direction_, box_);
  if (trial_ == x_) finish(MaximizeEnd::converged);
}

void BoxAscent::shorten(double value) {
  if (++shortened_ > kMaxShortenings) {
    // A quasi-Newton direction may be at fault; the gradient itself gets one chance.
    if (pairs_.empty()) return finish(MaximizeEnd::no_progress);
    pairs_.clear();
    return start_line();
  }
  // Maximum of the parabola through value, slope and the refused value, kept within a tenth and a half.
  double factor = 0.1;
  if (std::isfinite(value)) {
    const double slope = gradient_.dot(trial_ - x_);
    const double bend = 2.0 * (value_ + slope - value);
    factor = bend > 0.0 ? std::clamp(slope / bend, 0.1, 0.5) : 0.5;
  }
  length_ *= factor;
  trial_ = projected(x_ + length_ * direction_, box_);
  if (trial_ == x_) finish(MaximizeEnd::no_progress);
}

void BoxAscent::finish(MaximizeEnd end) {
  done_ = true;
  end_ = end;
  trial_ = x_;
}

Vector BoxAscent::free_gradient() const {
  Vector free = gradient_;
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    const bool held = (x_(i) <= box_.low(i) && free(i) < 0.0) || (x_(i) >= box_.high(i) && free(i) > 0.0);
    if (held) free(i) = 0.0;
  }
  return free;
}

// The two-loop recursion on the free coordinates.
Vector BoxAscent::direction() const {
  const Vector free = free_gradient();
  const auto mask = (free.array() != 0.0).cast<double>().matrix().eval();
  Vector d = free;
  if (pairs_.empty()) return d;
  std::vector<double> weights(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    weights[k] = pairs_[k].inverse_product * pairs_[k].step.dot(d);
    d -= weights[k] * pairs_[k].change;
  }
  const Pair& last = pairs_.back();
  d /= last.inverse_product * last.change.squaredNorm();
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double correction = pairs_[k].inverse_product * pairs_[k].change.dot(d);
    d += (weights[k] - correction) * pairs_[k].step;
  }
  return d.cwiseProduct(mask);
}

MaximizeSummary BoxAscent::summary() const {
  return {.x = x_,
          .value = value_,
          .initial_value = initial_value_,
          .end = end_,
          .iterations = iterations_,
          .evaluations = evaluations_};
}

MaximizeSummary maximize(const Objective& objective,
                         const Box& box,
                         const Vector& start,
                         const MaximizeOptions& options) {
  BoxAscent ascent(start, box, options);
  Vector gradient(start.size());
  while (!ascent.done()) {
    const double value = objective(ascent.point(), gradient);
    ascent.tell(value, gradient);
  }
  return ascent.summary();
}

std::vector<MaximizeSummary> maximize_together(const BatchObjective& objective,
                                               const Box& box,
                                               const Matrix& starts,
                                               const MaximizeOptions& options) {
  std::vector<BoxAscent> ascents;
  for (Eigen::Index i = 0; i < starts.cols(); ++i) ascents.emplace_back(starts.col(i), box, options);
  std::vector<BoxAscent*> active;
  for (BoxAscent& ascent : ascents) active.push_back(&ascent);
  while (!active.empty()) {
    const auto m = static_cast<Eigen::Index>(active.size());
    Matrix points(starts.rows(), m);
    for (Eigen::Index i = 0; i < m; ++i) points.col(i) = active[i]->point();
    Vector values(m);
    Matrix gradients(starts.rows(), m);
    objective(points, values, gradients);
    for (Eigen::Index i = 0; i < m; ++i) active[i]->tell(values(i), gradients.col(i));
    std::erase_if(active, [](const BoxAscent* ascent) { return ascent->done(); });
  }
  std::vector<MaximizeSummary> summaries;
  for (const BoxAscent& ascent : ascents) summaries.push_back(ascent.summary());
  return summaries;
}

}  // namespace bapi

#include "replay.h"

#include <algorithm>
#include <cmath>

namespace experiments {
namespace {

constexpr double kSharpness = 0.6;       // exponent of priorities: 0 draws evenly
constexpr double kCorrection = 0.4;      // exponent of the weights against the uneven draw
constexpr double kLeastPriority = 1e-3;  // keeps every step within reach

}  // namespace

Replay::Replay(int observations)
    : observations_(observations), steps_(Eigen::MatrixXd::Zero(2 * observations + 3, kDepth)), weights_(kDepth) {}

void Replay::add(const Step& step) {
  steps_.col(next_) << step.before, step.after, static_cast<double>(step.action), step.reward,
      (step.terminal ? 0.0 : 1.0);
  weights_.set(static_cast<std::size_t>(next_), std::pow(largest_, kSharpness));
  size_ = std::max(size_, next_ + 1);
  next_ = (next_ + 1) % kDepth;
}

Replay::Batch Replay::draw(int count, Generator& generator) const {
  Batch batch{.places = {},
              .before = Eigen::MatrixXd(observations_, count),
              .after = Eigen::MatrixXd(observations_, count),
              .actions = {},
              .rewards = Eigen::VectorXd(count),
              .future = Eigen::VectorXd(count),
              .weights = Eigen::VectorXd(count)};
  for (int i = 0; i < count; ++i) {
    const std::size_t place = weights_.find(generator.uniform() * weights_.total());
    const auto step = steps_.col(static_cast<Eigen::Index>(place));
    batch.places.push_back(place);
    batch.before.col(i) = step.head(observations_);
    batch.after.col(i) = step.segment(observations_, observations_);
    batch.actions.push_back(static_cast<int>(step[2 * observations_]));
    batch.rewards[i] = step[2 * observations_ + 1];
    batch.future[i] = step[2 * observations_ + 2];
    batch.weights[i] = std::pow(size_ * weights_.weight(place) / weights_.total(), -kCorrection);
  }
  batch.weights /= batch.weights.maxCoeff();
  return batch;
}

void Replay::set_priorities(const std::vector<std::size_t>& places, const Eigen::VectorXd& errors) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double priority = std::abs(errors[static_cast<Eigen::Index>(i)]) + kLeastPriority;
    largest_ = std::max(largest_, priority);
    weights_.set(places[i], std::pow(priority, kSharpness));
  }
}

void Replay::save(ArchiveWriter& archive) const {
  archive(size_);
  archive(next_);
  archive(largest_);
  archive(std::vector<double>(steps_.data(), steps_.data() + size_ * steps_.rows()));
  std::vector<double> weights;
  for (int place = 0; place < size_; ++place) weights.push_back(weights_.weight(static_cast<std::size_t>(place)));
  archive(weights);
}

void Replay::load(ArchiveReader& archive) {
  archive(size_);
  archive(next_);
  archive(largest_);
  std::vector<double> steps;
  std::vector<double> weights;
  archive(steps);
  archive(weights);
  const bool fits = size_ >= 0 && size_ <= kDepth && next_ >= 0 && next_ < kDepth &&
                    std::ssize(steps) == size_ * steps_.rows() && std::ssize(weights) == size_;
  if (!fits) throw std::runtime_error("its replay memory is damaged");
  std::copy(steps.begin(), steps.end(), steps_.data());
  for (std::size_t place = 0; place < weights.size(); ++place) weights_.set(place, weights[place]);
}

}  // namespace experiments

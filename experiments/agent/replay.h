#pragma once

#include <Eigen/Core>
#include <vector>

#include "archive.h"
#include "generator.h"
#include "sum_tree.h"

namespace experiments {

// What an agent has lived through, the newest kDepth steps, drawn in proportion to priority^0.6 (Schaul et al. 2016).
class Replay {
 public:
  static constexpr int kDepth = 10'000;

  struct Step {
    Eigen::VectorXd before;
    int action = 0;
    double reward = 0.0;
    bool terminal = false;
    Eigen::VectorXd after;
  };

  // Columns are steps.
  struct Batch {
    std::vector<std::size_t> places;
    Eigen::MatrixXd before;
    Eigen::MatrixXd after;
    std::vector<int> actions;
    Eigen::VectorXd rewards;
    Eigen::VectorXd future;   // 0 where the step ended in a terminal state, else 1
    Eigen::VectorXd weights;  // correct for the uneven draw; the largest is 1
  };

  explicit Replay(int observations);

  void add(const Step& step);  // with the largest priority so far: everything is looked at once
  int size() const { return size_; }
  Batch draw(int count, Generator& generator) const;
  void set_priorities(const std::vector<std::size_t>& places, const Eigen::VectorXd& errors);

  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  int observations_;
  int size_ = 0;
  int next_ = 0;  // the place that the next step takes
  double largest_ = 1.0;
  Eigen::MatrixXd steps_;  // a column per place: before, after, action, reward, future
  SumTree weights_;
};

}  // namespace experiments

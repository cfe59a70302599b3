#pragma once

#include <cstddef>
#include <vector>

namespace experiments {

// Weights of a fixed number of places, drawn from in proportion, in logarithmic time: a complete binary tree in which
// every node holds the sum of its children.
class SumTree {
 public:
  explicit SumTree(std::size_t places) {
    while (leaves_ < places) leaves_ *= 2;
    nodes_.assign(2 * leaves_, 0.0);
  }

  double total() const { return nodes_[1]; }
  double weight(std::size_t place) const { return nodes_[leaves_ + place]; }

  void set(std::size_t place, double weight) {
    std::size_t node = leaves_ + place;
    nodes_[node] = weight;
    while ((node /= 2) > 0) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
  }

  // The place in which `at` of [0, total) falls, the weights laid end to end. Never one of weight 0.
  std::size_t find(double at) const {
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      const bool right_is_empty = nodes_[node + 1] <= 0.0;
      if (at < nodes_[node] || right_is_empty) continue;
      at -= nodes_[node];
      ++node;
    }
    return node - leaves_;
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<double> nodes_;
};

}  // namespace experiments

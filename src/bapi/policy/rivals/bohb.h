#pragma once

#include "bapi/math/kde.h"
#include "bapi/policy/rivals/hyperband.h"

namespace bapi {

// The results of one rung level, best first.
struct LevelResults {
  Epoch epoch = 0;
  Matrix points;  // in the coordinates of bohb_coordinates()
};

// The coordinates in which densities are estimated: the unit cube, but unordered choices as the index of their option.
std::vector<Coordinate> bohb_coordinates(const Space& space);
Vector bohb_point(const Space& space, const Config& config);
Config bohb_config(const Space& space, const Vector& point);

struct BohbOptions {
  HalvingOptions halving = {};
  double random_fraction = 1.0 / 3.0;
  int samples = 64;
  double bandwidth_factor = 3.0;
};

// HyperBand whose new configurations come from a model: a pair of densities of the good and of the bad results at the
// highest rung level that has enough of them (2 (d + 1)). One in three, and all before the first model, are uniform.
//
// As a model at a higher level always takes precedence, results that come in below the level of the current model
// never matter: they are not even looked at. Failed runs count as the worst at the level that they were meant to reach.
// From a pool the nearest row that has not been tried stands for the proposal.
class Bohb : public Hyperband {
 public:
  static PolicyInfo info();
  explicit Bohb(const PolicySpec& spec);

  std::string_view name() const override { return "bohb"; }

  // The results that the model is made of; nullopt while there is no model.
  std::optional<LevelResults> model_data(const History& history) const;

 protected:
  std::optional<Config> propose(const History& history, Rng& rng) override;

 private:
  explicit Bohb(const BohbOptions& options);

  // The epoch of the rung at which each trial was started: below it, it has no results.
  std::vector<Epoch> entry_epochs(const History& history) const;

  BohbOptions options_;
};

}  // namespace bapi

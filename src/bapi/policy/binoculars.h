#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

// Optimises a batch of full runs as if they were all to be trained at once, which spreads them out, and trains one of
// them: drawn in proportion to their own expected improvements, or the best. With a batch of one it is "ei".
class Binoculars : public Policy {
 public:
  static PolicyInfo info();
  explicit Binoculars(const PolicySpec& spec);

  std::string_view name() const override { return "binoculars"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  enum class Pick { sample, best };

  InitialDesign design_{.epochs = 1.0};
  int batch_ = 4;
  Pick pick_ = Pick::sample;
  int draws_ = 512;
  int starts_ = 20;
};

// Index i with a probability in proportion to exp(logs[i]); uniform if all of them are -infinity.
int draw_in_proportion(const Vector& logs, Rng& rng);

}  // namespace bapi

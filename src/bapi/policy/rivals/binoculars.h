#pragma once

#include "bapi/policy/initial_design.h"
#include "bapi/policy/registry.h"

namespace bapi {

enum class BinocularsPick { sample, best };

struct BinocularsOptions {
  InitialDesign design{.epochs = 1.0};
  int batch = 4;
  BinocularsPick pick = BinocularsPick::sample;
  int draws = 512;
  int starts = 20;
};

// Optimises a batch of full runs as if they were all to be trained at once, which spreads them out, and trains one of
// them: drawn in proportion to their own expected improvements, or the best. With a batch of one it is "ei".
class Binoculars : public Policy {
 public:
  static PolicyInfo info();
  explicit Binoculars(const PolicySpec& spec);

  std::string_view name() const override { return "binoculars"; }
  Decision ask(const History& history, Rng& rng) override;

 private:
  BinocularsOptions options_;
};

// Index i with a probability in proportion to exp(logs[i]); uniform if all of them are -infinity.
int draw_in_proportion(const Vector& logs, Rng& rng);

}  // namespace bapi

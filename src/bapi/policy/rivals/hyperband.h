#pragma once

#include <vector>

#include "bapi/policy/registry.h"
#include "bapi/policy/rungs.h"

namespace bapi {

// One bracket of HyperBand: n configurations at each rung, trained up to the rung's epoch.
struct Rung {
  int configs = 0;
  Epoch epoch = 0;
  bool operator==(const Rung&) const = default;
};
using Bracket = std::vector<Rung>;

// Bracket number `number` (0, 1, 2, ...; they repeat in cycles) for rungs between min and max epochs. Rung epochs hang
// from the top: max / eta^k, rounded down, at least 1; rungs that coincide are merged. eta >= 2.
Bracket hyperband_bracket(int number, Epoch min_epoch, Epoch max_epoch, int eta);

// Successive halving in brackets that trade many short runs against few long ones. Every rung's best go on to the next
// rung, the others are stopped for good.
//
// The bracket and rung for which a trial was started are its assignment, so the whole state of the brackets is computed
// from the history. A failed trial is out; the places that failures leave empty at a higher rung
// are filled with new configurations started there. With several workers the oldest bracket with something to do comes
// first, and a new one is opened rather than wait.
class Hyperband : public Policy {
 public:
  static PolicyInfo info();
  explicit Hyperband(const PolicySpec& spec);

  std::string_view name() const override { return "hyperband"; }
  Decision ask(const History& history, Rng& rng) override;

 protected:
  // For a policy with the same brackets and options of its own besides these.
  explicit Hyperband(const HalvingOptions& options);

  Bracket bracket(const StudySpec& spec, int number) const;

  // A configuration for a new slot; nullopt when a pool has none left. BOHB draws it from a model.
  virtual std::optional<Config> propose(const History& history, Rng& rng);

 private:
  struct Answer;
  class Entries;
  Answer next_in_bracket(const History& history, const Entries& entries, int number, Rng& rng);
  Decision further_with_the_best(const History& history) const;

  HalvingOptions options_;
};

}  // namespace bapi

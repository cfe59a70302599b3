#include "bapi/policy/rungs.h"

#include <algorithm>
#include <cmath>

namespace bapi {

bool has_reached(const Trial& trial, Epoch epoch) {
  return trial.curve.last_epoch() >= epoch || trial.state == TrialState::completed;
}

double value_at(const Trial& trial, Epoch epoch) { return trial.curve.value_by(epoch); }

Epoch share_of(double share, Epoch max_epoch) {
  return std::clamp(static_cast<Epoch>(std::ceil(share * max_epoch - 1e-9)), 1, max_epoch);
}

Epoch next_rung(Epoch done, Epoch first, double ratio, Epoch max_epoch) {
  if (done < first) return first;
  return std::min(max_epoch, std::max(done + 1, static_cast<Epoch>(std::llround(ratio * done))));
}

Decision nothing_to_do(const History& history, std::string reason) {
  if (history.open_segments() > 0) return Wait{};
  return Finish{std::move(reason)};
}

}  // namespace bapi

#include "bapi/study/segment.h"

#include <algorithm>

namespace bapi {

Segment advanced(Segment segment, std::span<const Event> facts, int smooth) {
  for (const Event& fact : facts) {
    if (trial_of(fact) != segment.trial) continue;
    if (const auto charge = charge_in(fact)) segment.spent += charge->cost;
    if (const auto* overhead = std::get_if<Overhead>(&fact); overhead && overhead->kind == OverheadKind::unreported) {
      segment.paid = std::max(segment.paid, overhead->epoch);
    }
    const auto* report = std::get_if<Measured>(&fact);
    if (!report) continue;
    segment.from = std::max(segment.from, report->measurement.epoch);
    segment.paid = std::max(segment.paid, segment.from);
    segment.recent.push_back(report->measurement.value);
    if (std::ssize(segment.recent) > smooth - 1) segment.recent.erase(segment.recent.begin());
  }
  return segment;
}

}  // namespace bapi

#pragma once

#include <vector>

#include "bapi/study/event.h"

namespace bapi::test {

// Everything that the log says was spent.
inline Cost ledger_sum(const std::vector<StoredEvent>& events) {
  Cost sum = 0.0;
  for (const StoredEvent& stored : events) {
    if (const auto* m = std::get_if<Measured>(&stored.event)) sum += m->measurement.cost;
    if (const auto* o = std::get_if<Overhead>(&stored.event)) sum += o->cost;
  }
  return sum;
}

}  // namespace bapi::test

#include "bapi/store/store.h"

#include <fmt/format.h>

#include <utility>

namespace bapi {

std::vector<StoredEvent> Store::events(EventSeq after) const {
  EventLog log = read(after);
  if (log.damage) throw refusal(*log.damage);
  return std::move(log.events);
}

StoreError Store::refusal(const Damage& damage) const {
  return StoreError(
      fmt::format("{}: {}. Everything before it can be read; `bapi doctor STUDY --repair COPY` writes a copy of the "
                  "study that ends there and can be resumed",
                  place(),
                  damage.text()));
}

StoreError Store::competition() const {
  return StoreError(
      fmt::format("{}: another controller has written to this study; only one may run it at a time. This one ends, and "
                  "what it trained since is not recorded",
                  place()));
}

}  // namespace bapi

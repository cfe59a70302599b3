#include "bapi/study/damage.h"

#include <fmt/format.h>

namespace bapi {

std::string Damage::text() const {
  const std::string name = kind.empty() ? "" : fmt::format(" ({})", kind);
  return fmt::format("event {}{} is damaged: {}", seq, name, reason);
}

}  // namespace bapi

#pragma once

#include <memory>

#include "bapi/policy/models.h"

namespace bapi {

// The model of the curves with what is being trained where it is expected at the rows `pending`, so that a search looks
// elsewhere. Of more than so many the most promising count: a decision takes time that does not grow with the number of
// workers, and a training that is expected to stay far behind keeps no search from anything.
inline constexpr int kMostPending = 100;
std::unique_ptr<CurveSurrogate> with_running(const Models& models, const Rows& pending);

}  // namespace bapi

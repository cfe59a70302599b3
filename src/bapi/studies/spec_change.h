#pragma once

#include <string>
#include <vector>

#include "bapi/study/spec.h"

namespace bapi {

// How a specification differs from the one that a study began with. Results stay comparable only if what is trained and
// how it is judged stays the same; how much may be spent, and by how many workers, may change at any time.
struct SpecChange {
  std::vector<std::string> frozen;  // "metric: loss here, accuracy in the study": not allowed
  std::vector<std::string> free;    // "workers: 4 here, 2 in the study": taken over
};

// The limit of the budget is not looked at: it is changed by an event.
SpecChange compare(const StudySpec& stored, const StudySpec& wanted);

}  // namespace bapi

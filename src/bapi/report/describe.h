#pragma once

#include <string>

#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// One line for people, without the trial: "start, to epoch 9 · uniform random draw", "epoch 3: accuracy 0.91, 1.2 s".
std::string describe(const Event& event, const StudySpec& spec);

}  // namespace bapi

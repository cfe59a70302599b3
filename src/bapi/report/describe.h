#pragma once

#include <string>
#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// One line for people, without the trial: "start, to epoch 9 · uniform random draw", "epoch 3: accuracy 0.91, 1.2 s".
std::string describe(const Event& event, const StudySpec& spec);

// The same in several lengths, the longest first. At least one. Brief: "start to 9 · random draw".
enum class Wording { full, brief };
std::vector<std::string> description_forms(const Event& event, const StudySpec& spec, Wording wording);

// "command: ./train.sh -> python3 train.py; workers: 1 -> 2"
std::string text_of(const SettingsChanged& event);

}  // namespace bapi

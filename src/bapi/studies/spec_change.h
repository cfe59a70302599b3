#pragma once

#include <string>
#include <vector>

#include "bapi/study/event.h"
#include "bapi/study/spec.h"

namespace bapi {

// How a specification differs from the one that a study has. Results stay comparable only if what is trained and how it
// is judged stays the same; how the program is called, how much may be spent and by how many workers may change at any
// time. Where nothing was reported there is nothing to compare.
struct SpecChange {
  std::vector<std::string> frozen;       // "epochs.max: here 9; in the study 27": needs a new log
  std::vector<std::string> correctable;  // "metric: here loss; in the study accuracy": until something was reported
  std::vector<std::string> free;         // "workers: here 4; in the study 2": at any time
  std::vector<SettingChange> settings;   // all of `correctable` and `free`, with the old and the new value
};

// Whether other studies are named, or other metrics of them; a study that was moved is the same.
bool starts_elsewhere(const std::vector<WarmStart>& stored, const std::vector<WarmStart>& wanted);

// The limit of the budget is not looked at: it is changed by an event. What was read of earlier studies follows from
// which they are.
SpecChange compare(const StudySpec& stored, const StudySpec& wanted);

}  // namespace bapi

#include "bapi/cli/study_and_trial.h"

#include <fmt/format.h>

#include <limits>

#include "bapi/base/error.h"
#include "bapi/base/number.h"

namespace bapi {

StudyAndTrial study_and_trial(std::vector<std::string> words) {
  StudyAndTrial result;
  for (const std::string& word : words) {
    const bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (number && !result.trial) {
      const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      result.trial = static_cast<std::int64_t>(parse_whole_number(word, 0, largest, "the number of a trial"));
    } else {
      require(result.study.empty(), fmt::format("{}: expected one study and at most one trial number", word));
      result.study = word;
    }
  }
  return result;
}

}  // namespace bapi

#include "bapi/study/reason.h"

#include <utility>

namespace bapi {

std::optional<double> Reason::note(NoteKind kind) const {
  for (const Note& note : notes) {
    if (note.kind == kind) return note.value;
  }
  return std::nullopt;
}

Reason in_own_words(std::string words) { return {.rule = Rule::own_words, .own_words = std::move(words)}; }

}  // namespace bapi

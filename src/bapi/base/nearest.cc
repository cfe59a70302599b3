#include "bapi/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bapi {
namespace {

constexpr std::size_t kShortestPrefix = 3;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({substituted, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool is_near(std::string_view word, std::string_view name, std::size_t distance) {
  if (word.size() >= kShortestPrefix && name.starts_with(word)) return true;
  const std::size_t longest = std::max(word.size(), name.size());
  return distance < longest && distance <= std::max<std::size_t>(1, longest / 3);
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  const std::string wanted = lower_case(word);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& name : known) {
    const std::string candidate = lower_case(name);
    const std::size_t distance = edit_distance(wanted, candidate);
    if (is_near(wanted, candidate, distance) && (best.empty() || distance < best_distance)) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace bapi

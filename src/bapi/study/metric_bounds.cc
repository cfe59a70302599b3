#include "bapi/study/metric_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "bapi/base/error.h"
#include "bapi/base/number.h"
#include "bapi/base/split.h"

namespace bapi {
namespace {

// Words of a name, in lower case: "valAcc", "val_acc" and "val/acc" have the word "acc".
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool letter = std::isalnum(c) != 0;
    const bool camel = i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (!letter || camel) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(c));
  }
  return words;
}

template <std::size_t n>
bool has_word(const std::string& name, const std::array<std::string_view, n>& known) {
  const std::vector<std::string> words = words_of(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  });
}

constexpr std::array<std::string_view, 14> kShares = {"acc",
                                                      "accuracy",
                                                      "auc",
                                                      "auroc",
                                                      "f1",
                                                      "precision",
                                                      "recall",
                                                      "iou",
                                                      "miou",
                                                      "dice",
                                                      "map",
                                                      "top1",
                                                      "top5",
                                                      "sensitivity"};
constexpr std::array<std::string_view, 15> kNotNegative = {"loss",
                                                           "error",
                                                           "err",
                                                           "mse",
                                                           "rmse",
                                                           "mae",
                                                           "mape",
                                                           "nll",
                                                           "logloss",
                                                           "xent",
                                                           "wer",
                                                           "cer",
                                                           "brier",
                                                           "rmsle",
                                                           "fid"};
constexpr std::array<std::string_view, 2> kFromOne = {"perplexity", "ppl"};
constexpr std::array<std::string_view, 3> kPercent = {"percent", "pct", "percentage"};

}  // namespace

MetricBounds assumed_bounds(const std::string& metric, const std::vector<double>& values) {
  MetricBounds bounds;
  double highest = 0.0;
  double lowest = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    highest = std::max(highest, value);
    lowest = std::min(lowest, value);
  }
  if (has_word(metric, kNotNegative)) {
    bounds.low = 0.0;
  } else if (has_word(metric, kFromOne)) {
    bounds.low = 1.0;
  } else if (has_word(metric, kShares)) {
    bounds = {.low = 0.0, .high = highest > 1.0 || has_word(metric, kPercent) ? 100.0 : 1.0};
  }
  return lowest < bounds.low || highest > bounds.high ? MetricBounds{} : bounds;
}

MetricBounds bounds_of(const Metric& metric, const std::vector<double>& values) {
  return metric.bounds ? *metric.bounds : assumed_bounds(metric.name, values);
}

MetricBounds parse_bounds(const std::string& text, const std::string& where) {
  const std::vector<std::string> ends = split(text, ',');
  require(
      ends.size() == 2,
      fmt::format("{}: found \"{}\", expected two ends such as 0,1; an end that is left out is open: 0,", where, text));
  const auto end = [&](const std::string& part, double open) {
    return trim(part).empty() ? open : parse_number(trim(part), where);
  };
  const MetricBounds bounds{.low = end(ends[0], MetricBounds{}.low), .high = end(ends[1], MetricBounds{}.high)};
  require(bounds.low < bounds.high,
          fmt::format("{}: found \"{}\", expected the lower end first, for example 0,1", where, text));
  return bounds;
}

std::optional<Goal> usual_goal(const std::string& metric) {
  if (has_word(metric, kNotNegative) || has_word(metric, kFromOne)) return Goal::minimize;
  if (has_word(metric, kShares)) return Goal::maximize;
  return std::nullopt;
}

}  // namespace bapi

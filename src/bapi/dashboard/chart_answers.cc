#include "bapi/dashboard/chart_answers.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace bapi {
namespace {

constexpr std::size_t kMostDots = 2000;

// The points of a curve, one for every epoch up to the last; nullptr for an epoch that was not reported.
std::vector<const Measurement*> by_epoch(const Curve& curve) {
  std::vector<const Measurement*> points;
  for (const Measurement& point : curve.points()) {
    points.resize(static_cast<std::size_t>(point.epoch) - 1, nullptr);
    points.push_back(&point);
  }
  return points;
}

}  // namespace

Cell spending_cell(const Spending& sums) {
  Fields fields;
  for (const CostKind kind : kCostKinds) {
    fields.emplace_back(std::string(word(kind)), sums[static_cast<std::size_t>(kind)]);
  }
  return fields;
}

std::string binary_curves(const ShownStudy& study) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const auto trials = study.history.trials();
  std::vector<std::uint32_t> offsets = {0};
  std::vector<float> values;
  std::vector<float> costs;
  for (const Trial& trial : trials) {
    for (const Measurement* point : by_epoch(trial.curve)) {
      values.push_back(point ? static_cast<float>(study.history.in_user_units(point->value)) : kNone);
      costs.push_back(point ? static_cast<float>(point->cost) : kNone);
    }
    offsets.push_back(static_cast<std::uint32_t>(values.size()));
  }
  std::string out = "BCV1";
  const auto append = [&](const void* data, std::size_t bytes) { out.append(static_cast<const char*>(data), bytes); };
  const auto count = static_cast<std::uint32_t>(trials.size());
  const auto seq = static_cast<std::uint64_t>(study.log.last());
  append(&count, sizeof count);
  append(&seq, sizeof seq);
  append(offsets.data(), offsets.size() * sizeof(std::uint32_t));
  append(values.data(), values.size() * sizeof(float));
  append(costs.data(), costs.size() * sizeof(float));
  return out;
}

Fields curves_record(const ShownStudy& study) {
  std::vector<Cell> curves;
  for (const Trial& trial : study.history.trials()) {
    std::vector<Cell> values;
    std::vector<Cell> costs;
    for (const Measurement* point : by_epoch(trial.curve)) {
      values.push_back(point ? Cell(study.history.in_user_units(point->value)) : Cell());
      costs.push_back(point ? Cell(point->cost) : Cell());
    }
    curves.emplace_back(Fields{{"trial", index(trial.id)}, {"values", values}, {"costs", costs}});
  }
  return {{"curves", std::move(curves)}};
}

Fields burndown_record(const ShownStudy& study, const HttpQuery& query) {
  const auto most = static_cast<std::size_t>(integer_in(query, "points", 600, 2, 10'000));
  std::vector<Cell> rows;
  for (const BurndownPoint& point : thinned(study.log.burndown(), most)) {
    rows.emplace_back(Fields{{"at", point.at}, {"total", point.total}, {"spent", spending_cell(point.spent)}});
  }
  return {{"points", std::move(rows)}};
}

Fields incumbent_record(const ShownStudy& study) {
  std::vector<Cell> steps;
  for (const SpentReport& report : study.log.improvements()) {
    steps.emplace_back(Fields{{"spent", report.spent},
                              {"at", report.at},
                              {"value", report.best},
                              {"trial", index(report.trial)},
                              {"epoch", report.measurement.epoch}});
  }
  std::vector<Cell> dots;
  for (const ReportDot& dot : thinned(study.log.dots(), kMostDots)) {
    dots.emplace_back(std::vector<Cell>{dot.spent, dot.value, index(dot.trial)});
  }
  return {{"steps", std::move(steps)}, {"dots", std::move(dots)}, {"reports", study.log.reports()}};
}

Fields timeline_record(const ShownStudy& study, const HttpQuery& query) {
  constexpr std::int64_t kLastSecond = 1LL << 40;
  const auto from = static_cast<double>(integer_in(query, "from", 0, 0, kLastSecond));
  const auto to = static_cast<double>(integer_in(query, "to", kLastSecond, 0, kLastSecond));
  std::vector<double> free_from;  // of each worker
  std::vector<Cell> rows;
  for (const WorkBar& bar : study.log.bars()) {
    const double end = bar.end.value_or(std::numeric_limits<double>::infinity());
    // A decision is written a moment before the end of what made room for it.
    std::size_t lane = 0;
    while (lane < free_from.size() && free_from[lane] > bar.begin + 0.05) ++lane;
    if (lane == free_from.size()) free_from.push_back(0.0);
    free_from[lane] = end;
    if (end < from || bar.begin > to) continue;
    rows.emplace_back(Fields{{"trial", index(bar.trial)},
                             {"until", bar.until},
                             {"begin", bar.begin},
                             {"end", bar.end ? Cell(*bar.end) : Cell()},
                             {"start_up", bar.start_up},
                             {"grace", bar.grace},
                             {"how", word(bar.how)},
                             {"lane", lane}});
  }
  return {{"bars", std::move(rows)}, {"workers", study.spec().workers}};
}

}  // namespace bapi

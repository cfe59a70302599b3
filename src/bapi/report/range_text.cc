#include "bapi/report/range_text.h"

#include <fmt/format.h>

#include "bapi/base/match.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

// As a share of the range: nearer than this is at its end.
constexpr double kAtEnd = 0.01;

// Of fewer values one in two lies at an end, which says nothing.
constexpr std::int64_t kFewValues = 4;

std::string range_text(double low, double high, Scale scale) {
  const char* how = scale == Scale::linear ? "" : scale == Scale::log ? ", log scale" : ", log scale towards the top";
  return fmt::format("{} to {}{}", short_number(low), short_number(high), how);
}

enum class End { none, lower, upper, near_lower, near_upper };

End end_of(bool lower, bool upper) { return lower ? End::lower : upper ? End::upper : End::none; }

End end_of(double unit) {
  constexpr double kRounding = 1e-9;
  if (const End end = end_of(unit <= kRounding, unit >= 1.0 - kRounding); end != End::none) return end;
  return unit <= kAtEnd ? End::near_lower : unit >= 1.0 - kAtEnd ? End::near_upper : End::none;
}

std::string place_text(End end) {
  return fmt::format("{} the {} end",
                     end == End::lower || end == End::upper ? "at" : "close to",
                     end == End::lower || end == End::near_lower ? "lower" : "upper");
}

End end_of(const Domain& domain, const Value& value, double unit) {
  return std::visit(Match{[&](const RealRange&) { return end_of(unit); },
                          [&](const IntRange& r) {
                            if (r.high - r.low + 1 < kFewValues) return End::none;
                            const auto* whole = std::get_if<std::int64_t>(&value);
                            return whole ? end_of(*whole == r.low, *whole == r.high) : End::none;
                          },
                          [&](const Choice& c) {
                            const bool many = std::ssize(c.options) >= kFewValues;
                            if (!many || c.order != Choice::Order::ordered) return End::none;
                            return end_of(value == c.options.front(), value == c.options.back());
                          },
                          [](const Constant&) { return End::none; }},
                    domain);
}

}  // namespace

std::string domain_text(const Domain& domain) {
  return std::visit(Match{[](const RealRange& r) { return range_text(r.low, r.high, r.scale); },
                          [](const IntRange& r) {
                            return range_text(static_cast<double>(r.low), static_cast<double>(r.high), r.scale) +
                                   ", whole numbers";
                          },
                          [](const Choice& c) {
                            std::string out = "one of";
                            for (const Value& option : c.options) out += fmt::format(" {}", to_text(option));
                            return out;
                          },
                          [](const Constant& c) { return fmt::format("always {}", to_text(c.value)); }},
                    domain);
}

std::string domain_text(const Param& param) {
  std::string text = domain_text(param.domain);
  for (const Condition& condition : param.when) {
    text += fmt::format(", if {} is", condition.param);
    for (const Value& value : condition.values) text += fmt::format(" {}", to_text(value));
  }
  return text;
}

std::vector<std::string> at_the_ends(const Space& space, const Config& config) {
  std::vector<std::string> sentences;
  const Vector unit = space.to_unit(config);
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < space.params().size(); ++i) {
    const Param& param = space.params()[i];
    const bool varies = !std::holds_alternative<Constant>(param.domain);
    const double coordinate = varies ? unit[next++] : 0.5;
    const Value& value = config.values[i];
    if (std::holds_alternative<std::monostate>(value)) continue;
    const End end = end_of(param.domain, value, coordinate);
    if (end == End::none) continue;
    sentences.push_back(fmt::format("{} lies {} of its range ({}): better values may lie beyond it",
                                    param.name,
                                    place_text(end),
                                    domain_text(param.domain)));
  }
  return sentences;
}

}  // namespace bapi

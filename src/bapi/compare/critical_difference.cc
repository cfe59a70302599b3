#include "bapi/compare/critical_difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/base/error.h"
#include "bapi/report/svg_elements.h"
#include "bapi/report/text.h"

namespace bapi {
namespace {

constexpr double kAxis = 62.0;    // y of the line of ranks
constexpr double kBarStep = 9.0;  // between bars
constexpr double kFont = 16.0;    // on a narrow phone two thirds of it are left, which can still be read
constexpr double kLetter = 0.52 * kFont;
constexpr double kLabelStep = 1.5 * kFont;
constexpr double kMostLabelWidth = 170.0;
constexpr double kKeyHeight = 2.0 * kLabelStep;
constexpr const char* kWilcoxon = "#D55E00";

class Diagram {
 public:
  Diagram(const Ranking& ranking, const FigureStyle& style, Surroundings surroundings)
      : ranking_(ranking), style_(style), surroundings_(surroundings) {
    std::size_t longest = 0;
    for (const PolicyStanding& s : ranking.standings) longest = std::max(longest, display_width(label(s)));
    margin_ = std::min(kMostLabelWidth, 10.0 + kLetter * static_cast<double>(longest));
    low_ = 1.0;
    high_ = static_cast<double>(ranking.standings.size());
    const std::size_t bars = ranking.nemenyi_groups.size() + ranking.wilcoxon_groups.size();
    first_label_ = kAxis + 12.0 + kBarStep * static_cast<double>(bars) + 14.0;
    height_ = first_label_ + kLabelStep * static_cast<double>((ranking.standings.size() + 1) / 2) + kKeyHeight;
  }

  std::string svg() {
    draw_axis();
    draw_critical_difference();
    double y = kAxis + 12.0;
    for (const auto& group : ranking_.nemenyi_groups) draw_group(group, y, style_.ink, 4.0);
    for (const auto& group : ranking_.wilcoxon_groups) draw_group(group, y, kWilcoxon, 4.0);
    for (std::size_t i = 0; i < ranking_.standings.size(); ++i) draw_policy(i);
    draw_key();
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img")"
        R"( font-family="{2}">{3}<title>Critical-difference diagram, budget {4}</title>)"
        "\n{5}</svg>\n",
        style_.width,
        height_,
        in_page() ? "inherit" : "system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif",
        in_page() ? "" : fmt::format(R"(<rect width="100%" height="100%" fill="{}"/>)", style_.paper),
        xml_escaped(ranking_.budget),
        body_);
  }

 private:
  bool in_page() const { return surroundings_ == Surroundings::page; }

  // A name that is too long is cut, its rank is not.
  static std::string label(const PolicyStanding& s) {
    const std::string rank = fmt::format(" {:.2f}", s.rank.mean);
    const auto room = static_cast<std::size_t>((kMostLabelWidth - 10.0) / kLetter);
    return clipped(s.policy, room - rank.size()) + rank;
  }

  double x_of(double rank) const { return margin_ + (rank - low_) / (high_ - low_) * (style_.width - 2.0 * margin_); }

  void line(double x1, double y1, double x2, double y2, const std::string& color, double width) {
    body_ += line_element(x1, y1, x2, y2, color, width);
  }

  void text(double x, double y, Anchor anchor, const std::string& color, const std::string& words) {
    body_ += text_element(x, y, anchor, kFont, color, words);
  }

  void draw_axis() {
    line(x_of(low_), kAxis, x_of(high_), kAxis, style_.ink, 1.2);
    const int every = high_ > 12.0 ? 2 : 1;
    for (int rank = 1; rank <= static_cast<int>(high_); rank += every) {
      line(x_of(rank), kAxis - 5.0, x_of(rank), kAxis, style_.ink, 1.2);
      text(x_of(rank), kAxis - 9.0, Anchor::middle, style_.muted, std::to_string(rank));
    }
  }

  void draw_critical_difference() {
    const double length = std::min(ranking_.critical_difference, high_ - low_);
    const double y = 16.0;
    line(x_of(low_), y, x_of(low_ + length), y, style_.ink, 2.0);
    line(x_of(low_), y - 4.0, x_of(low_), y + 4.0, style_.ink, 2.0);
    // Longer than the line of ranks: open at the right end.
    if (length == ranking_.critical_difference) {
      line(x_of(low_ + length), y - 4.0, x_of(low_ + length), y + 4.0, style_.ink, 2.0);
    }
    text(x_of(low_) - 6.0,
         y + 0.35 * kFont,
         Anchor::end,
         style_.ink,
         fmt::format("CD {:.2f}", ranking_.critical_difference));
  }

  void draw_group(std::pair<std::size_t, std::size_t> group, double& y, const std::string& color, double width) {
    constexpr double kOverhang = 4.0;
    line(x_of(ranking_.standings[group.first].rank.mean) - kOverhang,
         y,
         x_of(ranking_.standings[group.second].rank.mean) + kOverhang,
         y,
         color,
         width);
    y += kBarStep;
  }

  // The better half is named on the left, best on top; the worse half on the right, worst on top, so that no two lines
  // cross.
  void draw_policy(std::size_t i) {
    const PolicyStanding& standing = ranking_.standings[i];
    const std::size_t count = ranking_.standings.size();
    const bool left = i < (count + 1) / 2;
    const double y = first_label_ + kLabelStep * static_cast<double>(left ? i : count - 1 - i);
    const double x = x_of(standing.rank.mean);
    const double end = left ? margin_ : style_.width - margin_;
    line(x, kAxis, x, y, style_.muted, 1.0);
    line(x, y, end, y, style_.muted, 1.0);
    text(left ? end - 6.0 : end + 6.0,
         y + 0.35 * kFont,
         left ? Anchor::end : Anchor::start,
         style_.ink,
         label(standing));
  }

  void draw_key() {
    draw_key_line(height_ - kKeyHeight + kFont, style_.ink, "not significantly different (Nemenyi)");
    draw_key_line(height_ - kKeyHeight + kFont + kLabelStep, kWilcoxon, "not significantly different (Wilcoxon-Holm)");
  }

  void draw_key_line(double y, const std::string& color, const std::string& words) {
    const double x = 0.25 * style_.width;
    line(x - 28.0, y - 0.35 * kFont, x - 6.0, y - 0.35 * kFont, color, 4.0);
    text(x, y, Anchor::start, style_.muted, words);
  }

  const Ranking& ranking_;
  const FigureStyle& style_;
  Surroundings surroundings_;
  double margin_ = 0.0;
  double low_ = 0.0;
  double high_ = 0.0;
  double first_label_ = 0.0;
  double height_ = 0.0;
  std::string body_;
};

}  // namespace

std::string critical_difference_diagram(const Ranking& ranking, const FigureStyle& style, Surroundings surroundings) {
  check(ranking.standings.size() >= 2, "critical_difference_diagram: needs two policies");
  return Diagram(ranking, style, surroundings).svg();
}

}  // namespace bapi

#include "bapi/cli/comparison_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "bapi/report/text.h"

namespace bapi {
namespace {

constexpr std::size_t kBar = 24;

std::string bar(const ComparisonProgress& progress) {
  const double share = progress.total > 0 ? static_cast<double>(progress.done) / progress.total : 1.0;
  const auto full = static_cast<std::size_t>(share * kBar);
  std::string text;
  for (std::size_t i = 0; i < kBar; ++i) text += i < full ? "█" : "░";
  return text;
}

}  // namespace

std::string progress_text(const ComparisonProgress& progress) {
  const std::string text = fmt::format("{} of {} runs", progress.done, progress.total);
  if (progress.done == progress.total) return text + ", done";
  if (progress.seconds_left < 0.0) return text;
  return text + fmt::format(", {} left", progress.seconds_left < 1.0 ? "<1 s" : short_duration(progress.seconds_left));
}

std::string progress_line(const ComparisonProgress& progress, std::size_t columns) {
  std::string text = progress_text(progress);
  if (display_width(text) + kBar + 1 <= columns) text = bar(progress) + " " + text;
  const std::string last = fmt::format(" · {}", to_text(progress.last));
  if (display_width(text) + display_width(last) <= columns) text += last;
  return clipped(text, columns);
}

ComparisonView::~ComparisonView() {
  if (drawn_ && redraw_) write_error("\n");
}

void ComparisonView::update(const ComparisonProgress& progress) {
  const double now = clock_.now();
  const bool last = progress.done == progress.total;
  if (drawn_ && !last && now - last_ < (redraw_ ? 0.2 : 10.0)) return;
  last_ = now;
  drawn_ = true;
  if (!redraw_) {
    write_error("bapi: " + progress_text(progress) + "\n");
    return;
  }
  const std::string line = progress_line(progress, terminal_size().columns - 1);
  write_error("\r\x1b[K" + (style_.glyphs == Glyphs::unicode ? line : in_ascii(line)));
}

}  // namespace bapi

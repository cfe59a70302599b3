#include "bapi/cli/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bapi/control/allowance.h"
#include "bapi/report/describe.h"
#include "bapi/report/sparkline.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

constexpr double kSecondsPerFrame = 0.2;
constexpr std::size_t kMostRecentShown = 8;
constexpr std::size_t kFewestRecent = 3;

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kCyan = "\x1b[36m";

// Cuts text to the line first and paints it then, so that sequences never count as columns.
class Painter {
 public:
  Painter(TerminalSize size, TerminalStyle style) : width_(size.columns > 1 ? size.columns - 1 : 1), style_(style) {}

  std::size_t width() const { return width_; }

  // Parts are painted one by one until the line is full.
  struct Part {
    std::string text;
    const char* color = "";
  };
  std::string line(const std::vector<Part>& parts) const {
    std::string out;
    std::size_t left = width_;
    for (const Part& part : parts) {
      const std::string text = clipped(part.text, left);
      left -= display_width(text);
      const bool painted = style_.color == Color::on && *part.color != '\0';
      out += painted ? part.color + text + "\x1b[0m" : text;
      if (left == 0) break;
    }
    return style_.glyphs == Glyphs::ascii ? in_ascii(out) : out;
  }

 private:
  std::size_t width_;
  TerminalStyle style_;
};

std::string repeated(const char* glyph, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += glyph;
  return out;
}

// Columns of a painted line: colour sequences (ESC [ ... m) take none.
std::size_t visible_width(const std::string& line) {
  std::string bare;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size() - 1);
    } else {
      bare += line[i];
    }
  }
  return display_width(bare);
}

std::string title_line(const Painter& paint, const History& history, const LiveState& state) {
  const StudySpec& spec = history.spec();
  const std::string workers = spec.workers == 1 ? "1 worker" : fmt::format("{} workers", spec.workers);
  const TrialCounts counts = count_trials(history, Controller::present);
  std::string trials = fmt::format("{} trials", history.trials().size());
  if (counts.completed > 0) trials += fmt::format(", {} completed", counts.completed);
  if (counts.stopped > 0) trials += fmt::format(", {} stopped", counts.stopped);
  if (counts.failed > 0) trials += fmt::format(", {} failed", counts.failed);
  return paint.line(
      {{spec.name, kBold},
       {fmt::format("  {} · {} · {} · {}", spec.policy.name, workers, trials, short_duration(state.elapsed)), kDim}});
}

std::string budget_line(const Painter& paint, const History& history, const LiveState& state) {
  const BudgetSpec& unit = history.spec().budget;
  const Cost total = history.budget().total();
  const double share = std::clamp(state.spent / total, 0.0, 1.0);
  std::string text =
      fmt::format(" {:3.0f} %  {} of {}", 100.0 * share, short_cost(state.spent, unit), short_cost(total, unit));
  if (state.seconds_left) text += fmt::format(" · {} left", short_duration(*state.seconds_left));
  const std::size_t label = 8;
  const std::size_t room = paint.width() > label + 44 ? paint.width() - label - 44 : 4;
  const std::size_t bar = std::min<std::size_t>(room, 60);
  const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(bar)));
  return paint.line({{"budget  "}, {repeated("█", full), kCyan}, {repeated("░", bar - full), kDim}, {text}});
}

std::string best_line(const Painter& paint, const History& history) {
  const std::optional<Best> found = best(history);
  if (!found) return paint.line({{"best    "}, {"no report yet", kDim}});
  return paint.line({{"best    "},
                     {fmt::format("{} {}", history.spec().metric.name, short_number(found->value)), kGreen},
                     {fmt::format("  trial {}, epoch {}", index(found->trial), found->epoch)},
                     {"  " + to_text(Cell(fields_of(found->config, history.spec().space))), kDim}});
}

std::string trial_line(const Painter& paint, const History& history, const Trial& trial) {
  const std::string epochs = fmt::format("{}/{}", trial.curve.last_epoch(), trial.segment->until);
  std::string value = "starting";
  std::vector<double> values;
  for (const Measurement& point : trial.curve.points()) values.push_back(history.in_user_units(point.value));
  if (!values.empty()) value = short_number(values.back());
  const bool leads = history.incumbent() == trial.id;
  const std::size_t spark = std::min<std::size_t>(paint.width() >= 120 ? 40 : 20, paint.width() / 4);
  const std::string curve = sparkline(values, spark);
  return paint.line({{fmt::format("{:>6}  {:>9}  {:>9}  ", index(trial.id), epochs, value)},
                     {curve, leads ? kGreen : kCyan},
                     {repeated(" ", spark - display_width(curve) + 2)},
                     {to_text(Cell(fields_of(trial.config, history.spec().space))), kDim}});
}

std::vector<std::string> trial_lines(const Painter& paint, const History& history, std::size_t room) {
  std::vector<const Trial*> running;
  for (const Trial& trial : history.trials()) {
    if (trial.segment) running.push_back(&trial);
  }
  std::vector<std::string> lines;
  if (running.empty() || room < 2) return lines;
  lines.push_back(paint.line(
      {{fmt::format("{:>6}  {:>9}  {:>9}  curve", "trial", "epoch", history.spec().metric.name.substr(0, 9)), kDim}}));
  const bool all = running.size() <= room - 1;
  const std::size_t shown = all ? running.size() : room - 2;
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(trial_line(paint, history, *running[i]));
  if (!all) lines.push_back(paint.line({{fmt::format("  and {} more", running.size() - shown), kDim}}));
  return lines;
}

}  // namespace

std::vector<std::string> live_lines(const History& history,
                                    const LiveState& state,
                                    TerminalSize size,
                                    TerminalStyle style) {
  const Painter paint(size, style);
  std::vector<std::string> lines = {
      title_line(paint, history, state), budget_line(paint, history, state), best_line(paint, history)};
  // The last row stays free: a newline there would scroll the screen.
  const std::size_t most = size.rows > 1 ? size.rows - 1 : 1;
  const auto room = [&](std::size_t reserved) { return most - std::min(most, lines.size() + reserved); };
  const bool airy = size.rows >= 20;
  if (airy) lines.emplace_back();
  for (std::string& line : trial_lines(paint, history, room(kFewestRecent + 1))) lines.push_back(std::move(line));
  if (airy) lines.emplace_back();
  const std::size_t recent = std::min({state.recent.size(), room(0), kMostRecentShown});
  for (std::size_t i = state.recent.size() - recent; i < state.recent.size(); ++i) {
    lines.push_back(paint.line({{state.recent[i], kDim}}));
  }
  lines.resize(std::min(lines.size(), most));
  return lines;
}

LiveView::LiveView(const StudySpec& spec, const Clock& clock, TerminalStyle style)
    : spec_(spec), clock_(clock), style_(style), start_(clock.now()) {
  write_error("\x1b[?25l");
}

// The result that follows says everything once more.
LiveView::~LiveView() {
  draw({}, terminal_size().columns);
  write_error("\x1b[?25h");
}

void LiveView::remember(const Event& event) {
  const bool interesting =
      is_decision(event) || std::holds_alternative<TrialFailed>(event) || std::holds_alternative<ProgramEnded>(event);
  if (!interesting) return;
  const std::optional<TrialId> trial = trial_of(event);
  std::string text = describe(event, spec_);
  text = text.substr(0, text.find('\n'));
  recent_.push_back(fmt::format("{:>8}  {:<10} {}",
                                short_duration(clock_.now() - start_),
                                trial ? fmt::format("trial {}", index(*trial)) : "study",
                                text));
  if (recent_.size() > kMostRecentShown) recent_.pop_front();
}

std::optional<double> LiveView::seconds_left(const Session& session, const Evaluator& evaluator) const {
  Running running{.accrued = evaluator.accrued(), .rate = evaluator.accrual_rate()};
  const double elapsed = clock_.now() - start_;
  if (running.rate <= 0.0 && elapsed > 1.0) {
    running.rate = (session.history().budget().spent() - *spent_at_start_) / elapsed;
  }
  return bapi::seconds_left(session.history(), running, {.started_at = session.started_at(), .now = clock_.now()});
}

void LiveView::update(const RunUpdate& update) {
  if (update.event) {
    remember(*update.event);
    return;
  }
  const Session& session = update.session;
  const Evaluator& evaluator = update.evaluator;
  if (!spent_at_start_) spent_at_start_ = session.history().budget().spent();
  const double now = clock_.now();
  if (now - last_draw_ < kSecondsPerFrame && !session.history().finished()) return;
  last_draw_ = now;
  const TerminalSize size = terminal_size();
  const LiveState state{.elapsed = now - start_,
                        .spent = session.history().budget().spent() + evaluator.accrued(),
                        .seconds_left = seconds_left(session, evaluator),
                        .recent = std::vector<std::string>(recent_.begin(), recent_.end())};
  draw(live_lines(session.history(), state, size, style_), size.columns);
}

// One write per frame; every line is overwritten and its rest erased, never the whole screen. After a resize the
// terminal has wrapped the old lines anew, so the way back to the first of them is counted with the new width.
void LiveView::draw(const std::vector<std::string>& lines, std::size_t columns) {
  std::size_t rows = 0;
  for (const std::size_t width : drawn_) rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  std::string frame = "\x1b[?2026h\r";
  if (rows > 0) frame += fmt::format("\x1b[{}A", rows);
  if (columns != columns_) frame += "\x1b[J";  // wrapped lines would be joined again by the next resize
  columns_ = columns;
  drawn_.clear();
  for (const std::string& line : lines) {
    frame += line + "\x1b[K\n";
    drawn_.push_back(visible_width(line));
  }
  frame += "\x1b[J\x1b[?2026l";
  write_error(frame);
}

}  // namespace bapi

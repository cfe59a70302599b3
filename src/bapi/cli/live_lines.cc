#include "bapi/cli/live_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "bapi/base/utf8.h"
#include "bapi/process/failure_text.h"
#include "bapi/report/describe.h"
#include "bapi/report/sparkline.h"
#include "bapi/report/summary.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

constexpr std::size_t kLabel = 8;             // "budget  "
constexpr std::size_t kWide = 160;            // columns from which there are two panes
constexpr std::size_t kNarrow = 60;           // columns below which only the essential is shown
constexpr std::size_t kFewestDecisions = 3;   // that running trials leave room for
constexpr std::size_t kFewestConfig = 14;     // columns that can show something of a configuration
constexpr std::size_t kUsualDecisions = 8;    // more only where the screen is tall
constexpr std::size_t kMostLeaders = 10;      // rows of the leaderboard
constexpr std::size_t kMostFailureLines = 2;  // of one failure

constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kCyan = "\x1b[36m";
constexpr const char* kRed = "\x1b[31m";

using Lines = std::vector<std::string>;

// Paints the lines of one pane. Text is cut to the line first and painted then, so that sequences never count as
// columns.
class Painter {
 public:
  Painter(std::size_t width, TerminalStyle style) : width_(std::max<std::size_t>(1, width)), style_(style) {}

  std::size_t width() const { return width_; }
  TerminalStyle style() const { return style_; }

  // Text as it will be shown, so that its columns can be counted.
  std::string shown(std::string_view text) const {
    return style_.glyphs == Glyphs::ascii ? in_ascii(text) : std::string(text);
  }

  Lines shown(Lines texts) const {
    for (std::string& text : texts) text = shown(text);
    return texts;
  }

  // Parts are painted one by one until the line is full.
  struct Part {
    std::string text;
    const char* color = "";
  };
  std::string line(const std::vector<Part>& parts) const {
    std::string out;
    std::size_t left = width_;
    for (const Part& part : parts) {
      const std::string text = shown(clipped(shown(part.text), left));
      left -= display_width(text);
      const bool painted = style_.color == Color::on && *part.color != '\0' && !text.empty();
      out += painted ? part.color + text + "\x1b[0m" : text;
      if (left == 0) break;
    }
    return out;
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

std::size_t minus(std::size_t from, std::size_t amount) { return from - std::min(from, amount); }

void append(Lines& lines, Lines more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

Lines config_items(const Config& config, const Space& space) {
  Lines items;
  for (const auto& [name, value] : fields_of(config, space)) items.push_back(name + "=" + to_text(value));
  return items;
}

// As many whole parameters as there is room for: half a number would be another one.
std::string config_within(const Config& config, const Space& space, std::size_t width) {
  Lines items = config_items(config, space);
  Lines forms = {fmt::format("{}", fmt::join(items, " "))};
  for (; items.size() > 1; items.pop_back()) {
    forms.push_back(fmt::format("{} …", fmt::join(items.begin(), items.end() - 1, " ")));
  }
  return first_fitting(forms, width);
}

// ---- Progress

std::string title_line(const Painter& paint, const History& history, const LiveState& state) {
  const StudySpec& spec = history.spec();
  const TrialCounts counts = count_trials(history, Controller::present);
  std::vector<std::string> ends;
  if (counts.completed > 0) ends.push_back(fmt::format("{} completed", counts.completed));
  if (counts.stopped > 0) ends.push_back(fmt::format("{} stopped", counts.stopped));
  if (counts.failed > 0) ends.push_back(fmt::format("{} failed", counts.failed));
  const std::string trials = plural(std::ssize(history.trials()), "trial");
  const std::string details = ends.empty() ? trials : fmt::format("{}: {}", trials, fmt::join(ends, ", "));
  const std::string elapsed = short_duration(state.elapsed);
  const std::string workers = plural(spec.workers, "worker");
  const Lines forms = {fmt::format(" · policy {} · {} · {} · {}", spec.policy.name, workers, details, elapsed),
                       fmt::format(" · {} · {} · {}", workers, details, elapsed),
                       fmt::format(" · {} · {}", details, elapsed),
                       fmt::format(" · {} · {}", trials, elapsed),
                       fmt::format(" · {}", trials)};
  const std::size_t room = minus(paint.width(), display_width(spec.name));
  return paint.line({{spec.name, kBold}, {first_fitting(paint.shown(forms), room), kDim}});
}

std::size_t bar_width(std::size_t width) {
  constexpr std::size_t kText = 46;  // " 100 %  12h34m of 15h00m · done in 12h34m", and some more for other units
  if (width >= kLabel + kText + 16) return std::min<std::size_t>(60, width - kLabel - kText);
  return width >= 36 ? 6 : 0;
}

std::string budget_line(const Painter& paint, const History& history, const LiveState& state) {
  const Cost total = history.budget().total();
  const double share = std::clamp(state.spent / total, 0.0, 1.0);
  const std::string percent = fmt::format(" {:3.0f} %", 100.0 * share);
  const std::string amount = fmt::format("{}  {}", percent, spent_of(state.spent, total, history.spec().budget));
  Lines forms = {amount, percent};
  if (state.seconds_left) {
    forms.insert(forms.begin(), fmt::format("{} · done in {}", amount, short_duration(*state.seconds_left)));
  }
  const std::size_t bar = bar_width(paint.width());
  const auto full = static_cast<std::size_t>(std::lround(share * static_cast<double>(bar)));
  return paint.line({{"budget  "},
                     {repeated("█", full), kCyan},
                     {repeated("░", bar - full), kDim},
                     {first_fitting(paint.shown(forms), minus(paint.width(), kLabel + bar))}});
}

// The best value with its whole configuration, which takes as many lines as it needs, but no more than `most`.
Lines incumbent_lines(const Painter& paint, const History& history, std::size_t most) {
  const std::optional<Best> found = best(history);
  if (!found) return {paint.line({{"best    "}, {"no report yet", kDim}})};
  const StudySpec& spec = history.spec();
  const std::string value = fmt::format("{} {}", spec.metric.name, value_text(*found));
  const std::string trial = fmt::format(" · trial {}", index(found->trial));
  const Lines places = {fmt::format("{}, epoch {}/{}", trial, found->epoch, spec.epochs.max), trial, ""};
  const std::size_t room = minus(paint.width(), kLabel + display_width(value));
  const std::string where = first_fitting(paint.shown(places), room);
  const Lines items = paint.shown(config_items(found->config, spec.space));
  const std::string config = paint.shown(fmt::format("{}", fmt::join(items, " ")));
  const std::size_t used = kLabel + display_width(paint.shown(value + where)) + 3;
  if (used + display_width(config) <= paint.width()) {
    return {paint.line({{"best    "}, {value, kGreen}, {where}, {" · " + config, kDim}})};
  }
  Lines lines = {paint.line({{"best    "}, {value, kGreen}, {where}})};
  const std::string indent(std::min(kLabel, paint.width() / 4), ' ');
  for (const std::string& line : wrapped(items, " ", paint.width() - indent.size())) {
    lines.push_back(paint.line({{indent}, {line, kDim}}));
  }
  if (lines.size() > most) {
    lines.resize(std::max<std::size_t>(1, most - 1));
    lines.push_back(paint.line({{indent}, {"…", kDim}}));
  }
  return lines;
}

// ---- Running trials

std::string out_of_max(Epoch epochs, const StudySpec& spec) { return fmt::format("{}/{}", epochs, spec.epochs.max); }

// The columns of the table of running trials, as wide as they have to be.
struct TrialColumns {
  std::size_t epochs;
  std::size_t until;  // 0: not shown
  std::size_t value;
  std::size_t curve;
  std::size_t config;  // the remaining columns
};

std::size_t value_width(const StudySpec& spec) {
  return std::clamp<std::size_t>(display_width(spec.metric.name), 9, 14);
}

std::size_t epochs_width(const StudySpec& spec) {
  return std::max<std::size_t>(5, display_width(out_of_max(spec.epochs.max, spec)));
}

TrialColumns trial_columns(const StudySpec& spec, std::size_t width) {
  TrialColumns columns{.epochs = epochs_width(spec), .until = 0, .value = value_width(spec), .curve = 0, .config = 0};
  if (width >= kNarrow) columns.until = std::max<std::size_t>(5, fmt::format("{}", spec.epochs.max).size());
  const std::size_t used = 5 + 2 + columns.epochs + (columns.until > 0 ? columns.until + 2 : 0) + 2 + columns.value + 2;
  const std::size_t rest = minus(width, used);
  columns.curve = std::min<std::size_t>(rest, width >= 110 ? 32 : 20);
  columns.config = minus(rest, columns.curve + 2);
  if (columns.config < kFewestConfig) columns.config = 0;
  return columns;
}

std::string trial_row(const TrialColumns& columns,
                      std::string_view trial,
                      std::string_view epochs,
                      std::string_view until,
                      std::string_view value) {
  std::string row = fmt::format("{:>5}  {:>{}}  ", trial, epochs, columns.epochs);
  if (columns.until > 0) row += fmt::format("{:>{}}  ", until, columns.until);
  return row + fmt::format("{:>{}}  ", value, columns.value);
}

std::string trial_line(const Painter& paint, const TrialColumns& columns, const History& history, const Trial& trial) {
  const StudySpec& spec = history.spec();
  std::vector<double> values;
  for (const Measurement& point : trial.curve.points()) values.push_back(history.in_user_units(point.value));
  const std::string curve = sparkline(values, columns.curve);
  const std::size_t gap = columns.config > 0 ? columns.curve - display_width(curve) + 2 : 0;
  return paint.line({{trial_row(columns,
                                fmt::format("{}", index(trial.id)),
                                out_of_max(trial.curve.last_epoch(), spec),
                                fmt::format("{}", trial.segment->until),
                                values.empty() ? "starting" : short_number(values.back()))},
                     {curve, history.incumbent() == trial.id ? kGreen : kCyan},
                     {std::string(gap, ' ')},
                     {config_within(trial.config, spec.space, columns.config), kDim}});
}

Lines trial_lines(const Painter& paint, const History& history, std::size_t room) {
  std::vector<const Trial*> running;
  for (const Trial& trial : history.trials()) {
    if (trial.segment) running.push_back(&trial);
  }
  if (running.empty() || room < 2) return {};
  const StudySpec& spec = history.spec();
  const TrialColumns columns = trial_columns(spec, paint.width());
  std::string header = trial_row(columns, "trial", "epoch", "until", clipped(spec.metric.name, columns.value));
  header += fmt::format("{:<{}}", "curve", columns.curve);
  if (columns.config > 0) header += "  configuration";
  Lines lines = {paint.line({{header, kDim}})};
  const bool all = running.size() <= room - 1;
  const std::size_t shown = all ? running.size() : room - 2;
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(trial_line(paint, columns, history, *running[i]));
  if (!all) lines.push_back(paint.line({{fmt::format("  and {} more", running.size() - shown), kDim}}));
  return lines;
}

// ---- Decisions

// In the same words on every line: in full if each decision fits so, otherwise in few.
Lines decision_lines(const Painter& paint, const LiveState& state, std::size_t most) {
  if (state.recent.empty() || most < 2) return {};
  const bool timed = paint.width() >= kNarrow;
  const std::size_t room = minus(paint.width(), timed ? 16 : 7);
  const std::size_t count = std::min(state.recent.size(), most - 1);
  const std::span<const LiveEntry> shown = std::span(state.recent).last(count);
  const bool in_full = std::all_of(shown.begin(), shown.end(), [&](const LiveEntry& entry) {
    return entry.brief_forms.empty() || display_width(paint.shown(entry.forms.front())) <= room;
  });
  const auto fits = [&](const std::string& form) { return display_width(paint.shown(form)) <= room; };
  std::size_t level = 0;  // the brief form that all lines take, so that they use the same words
  for (const LiveEntry& entry : shown) {
    const auto first = std::find_if(entry.brief_forms.begin(), entry.brief_forms.end(), fits);
    level = std::max(level, static_cast<std::size_t>(first - entry.brief_forms.begin()));
  }
  Lines lines = {paint.line({{timed ? "   time  trial  decision" : "trial  decision", kDim}})};
  for (const LiveEntry& entry : shown) {
    std::string prefix = timed ? fmt::format("{:>7}  ", short_duration(entry.after)) : std::string();
    prefix += fmt::format("{:>5}  ", entry.trial ? fmt::format("{}", index(*entry.trial)) : "");
    Lines forms = entry.forms;
    if (!in_full && !entry.brief_forms.empty()) {
      const auto skipped = static_cast<std::ptrdiff_t>(std::min(level, entry.brief_forms.size() - 1));
      forms.assign(entry.brief_forms.begin() + skipped, entry.brief_forms.end());
    }
    lines.push_back(paint.line({{prefix, kDim}, {first_fitting(paint.shown(forms), room)}}));
  }
  return lines;
}

// ---- Leaderboard and failures

Lines leader_lines(const Painter& paint, const History& history, std::size_t most) {
  const std::vector<Standing> leaders = leaderboard(history);
  if (leaders.empty() || most < 2) return {};
  const std::size_t count = std::min({leaders.size(), most - 1, kMostLeaders});
  const StudySpec& spec = history.spec();
  const std::size_t epochs = epochs_width(spec);
  const std::size_t value = value_width(spec);
  const auto row = [&](std::string_view rank, std::string_view trial, std::string_view best, std::string_view trained) {
    return fmt::format("{:>4}  {:>5}  {:>{}}  {:>{}}  ", rank, trial, best, value, trained, epochs);
  };
  const std::string header = row("rank", "trial", clipped(spec.metric.name, value), "epoch");
  const std::size_t rest = minus(paint.width(), display_width(header) + 13);
  const std::size_t config = rest < kFewestConfig ? 0 : rest;
  Lines lines = {paint.line({{fmt::format("{}{:<11}  {}", header, "state", config > 0 ? "configuration" : ""), kDim}})};
  for (std::size_t i = 0; i < count; ++i) {
    const Trial& trial = history.trial(leaders[i].best);
    const std::string numbers = row(fmt::format("{}", i + 1),
                                    fmt::format("{}", index(trial.id)),
                                    mean_text(history.in_user_units(leaders[i].mean), leaders[i].standard_error),
                                    out_of_max(trial.curve.last_epoch(), spec));
    lines.push_back(paint.line({{numbers, i == 0 ? kGreen : ""},
                                {fmt::format("{:<11}  ", to_string(shown_state(trial, Controller::present)))},
                                {config_within(trial.config, spec.space, config), kDim}}));
  }
  return lines;
}

// The newest first. Only the first line of a message: the rest is what the program printed last.
Lines failure_lines(const Painter& paint, const History& history, std::size_t most) {
  std::vector<const Trial*> failed;
  for (const Trial& trial : history.trials()) {
    if (trial.state == TrialState::failed) failed.push_back(&trial);
  }
  if (failed.empty() || most < 2) return {};
  std::reverse(failed.begin(), failed.end());
  Lines lines = {paint.line({{fmt::format("{}", plural(std::ssize(failed), "failed trial")), kRed}})};
  for (const Trial* trial : failed) {
    const std::string message = visible_line(failure_headline(trial->failure));
    const std::string prefix = fmt::format("{:>5}  ", index(trial->id));
    const Epoch epoch = trial->curve.last_epoch();
    const std::string text = epoch == 0 ? message : fmt::format("after epoch {}: {}", epoch, message);
    Lines words = wrapped_words(paint.shown(text), std::max<std::size_t>(1, minus(paint.width(), prefix.size())));
    if (words.size() > kMostFailureLines) {
      words.resize(kMostFailureLines);
      words.back() += " …";
    }
    if (lines.size() + words.size() > most) break;
    for (std::size_t i = 0; i < words.size(); ++i) {
      lines.push_back(paint.line({{i == 0 ? prefix : std::string(prefix.size(), ' ')}, {words[i], kDim}}));
    }
  }
  return lines.size() > 1 ? lines : Lines();
}

// ---- Layout

// One block below the other with a blank line between, as far as there is room.
void stack(Lines& lines, Lines block, bool airy) {
  if (block.empty()) return;
  if (airy && !lines.empty()) lines.emplace_back();
  append(lines, std::move(block));
}

Lines main_pane(const Painter& paint, const History& history, const LiveState& state, std::size_t room, bool airy) {
  const std::size_t gap = airy ? 1 : 0;
  Lines lines = trial_lines(paint, history, minus(room, kFewestDecisions + 1 + gap));
  const std::size_t most = std::max(kUsualDecisions, room / 3) + 1;
  stack(lines, decision_lines(paint, state, std::min(most, minus(room, lines.size() + gap))), airy);
  return lines;
}

Lines side_pane(const Painter& paint, const History& history, std::size_t room) {
  Lines failures = failure_lines(paint, history, room / 2);
  Lines lines = leader_lines(paint, history, minus(room, failures.empty() ? 0 : failures.size() + 1));
  stack(lines, std::move(failures), true);
  return lines;
}

Lines side_by_side(const Lines& left, const Lines& right, std::size_t left_width, const Painter& paint) {
  if (right.empty()) return left;
  const std::string bar = paint.line({{" │ ", kDim}});
  Lines lines;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = i < left.size() ? left[i] : "";
    line += std::string(minus(left_width, visible_width(line)), ' ') + bar;
    lines.push_back(i < right.size() ? line + right[i] : line);
  }
  return lines;
}

}  // namespace

// Forms on one line each: a failure's message has the program's last output below its first line.
std::optional<LiveEntry> live_entry(const Event& event, const StudySpec& spec, double after) {
  const bool interesting = is_decision(event) || std::holds_alternative<TrialFailed>(event) ||
                           std::holds_alternative<TrialRetried>(event) || std::holds_alternative<ProgramEnded>(event);
  if (!interesting) return std::nullopt;
  const auto forms = [&](Wording wording) {
    Lines lines = description_forms(event, spec, wording);
    for (std::string& line : lines) line = visible_line(failure_headline(line));
    return lines;
  };
  LiveEntry entry{.after = after, .trial = trial_of(event), .forms = forms(Wording::full)};
  if (is_decision(event)) entry.brief_forms = forms(Wording::brief);
  return entry;
}

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

Lines live_lines(const History& history, const LiveState& state, TerminalSize size, TerminalStyle style) {
  const Painter paint(minus(size.columns, 1), style);
  // The last row stays free: a newline there would scroll the screen.
  const std::size_t most = std::max<std::size_t>(1, minus(size.rows, 1));
  const bool airy = size.rows >= 20;
  Lines lines = {title_line(paint, history, state), budget_line(paint, history, state)};
  append(lines, incumbent_lines(paint, history, std::max<std::size_t>(1, most / 2)));
  if (airy) lines.emplace_back();
  const std::size_t room = minus(most, lines.size());

  if (size.columns >= kWide) {
    const std::size_t left_width = paint.width() * 3 / 5;
    const Painter left(left_width, style);
    const Painter right(paint.width() - left_width - 3, style);
    append(
        lines,
        side_by_side(main_pane(left, history, state, room, airy), side_pane(right, history, room), left_width, paint));
  } else {
    Lines body = main_pane(paint, history, state, room, airy);
    const std::size_t rest = minus(room, body.size() + 1);
    if (rest >= kFewestDecisions + 1) stack(body, side_pane(paint, history, rest), true);
    append(lines, std::move(body));
  }
  lines.resize(std::min(lines.size(), most));
  return lines;
}

}  // namespace bapi

#include "bapi/cli/live_view.h"

#include "bapi/control/allowance.h"

namespace bapi {

namespace {

constexpr double kSecondsPerFrame = 0.2;
constexpr std::size_t kMostRemembered = 40;  // events: more than fit a screen

}  // namespace

LiveView::LiveView(const StudySpec& spec, const Clock& clock, TerminalStyle style)
    : spec_(spec), clock_(clock), style_(style), start_(clock.now()) {}

void LiveView::remember(const Event& event) {
  std::optional<LiveEntry> entry = live_entry(event, spec_, clock_.now() - start_);
  if (!entry) return;
  recent_.push_back(*std::move(entry));
  if (recent_.size() > kMostRemembered) recent_.pop_front();
}

std::optional<double> LiveView::seconds_left(const Session& session, const Evaluator& evaluator) const {
  Running running = evaluator.running();
  const double elapsed = clock_.now() - start_;
  if (running.rate <= 0.0 && elapsed > 1.0) {
    running.rate = (session.history().budget().spent() - *spent_at_start_) / elapsed;
  }
  return bapi::seconds_left(session.history(), running, {.started_at = session.started_at(), .now = clock_.calendar()});
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
                        .spent = session.history().budget().spent() + evaluator.running().accrued,
                        .seconds_left = seconds_left(session, evaluator),
                        .recent = std::vector<LiveEntry>(recent_.begin(), recent_.end())};
  screen_.draw(live_lines(session.history(), state, size, style_), size.columns);
}

}  // namespace bapi

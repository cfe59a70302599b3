#include "bapi/cli/plain_view.h"

#include <fmt/format.h>

#include "bapi/cli/terminal.h"
#include "bapi/process/failure_text.h"
#include "bapi/report/describe.h"
#include "bapi/report/text.h"

namespace bapi {

namespace {

// A message of several lines, all of them below the first.
std::string indented(std::string_view text, std::size_t columns) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += std::string(columns, ' ');
  }
  return out;
}

}  // namespace

void PlainView::update(const RunUpdate& update) {
  if (update.event) show(*update.event);
}

void PlainView::show(const Event& event) {
  if (const Measured* fact = std::get_if<Measured>(&event)) last_[fact->trial] = fact->measurement;
  if (charge_in(event)) return;

  std::string text = describe(event, spec_);
  if (const SegmentDone* done = std::get_if<SegmentDone>(&event)) {
    const Measurement& last = last_[done->trial];
    text = fmt::format("epoch {} done: {} {}", last.epoch, spec_.metric.name, short_number(last.value));
  }
  // What ends a run is told in full when it ends.
  if (std::holds_alternative<Interrupted>(event)) text = failure_headline(text);
  const std::optional<TrialId> trial = trial_of(event);
  const std::string who = trial ? fmt::format("trial {}", index(*trial)) : "study";
  const std::string prefix = fmt::format("{:>8}  {:<10} ", short_duration(clock_.now() - start_), who);
  write_error(prefix + indented(visible(text), prefix.size()) + "\n");
}

}  // namespace bapi

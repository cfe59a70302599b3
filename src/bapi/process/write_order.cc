#include "bapi/process/write_order.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace bapi {
namespace {

// A program may count its files.
std::string without_digits(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

}  // namespace

void WriteOrder::follow(const TrialDir& dir) {
  events_ = FileDescriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  count_ = saved_ = 0;
  overflowed_ = false;
  file_ = printed_ = {};
  written_.clear();
  usual_.clear();
  if (!events_) return;
  report_ = ::inotify_add_watch(events_.get(), dir.report().c_str(), IN_MODIFY | IN_DONT_FOLLOW);
  output_ = ::inotify_add_watch(events_.get(), dir.log().c_str(), IN_MODIFY | IN_DONT_FOLLOW);
  checkpoint_ = ::inotify_add_watch(events_.get(),
                                    dir.checkpoint().c_str(),
                                    IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
}

void WriteOrder::read() {
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  while (true) {
    const ssize_t got = events_ ? ::read(events_.get(), buffer.data(), buffer.size()) : -1;
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event = {};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const std::string name = without_digits(event.len > 0 ? buffer.data() + at + sizeof event : "");
      at += sizeof event + event.len;
      ++count_;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        overflowed_ = true;
        file_.last = printed_.last = count_;  // nothing is known of what was before
      }
      if (event.wd == report_) file_.saw(count_);
      if (event.wd == output_) printed_.saw(count_);
      if (event.wd == checkpoint_) {
        saved_ = count_;
        file_.saw_save(name);
        printed_.saw_save(name);
        written_.try_emplace(name, Written{.first = count_}).first->second.last = count_;
      }
    }
  }
}

void WriteOrder::Reports::saw(std::int64_t event) {
  last = event;
  saved_before_last = std::exchange(saved_since, false);
  if (count == 0 || (count == 1 && !between.empty())) ++count;
}

void WriteOrder::Reports::saw_save(const std::string& file) {
  saved_since = true;
  if (count == 0) before_first.insert(file);
  if (count == 1) between.insert(file);
}

bool WriteOrder::saved_last(Channel channel) const { return saved_ > reports_of(channel).last; }

bool WriteOrder::saved_after(Channel channel) const {
  const std::int64_t reported = reports_of(channel).last;
  return reported > 0 && saved_ > reported;
}

bool WriteOrder::surely_saves_first(Channel channel) const {
  const Reports& reports = reports_of(channel);
  return reports.count == 2 && std::ranges::includes(reports.before_first, reports.between);
}

void WriteOrder::mark_report(Channel channel) {
  const std::int64_t report = reports_of(channel).last;
  std::set<std::string> between;
  for (auto file = written_.begin(); file != written_.end();) {
    auto& [name, written] = *file;
    if (written.first <= report) between.insert(name);
    written.first = written.last;
    file = written.last <= report ? written_.erase(file) : std::next(file);
  }
  if (!between.empty()) usual_ = std::move(between);
}

bool WriteOrder::saved_as_usual() const {
  const auto is_written = [&](const std::string& name) { return written_.contains(name); };
  return !events_ || overflowed_ || std::ranges::all_of(usual_, is_written);
}

}  // namespace bapi

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "bapi/base/file.h"
#include "bapi/store/study_dir.h"

namespace bapi {

// In which order a program reports and saves, exactly, where the times of files are too coarse: the kernel's own
// sequence of events (inotify) of its report, its output and the top of its checkpoint directory.
class WriteOrder {
 public:
  enum class Channel { file, output };  // of its reports

  void follow(const TrialDir& dir);  // from now on, that of a new process
  void read();                       // what has happened meanwhile

  // Whether it is certain that nothing was written to the checkpoint directory.
  bool saved_nothing() const { return events_ && checkpoint_ >= 0 && saved_ == 0 && !overflowed_; }

  // Whether the program has written to its checkpoint since it last wrote to the channel. False if that is not known.
  bool saved_after(Channel channel) const;

  // Whether it has written to its checkpoint between the last two times that it wrote to the channel.
  bool saved_between(Channel channel) const { return reports_of(channel).saved_before_last; }

  // As saved_after, and also true of a process that has not reported yet.
  bool saved_last(Channel channel) const;

  // Whether the program is known to save first, however long anything takes: before its first report it has written to
  // all files that it writes between that one and the next. (Names that differ by a number are one file.) Nothing tells
  // as surely that it reports first: one that saves every second epoch before its report looks the same.
  bool surely_saves_first(Channel channel) const;

  // The last event of the channel was a report.
  void mark_report(Channel channel);

  // Whether it has written, since the last report, to every file that it wrote to between two reports before.
  // True if that is not known.
  bool saved_as_usual() const;

 private:
  FileDescriptor events_;
  int report_ = -1;
  int output_ = -1;
  int checkpoint_ = -1;
  // What was written to a channel, and to which files of the checkpoint around it.
  struct Reports {
    std::int64_t last = 0;           // number of the last event
    bool saved_since = false;        // it
    bool saved_before_last = false;  // and after the one before
    int count = 0;                   // of those with a save in between, up to 2
    std::set<std::string> before_first = {};
    std::set<std::string> between = {};

    void saw(std::int64_t event);
    void saw_save(const std::string& file);
  };
  const Reports& reports_of(Channel channel) const { return channel == Channel::file ? file_ : printed_; }

  struct Written {
    std::int64_t first = 0;  // numbers of events
    std::int64_t last = 0;
  };
  std::map<std::string, Written> written_;  // files of the checkpoint, since the last report but one
  std::set<std::string> usual_;             // between two reports, the last time that it saved

  std::int64_t count_ = 0;   // events so far
  std::int64_t saved_ = 0;   // number of the last one of the checkpoint
  bool overflowed_ = false;  // there were more events than the kernel keeps
  Reports file_;
  Reports printed_;
};

}  // namespace bapi

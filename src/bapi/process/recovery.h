#pragma once

#include <vector>

#include "bapi/control/process_account.h"
#include "bapi/store/study_dir.h"
#include "bapi/study/trial.h"

namespace bapi {

// Ends what is left of a process whose controller died, and gives the facts that it did not live to record: epochs that
// were reported after the last recorded one, and what the process cost up to its end.
//
// Everything is derived from the log and from files that do not change any more, so the same facts come out until they
// are recorded, and none afterwards. Which of the reports are in the log follows from the trial's last epoch and, for
// repeated epochs, from what the trial was charged since the process started. In seconds, the time since what was
// charged last is spread evenly over the reports that are new, none of them longer than the trial's longest epoch; the
// rest is an unfinished epoch. How long the process trained is what its file says: no clock and no time of a file is
// asked, and no more is ever charged.
//
// In lockstep, reports past the end of the trial's segment are no facts yet: they are kept (ahead.h).
enum class PastSegment { recorded, kept };
std::vector<Event> recover_process(const StudySpec& spec,
                                   const Trial& trial,
                                   const TrialDir& dir,
                                   PastSegment past = PastSegment::recorded);

// Ends what is left of a process whose worker and guardian both died, if it runs on this machine; the facts are
// nobody's. Leaves alone what somebody looks after.
void end_abandoned_process(const TrialDir& dir);

}  // namespace bapi

#include "bapi/studies/run_study.h"

#include "bapi/base/clock.h"
#include "bapi/control/failures.h"
#include "bapi/control/requests.h"
#include "bapi/policy/registry.h"
#include "bapi/process/gpus.h"
#include "bapi/process/hooks.h"
#include "bapi/process/process_evaluator.h"
#include "bapi/store/patient_store.h"
#include "bapi/studies/clean.h"
#include "bapi/studies/provenance.h"

namespace bapi {

namespace {

void tell(const RunOptions& options, const std::string& line) {
  if (options.tell) options.tell(line);
}

ProcessEvaluatorOptions::AtSegmentEnd at_segment_end(const StudySpec& spec) {
  using AtSegmentEnd = ProcessEvaluatorOptions::AtSegmentEnd;
  if (spec.in_lockstep()) return AtSegmentEnd::lockstep;
  return spec.budget.meter == Meter::accrued ? AtSegmentEnd::train_on : AtSegmentEnd::hold;
}

StudySummary drive(OpenedStudy study, Policy& policy, const RunOptions& options) {
  const SystemClock clock;
  StudySpec spec = study.store().spec();
  spec.cwd = working_directory(spec, study.dir).string();
  std::unique_ptr<ProcessEvaluator> evaluator;
  PatientStore log(study.store(),
                   {.remark = options.remark,
                    .pause = [&] { evaluator->pause(); },
                    .go_on = [&] { evaluator->go_on(); },
                    .interrupted = [&] { return options.interrupt && options.interrupt->load(); }});
  Session session(log, policy, clock, past_of(std::move(study.history), study.events));
  session.serve(study.dir);
  ProcessEvaluatorOptions process_options;
  if (spec.deadline) process_options.deadline = session.started_at() + *spec.deadline;
  process_options.at_segment_end = at_segment_end(spec);
  process_options.remark = options.remark;
  evaluator = std::make_unique<ProcessEvaluator>(spec, study.dir, clock, process_options);
  Cleaner cleaner(study.dir, spec.checkpoints);
  HookRunner hooks(spec, study.dir, clock, limits_from_environment());
  NoticeWriter notices(session.history());

  const auto show = [&](const Event* event) {
    if (options.listener) options.listener({.session = session, .evaluator = *evaluator, .event = event});
  };
  session.listen([&](const StoredEvent& stored) {
    study.events.push_back(stored);
    cleaner.saw(stored.event);
    for (const Notice& notice : notices.of(stored.event, session.history())) hooks.tell(notice, session.history());
    show(&stored.event);
  });
  show(nullptr);
  if (!session.history().trials().empty()) {
    // What ends a run is met again, by the programs that are started now.
    const Judgement recovered =
        judge(session.history(), evaluator->recover(session.history()), {.keep_going = options.keep_going});
    session.record(recovered.facts);
  }
  const RequestBox requests(study.dir.root());
  const TuneSummary summary = tune(session,
                                   *evaluator,
                                   clock,
                                   {.interrupt = options.interrupt,
                                    .observer =
                                        [&](const Session&, const Evaluator&) {
                                          cleaner.clean(session.history(), evaluator->live());
                                          hooks.look();
                                          show(nullptr);
                                        },
                                    .attend = [&] { return take_up(requests, session); },
                                    .keep_going = options.keep_going,
                                    .thought = TuneOptions::Thought::beside_the_loop});
  evaluator.reset();  // every model is kept by then
  cleaner.clean_up(session.history());
  hooks.finish();
  return {.end = summary.end,
          .reason = summary.reason,
          .study = {.dir = study.dir,
                    .events = std::move(study.events),
                    .history = session.history(),
                    .controller = Controller::absent}};
}

}  // namespace

StudySummary run_study(const StudySpec& spec, const StudyDir& dir, const RunOptions& options) {
  const std::unique_ptr<Policy> policy = make_policy(spec.policy);  // checks its options before anything is made
  StudySpec counted = with_workers_for_gpus(spec, Machine::this_one());
  gpus_of(counted, Machine::this_one());  // misses them before anything is made
  counted.provenance =
      provenance_of(options.version, counted.cwd.empty() ? options.home : std::filesystem::path(counted.cwd));
  return drive(open_or_create_study(
                   dir, counted, [&](const std::string& line) { tell(options, line); }, options.home),
               *policy,
               options);
}

StudySummary resume_study(const StudyDir& dir, const StudyChanges& changes, const RunOptions& options) {
  OpenedStudy study =
      reopen_study(dir, changes, options.version, [&](const std::string& line) { tell(options, line); });
  const std::unique_ptr<Policy> policy = make_policy(study.store().spec().policy);
  return drive(std::move(study), *policy, options);
}

}  // namespace bapi

#include "bapi/studies/run_study.h"

#include "bapi/base/clock.h"
#include "bapi/policy/registry.h"
#include "bapi/process/process_evaluator.h"

namespace bapi {

namespace {

void tell(const RunOptions& options, const std::string& line) {
  if (options.tell) options.tell(line);
}

StudySummary drive(OpenedStudy study, Policy& policy, const RunOptions& options) {
  study.store.write_under(study.lock);
  const SystemClock clock;
  const StudySpec& spec = study.store.spec();
  Session session(study.store, policy, clock, past_of(std::move(study.history), study.events));
  ProcessEvaluatorOptions process_options;
  if (spec.deadline) process_options.deadline = session.started_at() + *spec.deadline;
  if (spec.budget.meter != Meter::seconds) {
    process_options.at_segment_end = ProcessEvaluatorOptions::AtSegmentEnd::hold;
  }
  process_options.remark = options.remark;
  ProcessEvaluator evaluator(spec, study.dir, clock, process_options);

  const auto show = [&](const Event* event) {
    if (options.listener) options.listener({.session = session, .evaluator = evaluator, .event = event});
  };
  session.listen([&](const StoredEvent& stored) {
    study.events.push_back(stored);
    show(&stored.event);
  });
  show(nullptr);
  if (!session.history().trials().empty()) session.record(evaluator.recover(session.history()));
  const TuneSummary summary = tune(
      session, evaluator, clock, {.interrupt = options.interrupt, .observer = [&](const Session&, const Evaluator&) {
                                    show(nullptr);
                                  }});
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
  return drive(
      open_or_create_study(dir, spec, [&](const std::string& line) { tell(options, line); }), *policy, options);
}

StudySummary resume_study(const StudyDir& dir, const StudyChanges& changes, const RunOptions& options) {
  OpenedStudy study = reopen_study(dir, changes, [&](const std::string& line) { tell(options, line); });
  const std::unique_ptr<Policy> policy = make_policy(study.store.spec().policy);
  return drive(std::move(study), *policy, options);
}

}  // namespace bapi

#pragma once

#include "bapi/study/field.h"
#include "bapi/study/names.h"
#include "bapi/study/spec.h"

namespace bapi {

// The fields of a specification: one line for each, from which come the study file's keys and how they are read
// (spec_file.cc), the log's JSON (codec_spec.cc), the range that is allowed (spec.cc), what a study that exists lets be
// changed (studies/spec_change.cc) and what Python takes as a keyword.
//
// A new field is a member of StudySpec, a line here with `added()`, a row in docs/study-file.md and a test. Fields are
// read by their types; a struct is a mapping of its own fields unless spec_file.cc has a notation for it.

template <typename Visitor, Of<RealRange> T>
void fields(Visitor& visit, T& range) {
  visit("low", range.low);
  visit("high", range.high);
  visit("scale", range.scale);
}

template <typename Visitor, Of<IntRange> T>
void fields(Visitor& visit, T& range) {
  visit("low", range.low);
  visit("high", range.high);
  visit("scale", range.scale);
}

template <typename Visitor, Of<Choice> T>
void fields(Visitor& visit, T& choice) {
  visit("options", choice.options);
  visit("order", choice.order);
}

template <typename Visitor, Of<Condition> T>
void fields(Visitor& visit, T& condition) {
  visit("param", condition.param);
  visit("values", condition.values);
}

template <typename Visitor, Of<Param> T>
void fields(Visitor& visit, T& param) {
  visit("name", param.name);
  visit("domain", param.domain);
  visit("when", param.when);
}

template <typename Visitor, Of<MetricBounds> T>
void fields(Visitor& visit, T& bounds) {
  visit("low", bounds.low);
  visit("high", bounds.high);
}

template <typename Visitor, Of<Metric> T>
void fields(Visitor& visit, T& metric) {
  visit(Field("name").expects("the name of a metric").required("name: accuracy").obeys(metric_name_mistake),
        metric.name);
  visit(Field("goal").required("goal: maximize"), metric.goal);
  visit(Field("smooth").positive().added(), metric.smooth);
  visit(Field("of").added(), metric.of);
  visit(Field("bounds").may_change().added(), metric.bounds);
}

template <typename Visitor, Of<BudgetSpec> T>
void fields(Visitor& visit, T& budget) {
  visit("limit", budget.limit);
  visit("unit", budget.unit);
  visit("meter", budget.meter);
  visit("per_hour", budget.per_hour);
}

template <typename Visitor, Of<EpochRange> T>
void fields(Visitor& visit, T& epochs) {
  visit("min", epochs.min);
  visit("max", epochs.max);
}

template <typename Visitor, Of<PolicySpec> T>
void fields(Visitor& visit, T& policy) {
  visit("name", policy.name);
  visit("options", policy.options);
}

template <typename Visitor, Of<KeptCheckpoints> T>
void fields(Visitor& visit, T& kept) {
  visit(Field("keep").not_negative(), kept.best);
  visit("final", kept.final);
}

template <typename Visitor, Of<Gpus> T>
void fields(Visitor& visit, T& gpus) {
  visit("auto", gpus.automatic);
  visit("devices", gpus.devices);
  visit(Field("per_gpu").positive(), gpus.per_gpu);
  visit("set_workers", gpus.set_workers);
}

template <typename Visitor, Of<Hooks> T>
void fields(Visitor& visit, T& hooks) {
  visit("epoch", hooks.epoch);
  visit("best", hooks.best);
  visit("trial_end", hooks.trial_end);
  visit("study_end", hooks.study_end);
}

template <typename Visitor, Of<Provenance> T>
void fields(Visitor& visit, T& provenance) {
  visit("host", provenance.host);
  visit("system", provenance.system);
  visit("bapi", provenance.bapi);
  visit("python", provenance.python);
  visit("commit", provenance.commit);
  visit(Field("dirty").added(), provenance.dirty);
}

template <typename Visitor, Of<WarmStart> T>
void fields(Visitor& visit, T& source) {
  visit("study", source.study);
  visit("metric", source.metric);
}

template <typename Visitor, Of<EarlierTrial> T>
void fields(Visitor& visit, T& trial) {
  visit("config", trial.config);
  visit("epochs", trial.epochs);
  visit("values", trial.values);
  visit("ended", trial.ended);
}

template <typename Visitor, Of<EarlierStudy> T>
void fields(Visitor& visit, T& study) {
  visit("name", study.name);
  visit("place", study.place);
  visit("missing", study.missing);
  visit("left_out", study.left_out);
  visit("trials", study.trials);
}

template <typename Visitor, Of<StudySpec> T>
void fields(Visitor& visit, T& spec) {
  visit(Field("name").expects("a name"), spec.name);
  visit(Field("command").required("command: [python3, train.py, --lr, \"${lr}\"]").may_change().of_programs(),
        spec.command);
  visit(Field("metric")
            .required("metric: {name: accuracy, goal: maximize}")
            .expects("{name: accuracy, goal: maximize}")
            .may_be_corrected(),
        spec.metric);
  visit(Field("budget").required("budget: 30m"), spec.budget);
  visit(Field("deadline").in_seconds().positive().may_change(), spec.deadline);
  visit(Field("epochs").required("epochs: {min: 1, max: 100}"), spec.epochs);
  visit(Field("repeat").positive().may_change().added(), spec.repeat);
  visit(Field("workers").positive().may_change(), spec.workers);
  visit(Field("gpus").may_change().added(), spec.gpus);
  visit("seed", spec.seed);
  visit("policy", spec.policy);
  visit(Field("try").may_change().added(), spec.tries);
  visit(Field("from").added(), spec.from);
  visit(Field("space").in_file("parameters").required("parameters: {lr: {min: 1e-6, max: 1, log: true}}"), spec.space);
  visit(Field("pool").not_in_file(), spec.pool);
  visit(Field("checkpoint").may_be_corrected(), spec.checkpoint);
  visit(Field("checkpoints").may_change().added(), spec.checkpoints);
  visit(Field("grace").in_seconds().not_negative().may_change(), spec.grace);
  visit(Field("report_timeout").in_seconds().positive().may_change().of_programs(), spec.report_timeout);
  visit(Field("max_failures").positive().may_change(), spec.max_failures);
  visit(Field("env").may_change().of_programs(), spec.env);
  visit(Field("retries").not_negative().may_change().added(), spec.retries);
  visit(Field("cwd").expects("a directory").obeys(text_mistake).may_change().of_programs().added(), spec.cwd);
  visit(Field("cwd_from_study").not_in_file().may_change().added(), spec.cwd_from_study);
  visit(Field("hooks").may_change().of_programs().added(), spec.hooks);
  visit(Field("provenance").not_in_file().may_change().added(), spec.provenance);
  visit(Field("earlier").not_in_file().added(), spec.earlier);
  visit(Field("lockstep").may_change().of_programs().added(), spec.lockstep);
  visit(Field("lease").in_seconds().positive().may_change().added(), spec.lease);
}

}  // namespace bapi

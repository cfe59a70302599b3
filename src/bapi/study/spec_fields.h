#pragma once

#include "bapi/study/reason_fields.h"
#include "bapi/study/spec.h"

namespace bapi {

// The fields of a specification by name; see reason_fields.h.
//
// Every study that exists has all of these. A field that is added from now on is visited with `visit.if_set`, and its
// default is that of its type (`T{}`): specifications that were written before do not have it, and must still be read.

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

template <typename Visitor, Of<Metric> T>
void fields(Visitor& visit, T& metric) {
  visit("name", metric.name);
  visit("goal", metric.goal);
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

template <typename Visitor, Of<StudySpec> T>
void fields(Visitor& visit, T& spec) {
  visit("name", spec.name);
  visit("command", spec.command);
  visit("metric", spec.metric);
  visit("budget", spec.budget);
  visit("deadline", spec.deadline);
  visit("epochs", spec.epochs);
  visit("workers", spec.workers);
  visit("seed", spec.seed);
  visit("policy", spec.policy);
  visit("space", spec.space);
  visit("pool", spec.pool);
  visit("checkpoint", spec.checkpoint);
  visit("grace", spec.grace);
  visit("report_timeout", spec.report_timeout);
  visit("max_failures", spec.max_failures);
  visit("env", spec.env);
}

}  // namespace bapi

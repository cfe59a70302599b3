#pragma once

#include "bapi/study/assignment.h"
#include "bapi/study/field.h"
#include "bapi/study/reason.h"

namespace bapi {

// The fields of reasons and assignments by name, once for everything that writes or reads them: a visitor is called
// with each, `visit("name", field)`, or `visit.if_set("name", field)` where a default value means that there is nothing
// to say.

template <typename Visitor, Of<ScoreBasis> T>
void fields(Visitor& visit, T& basis) {
  visit("mean", basis.mean);
  visit("sd", basis.sd);
  visit("target", basis.target);
  visit("log_unit", basis.log_unit);
}

template <typename Visitor, Of<Forecast> T>
void fields(Visitor& visit, T& forecast) {
  visit("epoch", forecast.epoch);
  visit("mean", forecast.mean);
  visit.if_set("quantiles", forecast.quantiles);
  visit.if_set("reached", forecast.reached);
  visit.if_set("stays", forecast.stays);
  visit.if_set("basis", forecast.basis);
  visit.if_set("sd", forecast.sd);
  visit("shown_sd", forecast.shown_sd);
  visit("incumbent", forecast.incumbent);
  visit("target", forecast.target);
  visit.if_set("gap", forecast.gap);
  visit.if_set("flat", forecast.flat);
  visit.if_set("shortened", forecast.shortened);
}

template <typename Visitor, Of<Price> T>
void fields(Visitor& visit, T& price) {
  visit("until", price.until);
  visit("cost", price.cost);
  visit.if_set("log_sd", price.log_sd);
}

template <typename Visitor, Of<Score> T>
void fields(Visitor& visit, T& score) {
  visit("log", score.log);
  visit("unit", score.unit);
}

template <typename Visitor, Of<RunnerUp> T>
void fields(Visitor& visit, T& rival) {
  visit.if_set("trial", rival.trial);
  visit("log_score", rival.log_score);
}

template <typename Visitor, Of<PlanOutline> T>
void fields(Visitor& visit, T& plan) {
  visit("trials", plan.trials);
  visit("left", plan.left);
}

template <typename Visitor, Of<RungStanding> T>
void fields(Visitor& visit, T& standing) {
  visit.if_set("bracket", standing.bracket);
  visit("rung", standing.rung);
  visit.if_set("places", standing.places);
  visit.if_set("rank", standing.rank);
  visit.if_set("reached", standing.reached);
  visit.if_set("promoted", standing.promoted);
  visit.if_set("epoch", standing.epoch);
  visit.if_set("value", standing.value);
}

template <typename Visitor, Of<BlockCheck> T>
void fields(Visitor& visit, T& check) {
  visit("trial", check.trial);
  visit("outcome", check.outcome);
  visit("stop", check.stop);
  visit("mean", check.mean);
  visit("sd", check.sd);
  visit("sd_now", check.sd_now);
  visit("incumbent", check.incumbent);
  visit("kappa", check.kappa);
}

template <typename Visitor, Of<Note> T>
void fields(Visitor& visit, T& note) {
  visit("kind", note.kind);
  visit.if_set("name", note.name);
  visit("value", note.value);
}

template <typename Visitor, Of<WishOutline> T>
void fields(Visitor& visit, T& wish) {
  visit("number", wish.number);
  visit("by", wish.by);
  visit("instead_of", wish.instead_of);
  visit.if_set("left_open", wish.left_open);
}

template <typename Visitor, Of<RepeatOutline> T>
void fields(Visitor& visit, T& repeat) {
  visit("of", repeat.of);
  visit("number", repeat.number);
  visit("total", repeat.total);
}

template <typename Visitor, Of<Reason> T>
void fields(Visitor& visit, T& reason) {
  visit("rule", reason.rule);
  visit.if_set("own_words", reason.own_words);
  visit.if_set("forecast", reason.forecast);
  visit.if_set("price", reason.price);
  visit.if_set("score", reason.score);
  visit.if_set("rival", reason.rival);
  visit.if_set("candidates", reason.candidates);
  visit.if_set("plan", reason.plan);
  visit.if_set("standing", reason.standing);
  visit.if_set("check", reason.check);
  visit.if_set("wish", reason.wish);
  visit.if_set("repeat", reason.repeat);
  visit.if_set("shortened_from", reason.shortened_from);
  visit.if_set("notes", reason.notes);
}

template <typename Visitor, Of<BracketPlace> T>
void fields(Visitor& visit, T& place) {
  visit("bracket", place.bracket);
  visit("rung", place.rung);
}

template <typename Visitor, Of<BudgetSchedule> T>
void fields(Visitor& visit, T& schedule) {
  visit("planned", schedule.planned);
  visit("smallest", schedule.smallest);
}

template <typename Visitor, Of<RepeatPlace> T>
void fields(Visitor& visit, T& repeat) {
  visit("of", repeat.of);
  visit("number", repeat.number);
}

template <typename Visitor, Of<TrialAssignment> T>
void fields(Visitor& visit, T& assignment) {
  visit.if_set("initial_run", assignment.initial_run);
  visit.if_set("place", assignment.place);
  visit.if_set("schedule", assignment.schedule);
  visit.if_set("wish", assignment.wish);
  visit.if_set("repeat", assignment.repeat);
}

}  // namespace bapi

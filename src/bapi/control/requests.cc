#include "bapi/control/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bapi/base/error.h"
#include "bapi/base/utf8.h"
#include "bapi/control/session.h"
#include "bapi/study/user_request.h"

namespace bapi {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRefused = ".refused";
constexpr std::size_t kLargestRequest = 64 * 1024;
constexpr double kKept = 3600.0;  // seconds

const Json& member(const Json& request, const char* name) {
  const auto found = request.find(name);
  require(found != request.end(), fmt::format("the request has no \"{}\"", name));
  return *found;
}

RequestAction action_of(const Json& request) {
  const Json& action = member(request, "action");
  require(action.is_string(), "\"action\" is not a string");
  const auto found = value_named<RequestAction>(action.get<std::string>());
  require(found.has_value(),
          fmt::format("\"action\" is \"{}\"; expected pause, budget, stop_trial or note",
                      visible_line(clipped(action.get<std::string>(), 40))));
  return *found;
}

}  // namespace

std::string encode(const StudyRequest& request) {
  Json json = {{"action", word(request.action)}};
  if (request.action == RequestAction::budget) json["total"] = request.total;
  if (request.action == RequestAction::stop_trial) json["trial"] = index(request.trial);
  if (request.action == RequestAction::note) json["text"] = well_formed(request.text);
  return json.dump() + "\n";
}

StudyRequest decode_request(std::string_view text, const std::function<Cost(const std::string&)>& total_of) {
  const Json json = Json::parse(text, nullptr, false);
  require(json.is_object(), "the request is not a JSON object");
  StudyRequest request{.action = action_of(json)};
  if (request.action == RequestAction::budget) {
    const Json& total = member(json, "total");
    const bool in_words = total_of && total.is_string();
    require(in_words || total.is_number(), "\"total\" is not a number");
    request.total = in_words ? total_of(total.get<std::string>()) : total.get<double>();
  }
  if (request.action == RequestAction::stop_trial) {
    const Json& trial = member(json, "trial");
    require(trial.is_number_integer(), "\"trial\" is not the number of a trial");
    request.trial = TrialId{trial.get<std::int64_t>()};
  }
  if (request.action == RequestAction::note) {
    const Json& note = member(json, "text");
    require(note.is_string(), "\"text\" is not a string");
    request.text = note.get<std::string>();
  }
  return request;
}

std::optional<std::string> objection(const StudyRequest& request, const History& history) {
  switch (request.action) {
    case RequestAction::pause:
      return std::nullopt;
    case RequestAction::budget:
      if (!std::isfinite(request.total) || request.total <= 0.0) return "the total is not a positive number";
      if (request.total < history.budget().spent()) {
        return fmt::format("the total {} is less than the {} already spent", request.total, history.budget().spent());
      }
      return std::nullopt;
    case RequestAction::stop_trial:
      return history.objection(stop_event(request.trial));
    case RequestAction::note:
      if (request.text.empty()) return "the note is empty";
      if (request.text.size() > kLongestNote) return fmt::format("the note is longer than {} bytes", kLongestNote);
      return std::nullopt;
  }
  throw LogicError("objection: unknown request");
}

std::vector<Event> facts_of(const StudyRequest& request) {
  if (request.action == RequestAction::budget) return {BudgetChanged{.total = request.total}};
  if (request.action == RequestAction::note) return {note_event(request.text)};
  return {};
}

RequestBox::RequestBox(const std::filesystem::path& study)
    : letters_(std::make_unique<FolderMailbox>(study / "requests", kLargestRequest)),
      refusals_(std::make_unique<FolderMailbox>(study / "requests", kLargestRequest, kRefused)) {}

std::string RequestBox::post(const StudyRequest& request, double now) const {
  std::string id = Mailbox::new_id(now);
  letters_->put(id, encode(request));
  return id;
}

std::vector<RequestBox::Waiting> RequestBox::waiting() const {
  std::vector<Waiting> found;
  for (const std::string& id : letters_->ids()) {
    Waiting& one = found.emplace_back(Waiting{.id = id});
    try {
      const std::optional<std::string> text = letters_->read(id);
      require(text.has_value(), "the request is not a regular file, or it is too large");
      one.request = decode_request(*text);
    } catch (const InvalidInput& error) {
      one.trouble = error.what();
    }
  }
  return found;
}

void RequestBox::settle(const std::string& id, const std::optional<std::string>& refusal) const {
  refusals_->remove_older_than(kKept);
  if (refusal) refusals_->put(id, *refusal);
  letters_->remove(id);
}

RequestBox::Answer RequestBox::answer(const std::string& id) const {
  if (const auto reason = refusals_->read(id)) {
    return {.standing = Standing::refused, .reason = well_formed(*reason)};
  }
  return {.standing = letters_->has(id) ? Standing::waiting : Standing::done};
}

Attended take_up(const RequestBox& box, Session& session) {
  Attended attended;
  for (const RequestBox::Waiting& waiting : box.waiting()) {
    std::optional<std::string> refusal;
    if (!waiting.request) {
      refusal = waiting.trouble;
    } else if (session.history().finished()) {
      refusal = "the study has ended";
    } else {
      refusal = objection(*waiting.request, session.history());
    }
    if (!refusal && waiting.request->action == RequestAction::stop_trial) {
      session.stop(waiting.request->trial);
      attended.stopped.push_back(waiting.request->trial);
    } else if (!refusal) {
      session.record(facts_of(*waiting.request));
      attended.pause = attended.pause || waiting.request->action == RequestAction::pause;
    }
    box.settle(waiting.id, refusal);
  }
  return attended;
}

}  // namespace bapi

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bapi/base/names.h"
#include "bapi/base/units.h"
#include "bapi/store/mailbox.h"
#include "bapi/study/history.h"

namespace bapi {

class Session;

// What a user asks of a study that runs: letters (store/mailbox.h), of a study in a directory those in
// NAME.bapi/requests/, which the controller takes up, checks, grants or refuses, and removes. Unlike wishes
// (store/wish_box.h) they are answered.

enum class RequestAction {
  pause,       // ends the run as Ctrl-C does
  budget,      // sets another total
  stop_trial,  // gives a trial up, running or paused
  note,        // adds a remark to the log
};
template <>
inline constexpr auto names<RequestAction> = NameTable{Name{RequestAction::pause, "pause"},
                                                       Name{RequestAction::budget, "budget"},
                                                       Name{RequestAction::stop_trial, "stop_trial"},
                                                       Name{RequestAction::note, "note"}};

struct StudyRequest {
  RequestAction action = RequestAction::note;
  Cost total = 0.0;       // of `budget`
  TrialId trial{};        // of `stop_trial`
  std::string text = {};  // of `note`
  bool operator==(const StudyRequest&) const = default;
};

inline constexpr std::size_t kLongestNote = 1000;  // bytes

std::string encode(const StudyRequest& request);

// InvalidInput unless `text` is a request. A total may be a text, as people write one ("2h"), if `total_of` reads it.
StudyRequest decode_request(std::string_view text, const std::function<Cost(const std::string&)>& total_of = {});

// Why a request cannot be granted as the study stands; nullopt if it can.
std::optional<std::string> objection(const StudyRequest& request, const History& history);

// The facts that a request adds to the log: none for a pause, and none for a stop, which is a decision.
std::vector<Event> facts_of(const StudyRequest& request);

// The requests of one study.
class RequestBox {
 public:
  explicit RequestBox(const std::filesystem::path& study);  // in a directory
  RequestBox(std::unique_ptr<Mailbox> letters, std::unique_ptr<Mailbox> refusals)
      : letters_(std::move(letters)), refusals_(std::move(refusals)) {}

  // Leaves a request; returns what it is called. Names sort in the order of `now`. Throws StoreError.
  std::string post(const StudyRequest& request, double now) const;

  struct Waiting {
    std::string id;
    std::optional<StudyRequest> request = {};
    std::string trouble = {};  // why it cannot be read
  };
  std::vector<Waiting> waiting() const;  // the oldest first

  // The request was granted, or refused for a reason that is kept for an hour.
  void settle(const std::string& id, const std::optional<std::string>& refusal) const;

  enum class Standing { waiting, done, refused };
  struct Answer {
    Standing standing = Standing::done;
    std::string reason = {};
  };
  Answer answer(const std::string& id) const;

 private:
  std::unique_ptr<Mailbox> letters_;
  std::unique_ptr<Mailbox> refusals_;
};

template <>
inline constexpr auto names<RequestBox::Standing> = NameTable{Name{RequestBox::Standing::waiting, "waiting"},
                                                              Name{RequestBox::Standing::done, "done"},
                                                              Name{RequestBox::Standing::refused, "refused"}};

// What a controller has to do besides, once the log says what was granted.
struct Attended {
  bool pause = false;                 // the run ends as after Ctrl-C
  std::vector<TrialId> stopped = {};  // trials that are not to be trained any further
};

// What the controller does with all that wait: writes what they come to through `session`.
Attended take_up(const RequestBox& box, Session& session);

}  // namespace bapi

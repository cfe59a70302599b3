#include "bapi/study/user_request.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "bapi/base/number.h"

namespace bapi {
namespace {

constexpr std::string_view kOtherName = "other name of trial ";

std::optional<TrialId> trial_with_other_name(std::string_view field) {
  if (!field.starts_with(kOtherName)) return std::nullopt;
  field.remove_prefix(kOtherName.size());
  const auto number = number_in<std::int64_t>(field);
  return number ? std::optional(TrialId{*number}) : std::nullopt;
}

}  // namespace

Event note_event(const std::string& text) {
  return SettingsChanged{.changes = {{.field = "note", .before = "", .after = text}}};
}

Event other_name_event(TrialId trial, const std::string& name) {
  return SettingsChanged{
      .changes = {{.field = fmt::format("{}{}", kOtherName, index(trial)), .before = "", .after = name}}};
}

std::map<std::string, TrialId> other_names(std::span<const StoredEvent> events) {
  std::map<TrialId, std::string> last;
  for (const StoredEvent& stored : events) {
    const auto* settings = std::get_if<SettingsChanged>(&stored.event);
    if (!settings) continue;
    for (const SettingChange& change : settings->changes) {
      if (const auto trial = trial_with_other_name(change.field)) last[*trial] = change.after;
    }
  }
  std::map<std::string, TrialId> names;
  for (const auto& [trial, name] : last) names[name] = trial;
  return names;
}

Event stop_event(TrialId trial) { return TrialStopped{.trial = trial, .why = {.rule = Rule::asked_for_by_user}}; }

}  // namespace bapi

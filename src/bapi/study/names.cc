#include "bapi/study/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bapi/base/utf8.h"
#include "bapi/study/macros.h"

namespace bapi {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";

// A file name has at most 255 bytes, and the directory is NAME.bapi.
constexpr std::size_t kLongestStudyName = 250;

constexpr std::array<std::string_view, 3> kReportKeys = {"epoch", "cost", "ready"};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

template <typename Allowed>
std::optional<std::string> control_mistake(std::string_view text, Allowed allowed) {
  const auto found = std::find_if(text.begin(), text.end(), [&](char c) { return is_control(c) && !allowed(c); });
  if (found == text.end()) return std::nullopt;
  return fmt::format("found the control character {} in '{}', expected text",
                     visible_line(std::string_view(&*found, 1)),
                     clipped(visible_line(text), 60));
}

}  // namespace

std::optional<std::string> study_name_mistake(std::string_view name) {
  if (name.size() > kLongestStudyName) {
    return fmt::format(
        "found {} characters, expected at most {}: the name becomes a directory", name.size(), kLongestStudyName);
  }
  const bool plain = !name.empty() && name.front() != '.' && name.front() != '-' &&
                     name.find_first_not_of(kNameCharacters) == std::string_view::npos;
  if (plain) return std::nullopt;
  return fmt::format("invalid name '{}': use letters, digits, '-', '_' and '.', beginning with a letter or digit",
                     visible_line(name));
}

std::optional<std::string> param_name_mistake(std::string_view name) {
  const bool plain = !name.empty() && kLetters.find(name.front()) != std::string_view::npos &&
                     name.find_first_not_of(kNameCharacters) == std::string_view::npos;
  if (!plain) {
    return fmt::format("invalid name '{}': use letters, digits, '-', '_' and '.', beginning with a letter",
                       visible_line(name));
  }
  if (value_named<Macro>(name)) {
    return fmt::format("the name '{0}' is taken by the macro ${{{0}}}", name);
  }
  return std::nullopt;
}

std::optional<std::string> metric_name_mistake(std::string_view name) {
  if (std::find(kReportKeys.begin(), kReportKeys.end(), name) != kReportKeys.end()) {
    return fmt::format("the name '{}' has a meaning of its own in every report; expected another name", name);
  }
  return control_mistake(name, [](char) { return false; });
}

std::optional<std::string> variable_name_mistake(std::string_view name) {
  if (name.empty() || name.find('=') != std::string_view::npos) return "expected a name without '='";
  if (name.starts_with("BAPI_")) return fmt::format("{} is set by bapi itself", name);
  return control_mistake(name, [](char) { return false; });
}

std::optional<std::string> gpu_name_mistake(std::string_view name) {
  const bool plain = !name.empty() && name.front() != '-' &&
                     name.find_first_not_of(std::string(kNameCharacters) + "/:") == std::string_view::npos;
  if (plain) return std::nullopt;
  return fmt::format("found '{}', expected the number of a GPU, or its UUID (GPU-8f2c41d0-...)", visible_line(name));
}

std::optional<std::string> text_mistake(std::string_view text) {
  return control_mistake(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
}

}  // namespace bapi

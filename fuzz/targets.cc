#include "fuzz/targets.h"

#include "bapi/base/error.h"

namespace bapi::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"study_file", read_study_file},
    {"inline_command", read_inline_command},
    {"quantity", read_quantity},
    {"spec_json", read_spec_json},
    {"event_json", read_event_json},
    {"report_line", read_report_line},
    {"process_file", read_process_file},
    {"csv_table", read_csv_table},
    {"lct1_data", read_lct1_data},
    {"lct1_json", read_lct1_json},
    {"surrogate", read_surrogate},
    {"comparison_log", read_comparison_log},
    {"warm_start", read_warm_start},
    {"sweep", read_sweep},
    {"event_row", read_event_row},
    {"report_file", read_report_file},
    {"script", read_script},
    {"snapshot", read_snapshot},
    {"request", read_request},
    {"letter", read_letter},
    {"order", read_order},
    {"delivery", read_delivery},
    {"database_url", read_database_url},
    {"http_headers", read_http_headers},
    {"http_query", read_http_query},
    {"shown_text", show_text},
    {"replay", replay_events},
    {"session", drive_session},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

void feed(const Target& target, std::string_view input) {
  try {
    target.read(input);
  } catch (const Error&) {
  }
}

}  // namespace bapi::fuzz

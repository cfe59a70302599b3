#pragma once

#include <span>
#include <string_view>

namespace bapi::fuzz {

// A reader of ours that gets bytes from outside. InvalidInput and StoreError are its answers to bad ones; any other
// exception, a memory error or undefined behaviour is a bug.
struct Target {
  std::string_view name;  // of the folder in fuzz/corpus as well
  void (*read)(std::string_view input);
};

std::span<const Target> targets();

// Gives `input` to the target. Lets through only what is a bug.
void feed(const Target& target, std::string_view input);

// The readers, by the module they belong to.
void read_study_file(std::string_view input);
void read_inline_command(std::string_view input);
void read_quantity(std::string_view input);
void read_spec_json(std::string_view input);
void read_event_json(std::string_view input);
void read_report_line(std::string_view input);
void read_process_file(std::string_view input);
void read_csv_table(std::string_view input);
void read_lct1_data(std::string_view input);
void read_lct1_json(std::string_view input);
void read_surrogate(std::string_view input);
void read_comparison_log(std::string_view input);
void read_warm_start(std::string_view input);
void read_sweep(std::string_view input);
void read_event_row(std::string_view input);
void read_report_file(std::string_view input);
void read_script(std::string_view input);
void read_snapshot(std::string_view input);
void read_request(std::string_view input);
void read_letter(std::string_view input);
void read_order(std::string_view input);
void read_delivery(std::string_view input);
void read_database_url(std::string_view input);
void read_http_headers(std::string_view input);
void read_http_query(std::string_view input);
void show_text(std::string_view input);

// What an input is turned into: events, applied to a history one after the other; a controller's life.
void replay_events(std::string_view input);
void drive_session(std::string_view input);

}  // namespace bapi::fuzz

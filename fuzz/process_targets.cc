#include <stdlib.h>

#include <filesystem>

#include "bapi/base/file.h"
#include "bapi/control/report_parser.h"
#include "bapi/process/process_file.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {
namespace {

// A directory for the life of the program.
const std::filesystem::path& scratch() {
  struct Scratch {
    std::filesystem::path path;
    Scratch() {
      std::string name = (std::filesystem::temp_directory_path() / "bapi-fuzz-XXXXXX").string();
      path = ::mkdtemp(name.data());
    }
    ~Scratch() { std::filesystem::remove_all(path); }
  };
  static const Scratch directory;
  return directory.path;
}

}  // namespace

void read_report_line(std::string_view input) {
  parse_report(input, "accuracy");
  if (const auto tagged = tagged_report(input)) parse_report(*tagged, "accuracy");
}

// What is read is written as it was read.
void read_process_file(std::string_view input) {
  const std::filesystem::path file = scratch() / "process";
  replace_file(file, input);
  if (const auto content = bapi::read_process_file(file)) write_process_file(file, *content);
}

}  // namespace bapi::fuzz

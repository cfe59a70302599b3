#include "bapi/process/process_file.h"

#include <gtest/gtest.h>

#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

TEST(ProcessFile, ComesBackToTheLastBitAndATornOneDoesNot) {
  const TempDir scratch;
  const std::filesystem::path path = scratch.path() / "process";
  const ProcessFile file = {.identity = {.pid = 123, .start_ticks = 456789, .boot = "3f-00"},
                            .started_at = 1700000000.1234567,
                            .spent_before = 0.1 + 0.2,
                            .recorded = 3,
                            .from = 3,
                            .until = 9,
                            .max_epoch = 27,
                            .report_offset = 5'000'000'000,
                            .log_offset = 17};
  write_process_file(path, file);
  EXPECT_EQ(read_process_file(path), file);
  const std::string text = text_of(path);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    std::ofstream(path, std::ios::trunc) << text.substr(0, length);
    EXPECT_FALSE(read_process_file(path).has_value()) << length;
  }
  EXPECT_FALSE(read_process_file(scratch.path() / "none").has_value());
}

}  // namespace
}  // namespace bapi

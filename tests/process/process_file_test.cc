#include "bapi/process/process_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/process/trainer_study.h"

namespace bapi {
namespace {

TEST(ProcessFile, ComesBackToTheLastBitAndATornOneDoesNot) {
  const TempDir scratch;
  const std::filesystem::path path = scratch.path() / "process";
  const ProcessFile file = {.identity = {.pid = 123, .start_ticks = 456789, .boot = "3f-00"},
                            .guardian = {.pid = 122, .start_ticks = 456788, .boot = "3f-00"},
                            .mark = "BAPI_CONTROLLER=17",
                            .dir = "/home/a b/mlp.bapi/trials/0007",
                            .spent_before = 0.1 + 0.2,
                            .recorded = 3,
                            .paid = 4,
                            .continued = true,
                            .from = 3,
                            .until = 9,
                            .max_epoch = 27,
                            .report_offset = 5'000'000'000,
                            .log_offset = 17,
                            .lived = 12.25};
  write_process_file(path, file);
  EXPECT_EQ(read_process_file(path), file);
  const std::string text = text_of(path);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    std::ofstream(path, std::ios::trunc) << text.substr(0, length);
    EXPECT_FALSE(read_process_file(path).has_value()) << length;
  }
  EXPECT_FALSE(read_process_file(scratch.path() / "none").has_value());
}

TEST(ProcessFile, EveryChangedByteIsNoticed) {
  const TempDir scratch;
  const std::filesystem::path path = scratch.path() / "process";
  write_process_file(path, {.identity = {.pid = 123, .start_ticks = 1, .boot = "b"}, .mark = "M=1", .dir = "/d"});
  const std::string text = text_of(path);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '7' ? '8' : '7';
    std::ofstream(path, std::ios::trunc) << changed;
    EXPECT_FALSE(read_process_file(path).has_value()) << i;
  }
}

TEST(ProcessFile, TheTimeTrainedIsRenewedInPlaceByItsOwnControllerOnly) {
  const TempDir scratch;
  const std::filesystem::path path = scratch.path() / "process";
  ProcessFile file = {.identity = {.pid = 123, .start_ticks = 1, .boot = "b"},
                      .guardian = {.pid = 0, .start_ticks = 0, .boot = "b"},
                      .mark = "M=1",
                      .dir = "/d"};
  write_process_file(path, file);
  renew_lived(path, "M=1", 123, 1234.5);
  file.lived = 1234.5;
  EXPECT_EQ(read_process_file(path), file);
  renew_lived(path, "M=2", 123, 9.0);
  renew_lived(path, "M=1", 124, 9.0);
  EXPECT_EQ(read_process_file(path), file);
  renew_lived(scratch.path() / "none", "M=1", 123, 9.0);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "none"));
}

TEST(ProcessFile, OfVersion01HasNoMarkAndChargesNoTime) {
  const TempDir scratch;
  const std::filesystem::path path = scratch.path() / "process";
  std::ofstream(path) << "pid 5\nstart-ticks 6\nboot b\nstarted-at 1e300\nspent-before 2\nrecorded 3\nfrom 3\nuntil 9\n"
                         "max-epoch 27\nreport-offset 100\nlog-offset 17\nend 1\n";
  const std::optional<ProcessFile> file = read_process_file(path);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->identity.pid, 5);
  EXPECT_EQ(file->report_offset, 100);
  EXPECT_EQ(file->mark, "");
  EXPECT_EQ(file->lived, 0.0);
}

TEST(ProcessFile, APipeOrALinkIsNone) {
  const TempDir scratch;
  ASSERT_EQ(::mkfifo((scratch.path() / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", scratch.path() / "link");
  EXPECT_FALSE(read_process_file(scratch.path() / "pipe").has_value());
  EXPECT_FALSE(read_process_file(scratch.path() / "link").has_value());
}

}  // namespace
}  // namespace bapi

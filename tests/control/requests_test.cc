#include "bapi/control/requests.h"

#include <filesystem>
#include <fstream>

#include "bapi/base/error.h"
#include "bapi/study/user_request.h"

namespace bapi {
namespace {

class Requests : public ::testing::Test {
 protected:
  Requests() : dir_(std::filesystem::temp_directory_path() / ("bapi-requests-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(dir_);
  }
  ~Requests() override { std::filesystem::remove_all(dir_); }

  std::filesystem::path dir_;
};

TEST_F(Requests, AreReadAsTheyWerePosted) {
  const RequestBox box(dir_);
  EXPECT_TRUE(box.waiting().empty());
  const std::vector<StudyRequest> posted = {{.action = RequestAction::pause},
                                            {.action = RequestAction::budget, .total = 12.5},
                                            {.action = RequestAction::stop_trial, .trial = TrialId{3}},
                                            {.action = RequestAction::note, .text = "a \"note\"\n\xff"}};
  double now = 1000.0;
  for (const StudyRequest& request : posted) box.post(request, now += 1.0);
  const std::vector<RequestBox::Waiting> waiting = box.waiting();
  ASSERT_EQ(waiting.size(), posted.size());
  for (std::size_t i = 0; i + 1 < posted.size(); ++i) EXPECT_EQ(waiting[i].request, posted[i]);
  EXPECT_EQ(waiting.back().request->text, "a \"note\"\n\xEF\xBF\xBD");
}

TEST_F(Requests, TakeATotalInWordsWhereSomebodyReadsIt) {
  const std::string text = R"({"action": "budget", "total": "2h"})";
  const auto read = [](const std::string& total) { return total == "2h" ? 7200.0 : 0.0; };
  EXPECT_EQ(decode_request(text, read), (StudyRequest{.action = RequestAction::budget, .total = 7200.0}));
  EXPECT_THROW(decode_request(text), InvalidInput);
}

TEST_F(Requests, AreDoneOrRefusedOnceTheyAreSettled) {
  const RequestBox box(dir_);
  const std::string first = box.post({.action = RequestAction::pause}, 1.0);
  const std::string second = box.post({.action = RequestAction::pause}, 2.0);
  EXPECT_TRUE(Mailbox::is_id(first));
  EXPECT_EQ(box.answer(first).standing, RequestBox::Standing::waiting);
  box.settle(first, std::nullopt);
  box.settle(second, "no");
  EXPECT_EQ(box.answer(first).standing, RequestBox::Standing::done);
  EXPECT_EQ(box.answer(second).standing, RequestBox::Standing::refused);
  EXPECT_EQ(box.answer(second).reason, "no");
  EXPECT_TRUE(box.waiting().empty());
}

TEST_F(Requests, ThatMakeNoSenseAreToldApart) {
  const RequestBox box(dir_);
  std::filesystem::create_directories(dir_ / "requests");
  std::ofstream(dir_ / "requests" / "1.json") << "{\"action\": \"dance\"}";
  std::ofstream(dir_ / "requests" / "2.json") << "half a li";
  std::ofstream(dir_ / "requests" / "3.json") << std::string(100'000, ' ');
  std::filesystem::create_symlink("/etc/passwd", dir_ / "requests" / "4.json");
  std::ofstream(dir_ / "requests" / "not an id.json") << "{}";
  const std::vector<RequestBox::Waiting> waiting = box.waiting();
  ASSERT_EQ(waiting.size(), 4U);
  for (const RequestBox::Waiting& one : waiting) {
    EXPECT_FALSE(one.request.has_value());
    EXPECT_FALSE(one.trouble.empty());
  }
  EXPECT_NE(waiting[0].trouble.find("dance"), std::string::npos);
}

TEST_F(Requests, AreObjectedToWhereTheyCannotBeGranted) {
  StudySpec spec;
  spec.name = "x";
  spec.budget = {.limit = 10.0, .unit = "epochs", .meter = Meter::epochs};
  spec.epochs = {.min = 1, .max = 5};
  History history(spec);
  const Config config{.values = {0.5}};
  history.apply(TrialStarted{.trial = TrialId{0}, .config = config, .until = 5});
  history.apply(Measured{.trial = TrialId{0}, .measurement = {.epoch = 1, .value = 0.1, .cost = 1.0}});
  EXPECT_FALSE(objection({.action = RequestAction::budget, .total = 1.0}, history));
  EXPECT_TRUE(objection({.action = RequestAction::budget, .total = 0.5}, history));
  EXPECT_TRUE(objection({.action = RequestAction::budget, .total = -1.0}, history));
  EXPECT_TRUE(objection({.action = RequestAction::note, .text = ""}, history));
  EXPECT_TRUE(objection({.action = RequestAction::note, .text = std::string(1001, 'x')}, history));
  EXPECT_FALSE(objection({.action = RequestAction::note, .text = "x"}, history));
  const StudyRequest stop{.action = RequestAction::stop_trial, .trial = TrialId{0}};
  EXPECT_FALSE(objection(stop, history)) << "it is running";
  EXPECT_TRUE(objection({.action = RequestAction::stop_trial, .trial = TrialId{1}}, history)) << "there is none";
  history.apply(stop_event(TrialId{0}));
  EXPECT_TRUE(objection(stop, history)) << "it is stopped already";
}

TEST_F(Requests, NamesAreNeverPaths) {
  for (const char* text : {"", "..", "a/b", "x", ".json", "A"}) EXPECT_FALSE(Mailbox::is_id(text)) << text;
}

}  // namespace
}  // namespace bapi

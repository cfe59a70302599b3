#include <filesystem>
#include <set>
#include <string>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/control/requests.h"
#include "bapi/store/database_url.h"
#include "bapi/store/wish_box.h"
#include "bapi/study/work.h"
#include "fuzz/scratch.h"
#include "fuzz/targets.h"

namespace bapi::fuzz {

// What others leave for the one who runs a study, and leader and workers for each other.

void read_request(std::string_view input) {
  const StudyRequest request = decode_request(input);
  check(decode_request(encode(StudyRequest{request})).action == request.action, "a request does not survive a letter");
  StudySpec spec;
  spec.budget.limit = 20.0;
  const History history(spec);
  if (!objection(request, history)) {
    for (const Event& fact : facts_of(request)) check(!history.objection(fact), "a request that is granted is no fact");
  }
}

// The name of a file on the first line, its contents below.
void read_letter(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  std::string name(input.substr(0, std::min<std::size_t>(end, 100)));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\0'; }, '_');
  if (name.empty() || name == "." || name == "..") return;
  for (const char* folder : {"requests", "wishes"}) {
    std::filesystem::remove_all(scratch() / folder);
    std::filesystem::create_directory(scratch() / folder);
    replace_file(scratch() / folder / name, input.substr(std::min(end + 1, input.size())));
  }
  const RequestBox requests(scratch());
  for (const RequestBox::Waiting& waiting : requests.waiting()) {
    check(waiting.request.has_value() == waiting.trouble.empty(), "a letter is neither a request nor refused");
    requests.settle(waiting.id, waiting.trouble.empty() ? std::nullopt : std::optional(waiting.trouble));
    check(requests.answer(waiting.id).standing != RequestBox::Standing::waiting, "a letter that is settled waits");
  }
  for (const ConfigEnqueued& wish : WishBox(StudyDir(scratch())).waiting({})) {
    check(wish.id + ".json" == name, "a wish has the name of another letter");
  }
}

void read_order(std::string_view input) {
  const std::string text = encode(decode_segment(input));
  check(encode(decode_segment(text)) == text, "an order does not survive the database");
}

void read_delivery(std::string_view input) {
  const std::string text = encode(decode_delivery(input));
  check(encode(decode_delivery(text)) == text, "a delivery does not survive the database");
}

void read_database_url(std::string_view input) {
  const DatabaseUrl url{std::string(input)};
  check(!DatabaseUrl(url.shown()).has_password(), "an address is shown with its password");
  const DatabaseStudy study = parse_database_study(std::string(input) + "#name");
  check(study.name == "name" && study.database == url, "an address is read in two ways");
}

}  // namespace bapi::fuzz

#include "bapi/study/codec.h"
#include "bapi/study/codec_json.h"
#include "bapi/study/work.h"

// What leader and workers tell each other.
namespace bapi {

template <typename Visitor, Of<Segment> T>
void fields(Visitor& visit, T& segment) {
  visit("trial", segment.trial);
  visit("config", segment.config);
  visit("from", segment.from);
  visit("until", segment.until);
  visit("max_epoch", segment.max_epoch);
  visit("budget_left", segment.budget_left);
  visit("usual_epoch", segment.usual_epoch);
  visit("spent", segment.spent);
  visit("paid", segment.paid);
  visit("recent", segment.recent);
  visit("continued", segment.continued);
  visit("most_unreported", segment.most_unreported);
}

template <typename Visitor, Of<TrialStanding> T>
void fields(Visitor& visit, T& standing) {
  visit("trial", standing.trial);
  visit("order", standing.order);
  visit("ended", standing.ended);
}

template <typename Visitor, Of<WorkerTally> T>
void fields(Visitor& visit, T& tally) {
  visit("busy", tally.busy);
  visit("failures", tally.failures);
}

namespace {

using codec::Json;
using codec::Path;

// A text of another version is refused: leader and workers must be of one version.
constexpr int kWorkVersion = 1;

Json versioned() { return {{"version", kWorkVersion}}; }

void read_version(codec::Reader& reader) {
  const Json& version = reader.take("version");
  if (version != kWorkVersion) {
    codec::refuse(reader.where("version"), version, fmt::format("version {}", kWorkVersion));
  }
}

void refuse_too_much(std::size_t facts, std::size_t bytes) {
  require(facts <= kMostFacts, fmt::format("a delivery has {} facts; expected at most {}", facts, kMostFacts));
  require(bytes <= kLargestDelivery,
          fmt::format("a delivery has {} bytes; expected at most {}", bytes, kLargestDelivery));
}

}  // namespace

std::string encode(const Segment& segment) {
  Json json = versioned();
  codec::Writer writer(json);
  fields(writer, segment);
  return json.dump();
}

Segment decode_segment(std::string_view text) {
  const Path where("segment");
  const Json json = codec::parse(text, where);
  codec::Reader reader(json, where);
  read_version(reader);
  Segment segment;
  fields(reader, segment);
  reader.done();
  return segment;
}

std::string encode(const Delivery& delivery) {
  Json json = versioned();
  codec::Writer writer(json);
  writer("number", delivery.number);
  Json facts = Json::array();
  for (const Event& fact : delivery.facts) facts.push_back(Json::parse(encode(fact)));
  json["facts"] = std::move(facts);
  writer("standings", delivery.standings);
  writer("tally", delivery.tally);
  writer("trains", delivery.trains);
  std::string text = json.dump();
  refuse_too_much(delivery.facts.size(), text.size());
  return text;
}

Delivery decode_delivery(std::string_view text) {
  refuse_too_much(0, text.size());
  const Path where("delivery");
  const Json json = codec::parse(text, where);
  codec::Reader reader(json, where);
  read_version(reader);
  Delivery delivery;
  reader("number", delivery.number);
  const Json& facts = reader.take("facts");
  if (!facts.is_array()) codec::refuse(reader.where("facts"), facts, "a list of facts");
  refuse_too_much(facts.size(), text.size());
  for (const Json& fact : facts) delivery.facts.push_back(decode_event(fact.dump()));
  reader("standings", delivery.standings);
  reader("tally", delivery.tally);
  reader("trains", delivery.trains);
  reader.done();
  for (const Event& fact : delivery.facts) {
    require(!is_decision(fact) && trial_of(fact), "a delivery holds something else than facts about trials");
  }
  return delivery;
}

}  // namespace bapi

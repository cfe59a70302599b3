#include "bapi/study/codec.h"
#include "bapi/study/codec_json.h"
#include "bapi/study/spec_fields.h"

namespace bapi {
namespace {

// A text of another version is refused, never guessed at.
constexpr int kSpecVersion = 1;

}  // namespace

std::string encode(const StudySpec& spec) {
  codec::Json json = {{"version", kSpecVersion}};
  codec::Writer writer(json);
  fields(writer, spec);
  return json.dump();
}

StudySpec decode_spec(std::string_view text) {
  const codec::Path where("spec");
  const codec::Json json = codec::parse(text, where);
  codec::refuse_newer(json, kSpecVersion);
  codec::Reader reader(json, where);
  const codec::Json& version = reader.take("version");
  if (version != kSpecVersion) {
    codec::refuse(
        reader.where("version"), version, fmt::format("version {} (is bapi older than this study?)", kSpecVersion));
  }
  StudySpec spec;
  fields(reader, spec);
  reader.done();
  return spec;
}

}  // namespace bapi

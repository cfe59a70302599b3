#include "bapi/studies/study_file.h"

#include "bapi/base/file.h"

namespace bapi {

StudySpec read_study_file(const std::string& path, const std::optional<std::string>& name) {
  return parse_study_file(contents_of(path), path, name);
}

}  // namespace bapi

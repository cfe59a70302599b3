#pragma once

#include <map>
#include <string>

namespace experiments {

// How large a task is: for a try, for two cores, or as in the paper.
enum class Size { small, medium, paper };

inline std::map<std::string, Size> size_names() {
  return {{"small", Size::small}, {"medium", Size::medium}, {"paper", Size::paper}};
}

}  // namespace experiments

#pragma once

namespace experiments {

// How large a task is: for a try, for two cores, or as in the paper.
enum class Size { small, medium, paper };

}  // namespace experiments

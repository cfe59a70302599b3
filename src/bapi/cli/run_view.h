#pragma once

#include "bapi/studies/run_study.h"

namespace bapi {

// Shows a study on standard error while it runs; what it has drawn is cleared away when it goes.
class RunView {
 public:
  virtual ~RunView() = default;
  virtual void update(const RunUpdate& update) = 0;
};

}  // namespace bapi

#pragma once

#include <future>

#include "bapi/control/session.h"

namespace bapi {

// A decision that is being taken in a thread of its own, so that its owner can serve reports, signals and limits
// meanwhile. The policy reads the session's history: nothing may be recorded before the decision is ready.
class Thinking {
 public:
  explicit Thinking(const Session& session);  // where no thread is to be had, `take` thinks
  ~Thinking();                                // waits until the policy has come to an end

  bool ready_within(double seconds) const;
  Decision take();  // throws what the policy has thrown

 private:
  std::future<Decision> decision_;
};

}  // namespace bapi

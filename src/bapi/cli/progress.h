#pragma once

#include "bapi/control/evaluator.h"
#include "bapi/control/session.h"

namespace bapi {

// Shows a run while it goes on. `event` sees every event once it is in the log, `update` is called after every change
// and several times a second, `finish` once at the end.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void event(const Event& event) = 0;
  virtual void update(const Session& session, const Evaluator& evaluator) = 0;
  virtual void finish() = 0;
};

// --quiet
class NoProgress : public Progress {
 public:
  void event(const Event&) override {}
  void update(const Session&, const Evaluator&) override {}
  void finish() override {}
};

}  // namespace bapi

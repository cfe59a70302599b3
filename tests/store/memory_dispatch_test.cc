#include "bapi/store/memory_dispatch.h"

#include "bapi/store/memory_store.h"
#include "tests/conformance/dispatch_contract.h"
#include "tests/support/led_store.h"

namespace bapi {
namespace memory_dispatch_test {

class InMemory : public DispatchKind::Place {
 public:
  WorkerDispatch& workers() override { return dispatch_; }
  std::unique_ptr<DispatchKind::Seat> lead() override { return std::make_unique<Seat>(dispatch_, store_); }
  void pass(double seconds) override { clock_.advance(seconds); }

 private:
  class Seat : public DispatchKind::Seat {
   public:
    Seat(MemoryDispatch& dispatch, Store& store) : lead_(dispatch.lead()), log_(store, *lead_) {}
    Leadership& leadership() override { return *lead_; }
    LeaderDispatch& dispatch() override { return *lead_; }
    Store& log() override { return log_; }

   private:
    std::unique_ptr<MemoryLead> lead_;
    test::LedStore log_;
  };

  ManualClock clock_{1.75e9};
  MemoryDispatch dispatch_{clock_};
  MemoryStore store_{StudySpec{.name = "small"}};
};

INSTANTIATE_TEST_SUITE_P(Dispatches,
                         DispatchContract,
                         testing::Values(DispatchKind{"memory", [] { return std::make_unique<InMemory>(); }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace memory_dispatch_test
}  // namespace bapi

#include "bapi/control/thinking.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <system_error>

namespace bapi {
namespace {

// Threads that are begun meanwhile leave all signals to the others: whoever waits for one shall be woken by it.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_ = {};
};

std::future<Decision> begin(const Session& session) {
  const auto think = [&session] { return session.think(); };
  try {
    const WithoutSignals quiet;
    return std::async(std::launch::async, think);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, think);
  }
}

}  // namespace

Thinking::Thinking(const Session& session) : decision_(begin(session)) {}

Thinking::~Thinking() {
  if (decision_.valid() && decision_.wait_for(std::chrono::seconds(0)) != std::future_status::deferred)
    decision_.wait();
}

bool Thinking::ready_within(double seconds) const {
  return decision_.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::timeout;
}

Decision Thinking::take() { return decision_.get(); }

}  // namespace bapi

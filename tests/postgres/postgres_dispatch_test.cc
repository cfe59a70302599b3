#include "bapi/store/postgres_dispatch.h"

#include <thread>

#include "bapi/store/postgres_store.h"
#include "tests/conformance/dispatch_contract.h"
#include "tests/support/postgres_server.h"

namespace bapi {
namespace postgres_dispatch_test {

using test::PostgresServer;

class InPostgres : public DispatchKind::Place {
 public:
  InPostgres() {
    PostgresStore::create(std::make_shared<PostgresConnection>(url_), "small", {.name = "small"});
    workers_ = std::make_unique<PostgresWorkerDispatch>(std::make_shared<PostgresConnection>(url_), 1);
  }

  WorkerDispatch& workers() override { return *workers_; }

  // The connection of the last one breaks: its lock is free, and it does not know.
  std::unique_ptr<DispatchKind::Seat> lead() override {
    if (const auto last = last_.lock()) last->close();
    const std::shared_ptr<PostgresConnection> db = leader_connection(url_);
    last_ = db;
    return std::make_unique<Seat>(db);
  }

  void pass(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

 private:
  class Seat : public DispatchKind::Seat {
   public:
    explicit Seat(const std::shared_ptr<PostgresConnection>& db)
        : log_(PostgresStore::open(db, "small")), lead_(PostgresLead::take(db, log_.id(), "")) {
      log_.write_under(*lead_);
    }
    Leadership& leadership() override { return *lead_; }
    LeaderDispatch& dispatch() override { return *lead_; }
    Store& log() override { return log_; }

   private:
    PostgresStore log_;
    std::unique_ptr<PostgresLead> lead_;
  };

  DatabaseUrl url_ = PostgresServer::instance().new_database();
  std::unique_ptr<PostgresWorkerDispatch> workers_;
  std::weak_ptr<PostgresConnection> last_;
};

std::vector<DispatchKind> kinds() {
  if (!PostgresServer::missing().empty()) return {};
  return {DispatchKind{"postgres", [] { return std::make_unique<InPostgres>(); }}};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DispatchContract);
INSTANTIATE_TEST_SUITE_P(Dispatches, DispatchContract, testing::ValuesIn(kinds()), [](const auto& kind) {
  return kind.param.name;
});

}  // namespace postgres_dispatch_test
}  // namespace bapi

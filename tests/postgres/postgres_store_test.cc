#include "bapi/store/postgres_store.h"

#include "bapi/store/postgres_schema.h"
#include "tests/conformance/store_contract.h"
#include "tests/support/postgres_server.h"

namespace bapi {
namespace {

using test::PostgresServer;

class InPostgres : public StoreKind::Place {
 public:
  std::unique_ptr<Store> create(const StudySpec& spec) override {
    return std::make_unique<PostgresStore>(PostgresStore::create(connection(), "small", spec));
  }
  std::unique_ptr<Store> reopen() override {
    return std::make_unique<PostgresStore>(PostgresStore::open(connection(), "small"));
  }

 private:
  std::shared_ptr<PostgresConnection> connection() const { return std::make_shared<PostgresConnection>(url_); }

  DatabaseUrl url_ = PostgresServer::instance().new_database();
};

// Where there is no server, the one test that is left says why.
std::vector<StoreKind> kinds() {
  if (!PostgresServer::missing().empty()) return {};
  return {StoreKind{"postgres", [] { return std::make_unique<InPostgres>(); }}};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);
INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(kinds()), [](const auto& kind) {
  return kind.param.name;
});

}  // namespace
}  // namespace bapi

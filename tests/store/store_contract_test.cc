#include "tests/conformance/store_contract.h"

#include "bapi/store/memory_store.h"
#include "bapi/store/sqlite_store.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

class InMemory : public StoreKind::Place {
 public:
  std::unique_ptr<Store> create(const StudySpec& spec) override { return std::make_unique<MemoryStore>(spec); }
  std::unique_ptr<Store> reopen() override { return nullptr; }
};

class InSqlite : public StoreKind::Place {
 public:
  std::unique_ptr<Store> create(const StudySpec& spec) override {
    return std::make_unique<SqliteStore>(SqliteStore::create(directory_ / "study.db", spec));
  }
  std::unique_ptr<Store> reopen() override {
    return std::make_unique<SqliteStore>(SqliteStore::open(directory_ / "study.db", Access::read_write));
  }

 private:
  test::TempDir directory_;
};

INSTANTIATE_TEST_SUITE_P(Stores,
                         StoreContract,
                         testing::Values(StoreKind{"memory", [] { return std::make_unique<InMemory>(); }},
                                         StoreKind{"sqlite", [] { return std::make_unique<InSqlite>(); }}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace bapi

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "bapi/store/postgres_dispatch.h"
#include "bapi/store/postgres_mailbox.h"
#include "bapi/store/postgres_schema.h"
#include "bapi/store/postgres_store.h"
#include "tests/support/postgres_server.h"
#include "tests/support/tcp_proxy.h"

// Connections that are cut, hang and are refused, servers that die, and those who may not do what they try.
namespace bapi {
namespace postgres_faults_test {

using test::PostgresServer;
using test::TcpProxy;

Event measured(int trial, Epoch epoch) {
  return Measured{.trial = TrialId{trial}, .measurement = {.epoch = epoch, .value = 0.5, .cost = 0.1}};
}

class PostgresFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    BAPI_NEEDS_POSTGRES();
    url_.emplace(PostgresServer::instance().new_database());
    PostgresStore::create(connect(), "small", {.name = "small"});
  }

  std::shared_ptr<PostgresConnection> connect() const { return std::make_shared<PostgresConnection>(*url_); }

  DatabaseUrl by_way_of(const TcpProxy& proxy) const { return with_port(proxy.port()); }

  DatabaseUrl with_port(int port) const {
    std::string url = url_->with_password();
    const std::string there = ":" + std::to_string(PostgresServer::instance().port()) + "/";
    url.replace(url.find(there), there.size(), ":" + std::to_string(port) + "/");
    // The password file knows one port.
    std::string password;
    std::getline(std::ifstream(url.substr(url.find("passfile=") + 9)), password);
    url.replace(url.find("bapi@"), 5, "bapi:" + password.substr(password.rfind(':') + 1) + "@");
    return DatabaseUrl(url);
  }

  std::size_t events() const { return PostgresStore::open(connect(), "small").events(0).size(); }

  std::optional<DatabaseUrl> url_;
};

// Tried again until the connection is back, as those who have patience do.
template <typename Step>
auto patiently(Step step) {
  for (int attempt = 0;; ++attempt) {
    try {
      return step();
    } catch (const Shortage&) {
      if (attempt > 20) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

TEST_F(PostgresFaults, ACutAtAnyByteOfAnAppendNeitherLosesNorRepeatsIt) {
  TcpProxy proxy(PostgresServer::instance().port());
  const auto db = std::make_shared<PostgresConnection>(by_way_of(proxy));
  PostgresStore store = PostgresStore::open(db, "small");
  PostgresWorkerDispatch workers(connect(), store.id());
  const auto lead = PostgresLead::take(db, store.id(), "");
  store.write_under(*lead);
  const WorkerId worker = workers.join({.host = "node7", .slots = 1}).worker;
  EventSeq last = 0;
  std::int64_t delivered = 0;
  const auto append_once = [&] {
    const std::vector<Event> facts{measured(0, static_cast<Epoch>(last) + 1),
                                   measured(0, static_cast<Epoch>(last) + 2)};
    ++delivered;
    ASSERT_EQ(workers.deliver(worker, {.number = delivered, .facts = facts}).kind, Receipt::Kind::taken);
    lead->settle_with_next_append({.taken = {{.worker = worker, .number = delivered}}});
    ASSERT_TRUE(patiently([&] { return store.append(last, facts, 1.75e9, Durability::process); })) << last;
    last += 2;
    ASSERT_EQ(patiently([&] { return std::ssize(store.events(0)); }), last);
    ASSERT_TRUE(patiently([&] { return lead->read().deliveries.empty(); }));
  };
  append_once();
  for (const long bytes : {1, 60, 700, 1500, 2200, 2700}) {
    proxy.cut_after_sent(bytes);
    append_once();
  }
  for (const long bytes : {1, 10, 40, 100}) {
    proxy.cut_after_received(bytes);
    append_once();
  }
}

TEST_F(PostgresFaults, ACutAtAnyByteOfADeliveryNeitherLosesNorRepeatsIt) {
  TcpProxy proxy(PostgresServer::instance().port());
  const PostgresStore store = PostgresStore::open(connect(), "small");
  PostgresWorkerDispatch workers(std::make_shared<PostgresConnection>(by_way_of(proxy)), store.id());
  const WorkerId worker = workers.join({.host = "node7", .slots = 1}).worker;
  std::int64_t number = 0;
  const auto deliver_once = [&] {
    ++number;
    const Delivery delivery{.number = number, .facts = {measured(0, static_cast<Epoch>(number))}};
    const Receipt receipt = patiently([&] { return workers.deliver(worker, delivery); });
    EXPECT_NE(receipt.kind, Receipt::Kind::fenced) << number;
    EXPECT_GT(receipt.grant.lease, 0.0);
  };
  for (const long bytes : {1, 60, 200, 400}) {
    proxy.cut_after_sent(bytes);
    deliver_once();
  }
  for (const long bytes : {1, 10, 60}) {
    proxy.cut_after_received(bytes);
    deliver_once();
  }
  const auto lead = PostgresLead::take(leader_connection(*url_), store.id(), "");
  EXPECT_EQ(std::ssize(lead->read().deliveries), number);
}

TEST_F(PostgresFaults, AServerThatSaysNothingIsGivenUp) {
  TcpProxy proxy(PostgresServer::instance().port());
  PostgresConnection db(by_way_of(proxy), {.silence = 0.5});
  db.run("SELECT 1");
  proxy.hang(true);
  EXPECT_THROW(db.run("SELECT 1"), ConnectionLost);
  proxy.hang(false);
  EXPECT_EQ(patiently([&] { return db.run("SELECT 7").integer(0, 0); }), 7);
  EXPECT_GE(db.generation(), 2);
}

TEST_F(PostgresFaults, ASlowServerIsWaitedFor) {
  TcpProxy proxy(PostgresServer::instance().port());
  proxy.delay(0.05);
  PostgresConnection db(by_way_of(proxy));
  EXPECT_EQ(db.run("SELECT 7").integer(0, 0), 7);
}

TEST_F(PostgresFaults, ARefusedConnectionMayPass) {
  TcpProxy proxy(PostgresServer::instance().port());
  proxy.refuse(true);
  PostgresConnection db(by_way_of(proxy));
  EXPECT_THROW(db.run("SELECT 1"), ConnectionLost);
  proxy.refuse(false);
  EXPECT_NO_THROW(db.run("SELECT 1"));
}

TEST_F(PostgresFaults, WhatWasAcknowledgedSurvivesTheDeathOfTheServer) {
  PostgresStore store = PostgresStore::open(connect(), "small");
  const std::vector<Event> facts{measured(0, 1)};
  ASSERT_TRUE(store.append(0, facts, 1.75e9, Durability::process));
  PostgresServer::instance().kill(SIGKILL);
  const std::vector<Event> more{measured(0, 2)};
  bool acknowledged = false;  // by a process that has not noticed the death of the others yet
  try {
    acknowledged = store.append(1, more, 1.75e9, Durability::process);
  } catch (const Shortage&) {
  }
  PostgresServer::instance().start();
  EXPECT_TRUE(acknowledged || patiently([&] { return store.append(1, more, 1.75e9, Durability::process); }));
  EXPECT_EQ(events(), 2u);
}

TEST_F(PostgresFaults, AReadOnlyDatabaseMayPassAndNothingIsWritten) {
  const auto db = connect();
  PostgresStore store = PostgresStore::open(db, "small");
  const std::vector<Event> facts{measured(0, 1)};
  db->execute("SET default_transaction_read_only = on");
  EXPECT_THROW(store.append(0, facts, 1.75e9, Durability::process), Shortage);
  db->execute("SET default_transaction_read_only = off");
  EXPECT_EQ(events(), 0u);
  EXPECT_TRUE(store.append(0, facts, 1.75e9, Durability::process));
}

TEST_F(PostgresFaults, AFullDatabaseMayPassAndNothingIsWritten) {
  connect()->execute(
      "CREATE FUNCTION bapi.fail() RETURNS trigger LANGUAGE plpgsql AS "
      "$$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'; END $$;"
      "CREATE TRIGGER fail BEFORE INSERT ON bapi.event EXECUTE FUNCTION bapi.fail()");
  PostgresStore store = PostgresStore::open(connect(), "small");
  const std::vector<Event> facts{measured(0, 1)};
  try {
    store.append(0, facts, 1.75e9, Durability::process);
    FAIL() << "it was written";
  } catch (const Shortage& shortage) {
    EXPECT_NE(std::string(shortage.what()).find("free some space"), std::string::npos) << shortage.what();
  }
  EXPECT_EQ(events(), 0u);
  connect()->execute("DROP TRIGGER fail ON bapi.event");
  EXPECT_TRUE(store.append(0, facts, 1.75e9, Durability::process));
}

TEST_F(PostgresFaults, AnAppendByAnotherInTheSameTermIsNotTakenForOnesOwn) {
  TcpProxy proxy(PostgresServer::instance().port());
  PostgresStore store = PostgresStore::open(std::make_shared<PostgresConnection>(by_way_of(proxy)), "small");
  PostgresStore rival = PostgresStore::open(connect(), "small");
  const std::vector<Event> mine{measured(0, 1)};
  const std::vector<Event> others{measured(7, 1)};
  proxy.cut_after_sent(1);
  ASSERT_TRUE(rival.append(0, others, 1.75e9, Durability::process));
  EXPECT_FALSE(patiently([&] { return store.append(0, mine, 1.75e9, Durability::process); }));
  EXPECT_EQ(events(), 1u);
}

// A database that was restored from a copy, or a replica that took over and lacks what was written last.
class ADatabaseThatFellBack : public PostgresFaults {
 protected:
  void SetUp() override {
    PostgresFaults::SetUp();
    if (IsSkipped()) return;
    db_ = leader_connection(*url_);
    store_.emplace(PostgresStore::open(db_, "small"));
    lead_ = PostgresLead::take(db_, store_->id(), "");
    store_->write_under(*lead_);
    ASSERT_TRUE(store_->append(0, std::vector<Event>{measured(0, 1), measured(0, 2)}, 1.75e9, Durability::process));
  }

  void forget_the_last_event() const {
    connect()->execute("DELETE FROM bapi.event WHERE seq = 2; UPDATE bapi.study SET last_seq = 1");
  }

  std::shared_ptr<PostgresConnection> db_;
  std::optional<PostgresStore> store_;
  std::unique_ptr<PostgresLead> lead_;
};

TEST_F(ADatabaseThatFellBack, IsNoticedByASignOfLife) {
  EXPECT_NO_THROW(lead_->sign_of_life());
  forget_the_last_event();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // signs of life have a pause
  EXPECT_THROW(lead_->sign_of_life(), LogWentBack);
}

TEST_F(ADatabaseThatFellBack, IsNoticedByAWrite) {
  forget_the_last_event();
  EXPECT_THROW(store_->append(2, std::vector<Event>{measured(0, 3)}, 1.75e9, Durability::process), LogWentBack);
  EXPECT_EQ(events(), 1u);
}

TEST_F(ADatabaseThatFellBack, IsNoticedByWhoHasOnlyReadIt) {
  lead_.reset();
  PostgresStore store = PostgresStore::open(db_, "small");
  const auto lead = PostgresLead::take(db_, store.id(), "");
  store.write_under(*lead);
  ASSERT_EQ(store.events(0).size(), 2u);
  forget_the_last_event();
  EXPECT_THROW(lead->sign_of_life(), LogWentBack);
}

TEST_F(ADatabaseThatFellBack, IsNotTakenForALeaderWhoIsNewer) {
  connect()->execute("UPDATE bapi.study SET term = 0");
  EXPECT_THROW(lead_->check_held(), LogWentBack);
  EXPECT_THROW(lead_->orders(), LogWentBack);
}

TEST_F(ADatabaseThatFellBack, GivesNoTermTwice) {
  const std::int64_t before = lead_->term();
  lead_.reset();
  connect()->execute("UPDATE bapi.study SET term = 0");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GT(PostgresLead::take(db_, store_->id(), "")->term(), before);
}

TEST_F(PostgresFaults, ALeaderIsAloneAndNamed) {
  const std::int64_t study = PostgresStore::open(connect(), "small").id();
  const auto db = connect();
  EXPECT_EQ(PostgresLead::leader(*db, study), std::nullopt);
  {
    const auto lead = PostgresLead::take(leader_connection(*url_), study, "");
    const std::optional<Leader> leader = PostgresLead::leader(*db, study);
    ASSERT_TRUE(leader);
    EXPECT_EQ(leader->pid, ::getpid());
    try {
      PostgresLead::take(leader_connection(*url_), study, "");
      FAIL() << "two leaders";
    } catch (const StoreError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(::getpid())), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(PostgresLead::leader(*db, study), std::nullopt);
  EXPECT_NO_THROW(PostgresLead::take(leader_connection(*url_), study, ""));
}

TEST_F(PostgresFaults, ALeaderThatHangsLosesTheLockAtTheServerAndCannotWrite) {
  const std::int64_t study = PostgresStore::open(connect(), "small").id();
  const auto db = leader_connection(*url_, 1.0);
  PostgresStore store = PostgresStore::open(db, "small");
  const auto hung = PostgresLead::take(db, study, "");
  store.write_under(*hung);
  const auto next = patiently([&] {
    try {
      return PostgresLead::take(leader_connection(*url_), study, "");
    } catch (const StoreError& error) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      throw Shortage(error.what());
    }
  });
  EXPECT_THROW(hung->sign_of_life(), LeadershipLost);
  const std::vector<Event> facts{measured(0, 1)};
  EXPECT_THROW(store.append(0, facts, 1.75e9, Durability::process), LeadershipLost);
  EXPECT_EQ(events(), 0u);
  EXPECT_NO_THROW(next->check_held());
}

TEST_F(PostgresFaults, ALeaderWhoseConnectionBreaksLeadsOnWhenNobodyElseDoes) {
  TcpProxy proxy(PostgresServer::instance().port());
  const auto db = leader_connection(by_way_of(proxy));
  PostgresStore store = PostgresStore::open(db, "small");
  const auto lead = PostgresLead::take(db, store.id(), "");
  store.write_under(*lead);
  proxy.cut_after_sent(1);
  patiently([&] { lead->sign_of_life(); });
  EXPECT_GE(db->generation(), 2);
  const auto watcher = connect();
  patiently([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // signs of life have a pause
    lead->sign_of_life();
    if (!PostgresLead::leader(*watcher, store.id())) throw Shortage("the lock is not back yet");
  });
  EXPECT_TRUE(store.append(0, std::vector<Event>{measured(0, 1)}, 1.75e9, Durability::process));
}

TEST_F(PostgresFaults, AWorkerOfAnotherVersionIsRefusedWithBoth) {
  const std::int64_t study = PostgresStore::open(connect(), "small").id();
  const auto lead = PostgresLead::take(leader_connection(*url_), study, "0.2.0");
  PostgresWorkerDispatch workers(connect(), study);
  EXPECT_NO_THROW(workers.join({.version = "0.2.0"}));
  try {
    workers.join({.version = "0.3.1"});
    FAIL();
  } catch (const InvalidInput& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("0.2.0"), std::string::npos) << text;
    EXPECT_NE(text.find("0.3.1"), std::string::npos) << text;
  }
}

TEST_F(PostgresFaults, WorkersOfAnOlderVersionJoinAnewWhenANewerOneLeads) {
  const std::int64_t study = PostgresStore::open(connect(), "small").id();
  PostgresWorkerDispatch workers(connect(), study);
  auto lead = PostgresLead::take(leader_connection(*url_), study, "0.2.0");
  const WorkerId worker = workers.join({.version = "0.2.0"}).worker;
  const std::int64_t before = workers.look(worker).spec_version;
  lead.reset();
  lead = PostgresLead::take(leader_connection(*url_), study, "0.2.0");
  EXPECT_EQ(workers.look(worker).spec_version, before) << "another leader alone changes nothing for them";
  lead.reset();
  lead = PostgresLead::take(leader_connection(*url_), study, "0.3.0");
  EXPECT_EQ(workers.look(worker).spec_version, before + 1);
}

TEST_F(PostgresFaults, WorkersJoinAnewWhenSettingsChangeButNotBecauseOfWhoLeads) {
  const auto db = leader_connection(*url_);
  PostgresStore store = PostgresStore::open(db, "small");
  const auto lead = PostgresLead::take(db, store.id(), "");
  store.write_under(*lead);
  PostgresWorkerDispatch workers(connect(), store.id());
  const WorkerId worker = workers.join({}).worker;
  const std::int64_t before = workers.look(worker).spec_version;
  StudySpec spec = store.spec();
  spec.provenance.host = "elsewhere";
  store.update_spec(spec);
  EXPECT_EQ(workers.look(worker).spec_version, before);
  spec.retries = 7;
  store.update_spec(spec);
  EXPECT_EQ(workers.look(worker).spec_version, before + 1);
}

TEST_F(PostgresFaults, AForkedChildLeavesTheConnectionOfItsParentAlone) {
  const auto db = leader_connection(*url_);
  PostgresStore store = PostgresStore::open(db, "small");
  auto lead = PostgresLead::take(db, store.id(), "");
  const pid_t child = ::fork();
  if (child == 0) {
    lead.reset();
    bool refused = false;
    try {
      db->run("SELECT 1");
    } catch (const StoreError&) {
      refused = true;
    }
    db->close();
    ::_exit(refused ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(db->run("SELECT 7").integer(0, 0), 7);
  EXPECT_EQ(db->generation(), 1) << "the connection was lost";
  EXPECT_TRUE(PostgresLead::leader(*connect(), store.id()));
}

TEST_F(PostgresFaults, TablesOfANewerVersionAreRefused) {
  connect()->execute("UPDATE bapi.schema_version SET version = 99");
  EXPECT_THROW(PostgresStore::open(connect(), "small"), StoreError);
  EXPECT_THROW(migrate_schema(*connect()), StoreError);
}

TEST_F(PostgresFaults, TablesAreMadeOnceByWhomeverComesFirst) {
  const DatabaseUrl fresh = PostgresServer::instance().new_database();
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        PostgresConnection db(fresh);
        migrate_schema(db);
      } catch (const Error& error) {
        ++failures;
        std::fprintf(stderr, "%s\n", error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  PostgresConnection db(fresh);
  EXPECT_TRUE(has_schema(db));
}

TEST_F(PostgresFaults, ARoleOfAWorkerDeliversAndWritesNothingElse) {
  connect()->execute(
      "DROP ROLE IF EXISTS crew; CREATE ROLE crew LOGIN PASSWORD 'crew';"
      "GRANT USAGE ON SCHEMA bapi TO crew; GRANT SELECT ON bapi.schema_version, bapi.study, bapi.pace, bapi.work_order "
      "TO "
      "crew; GRANT EXECUTE ON FUNCTION bapi.join_study, bapi.deliver, bapi.change_state, bapi.standing TO crew");
  std::string url = url_->with_password();
  url.replace(url.find("bapi@"), 5, "crew:crew@");
  const auto db = std::make_shared<PostgresConnection>(DatabaseUrl(url));
  PostgresStore store = PostgresStore::open(db, "small");
  PostgresWorkerDispatch workers(db, store.id());
  const WorkerId worker = workers.join({.host = "node7"}).worker;
  EXPECT_EQ(workers.deliver(worker, {.number = 1, .facts = {measured(0, 1)}, .trains = true}).kind,
            Receipt::Kind::taken);
  EXPECT_EQ(workers.deliver(worker, {.number = 1}).kind, Receipt::Kind::known);
  EXPECT_TRUE(workers.look(worker).orders.empty());
  workers.change_state(worker, WorkerState::gone);
  EXPECT_THROW(store.append(0, std::vector<Event>{measured(0, 1)}, 1.75e9, Durability::process), StoreError);
  EXPECT_THROW(store.update_spec({.name = "evil"}), StoreError);
  EXPECT_THROW(PostgresLead::take(db, store.id(), ""), StoreError);
  EXPECT_THROW(db->run("UPDATE bapi.pace SET lease = 1e9"), StoreError);
  connect()->execute("DROP OWNED BY crew; DROP ROLE crew");
}

TEST_F(PostgresFaults, NoMessageShowsAPassword) {
  std::string url = url_->with_password();
  url.replace(url.find("bapi@"), 5, "bapi:secret@");
  PostgresConnection db{DatabaseUrl(url)};
  try {
    db.run("SELECT 1");
    FAIL() << "the password was accepted";
  } catch (const StoreError& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    EXPECT_EQ(dynamic_cast<const Shortage*>(&error), nullptr) << "a wrong password does not pass";
  }
}

TEST_F(PostgresFaults, ADeliveryThatCannotBeReadIsSeenAndEmpty) {
  const PostgresStore store = PostgresStore::open(connect(), "small");
  PostgresWorkerDispatch workers(connect(), store.id());
  const WorkerId worker = workers.join({.host = "node7"}).worker;
  workers.deliver(worker, {.number = 1, .facts = {measured(0, 1)}});
  connect()->execute("UPDATE bapi.delivery SET delivery_json = '{'");
  const auto lead = PostgresLead::take(leader_connection(*url_), store.id(), "");
  const Board board = lead->read();
  ASSERT_EQ(board.deliveries.size(), 1u);
  EXPECT_EQ(board.deliveries[0].delivery, Delivery{.number = 1});
}

TEST_F(PostgresFaults, OrdersAndWhatEndsWakeThoseWhoWait) {
  const PostgresStore store = PostgresStore::open(connect(), "small");
  PostgresWorkerDispatch workers(connect(), store.id());
  const auto lead = PostgresLead::take(leader_connection(*url_), store.id(), "");
  const WorkerId worker = workers.join({.host = "node7"}).worker;
  EXPECT_TRUE(workers.wait(worker, 30.0)) << "the first time, what was said before is to be looked for";
  EXPECT_TRUE(lead->wait(30.0));
  lead->put({.trial = TrialId{0}, .worker = worker});
  EXPECT_TRUE(workers.wait(worker, 30.0));
  workers.deliver(worker, {.number = 1, .facts = {measured(0, 1)}});
  EXPECT_FALSE(lead->wait(0.2)) << "a measurement alone wakes nobody";
  workers.deliver(worker, {.number = 2, .facts = {SegmentDone{.trial = TrialId{0}}}});
  EXPECT_TRUE(lead->wait(30.0));
}

TEST_F(PostgresFaults, LettersOfADatabaseAreThoseOfAFolder) {
  const PostgresStore store = PostgresStore::open(connect(), "small");
  const PostgresMailbox box(connect(), store.id(), "requests", 8);
  const PostgresMailbox other(connect(), store.id(), "refusals", 8);
  const std::string first = Mailbox::new_id(1.0);
  const std::string second = Mailbox::new_id(2.0);
  box.put(second, "two");
  box.put(first, "one");
  box.put(first, "uno");
  EXPECT_EQ(box.ids(), (std::vector<std::string>{first, second}));
  EXPECT_EQ(box.read(first), "uno");
  EXPECT_TRUE(other.ids().empty());
  box.put(second, "far too long");
  EXPECT_EQ(box.read(second), std::nullopt);
  box.remove_older_than(3600.0);
  EXPECT_TRUE(box.has(first));
  box.remove(first);
  EXPECT_FALSE(box.has(first));
  box.remove_older_than(-1.0);
  EXPECT_TRUE(box.ids().empty());
}

}  // namespace postgres_faults_test
}  // namespace bapi

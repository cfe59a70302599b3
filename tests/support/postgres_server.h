#pragma once

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "bapi/process/private_database.h"
#include "bapi/store/postgres_connection.h"
#include "tests/support/temp_dir.h"

namespace bapi::test {

// A PostgreSQL server of the test program alone: made when it is first asked for, gone with the program however that
// ends. Root starts it as another user, since PostgreSQL refuses root.
class PostgresServer {
 public:
  // Why there can be none; empty if there can.
  static std::string missing() {
    if (!has_postgres()) return "bapi was built without libpq";
    try {
      postgres_programs();
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  }

  static PostgresServer& instance() {
    static PostgresServer server;
    return server;
  }

  PostgresServer() {
    if (const passwd* user = ::geteuid() == 0 ? unprivileged() : nullptr) {
      uid_ = user->pw_uid;
      gid_ = user->pw_gid;
      if (::chown(directory_.path().c_str(), uid_, gid_) != 0) throw std::runtime_error("chown");
    }
    const int prepared = wait_for(as_user([&] {
      prepare_private_database(directory_.path());
      // Nothing survives the test, so nothing needs to be synced.
      std::ofstream(directory_ / "data/postgresql.conf", std::ios::app) << "fsync = off\nmax_wal_size = 4GB\n";
    }));
    if (prepared != 0) throw std::runtime_error("the private database could not be made");
    std::getline(std::ifstream(directory_ / "url"), server_url_);
    start();
    server_url_.replace(server_url_.find("/bapi?"), 6, "/postgres?");
  }

  ~PostgresServer() { kill(SIGQUIT); }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // An empty database of its own.
  DatabaseUrl new_database() {
    const std::string name = "test" + std::to_string(++databases_);
    PostgresConnection{DatabaseUrl(server_url_)}.execute("CREATE DATABASE " + name);
    return url_of(name);
  }

  DatabaseUrl url_of(const std::string& database) const {
    std::string url = server_url_;
    url.replace(url.find("/postgres?"), 10, "/" + database + "?");
    return DatabaseUrl(url);
  }

  int port() const {
    const std::size_t at = server_url_.find("127.0.0.1:") + 10;
    return std::stoi(server_url_.substr(at));
  }

  void start() {
    const std::string program = (postgres_programs() / "postgres").string();
    const std::string data = (directory_ / "data").string();
    const std::string log = (directory_ / "log").string();
    const auto launch = [&] {
      return as_user([&] {
        const int out = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
        ::execl(program.c_str(), program.c_str(), "-D", data.c_str(), nullptr);
      });
    };
    process_ = launch();
    for (int look = 0; look < 1200; ++look) {
      try {
        std::string url = server_url_;
        if (const std::size_t at = url.find("/bapi?"); at != std::string::npos) url.replace(at, 6, "/postgres?");
        PostgresConnection{DatabaseUrl(url)}.run("SELECT 1");
        return;
      } catch (const Error&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        // While processes of a killed server hold on to its memory, the next one gives up at once.
        if (::waitpid(process_, nullptr, WNOHANG) == process_) process_ = launch();
      }
    }
    throw std::runtime_error("the private database does not answer");
  }

  // SIGKILL: as a machine that fails. The server's other processes notice by themselves.
  void kill(int signal) {
    if (process_ <= 0) return;
    ::kill(process_, signal);
    wait_for(std::exchange(process_, 0));
  }

 private:
  static const passwd* unprivileged() {
    for (const char* name : {"postgres", "nobody"}) {
      if (const passwd* user = ::getpwnam(name)) return user;
    }
    throw std::runtime_error("there is no user that is not root");
  }

  // Ends with this thread's process.
  template <typename Work>
  pid_t as_user(Work work) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    int code = 1;
    try {
      const bool changed = uid_ == 0 || (::setgroups(0, nullptr) == 0 && ::setgid(gid_) == 0 && ::setuid(uid_) == 0);
      ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
      if (changed) {
        work();
        code = 0;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(code);
  }

  static int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  TempDir directory_;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
  std::string server_url_;
  pid_t process_ = 0;
  int databases_ = 0;
};

// At the beginning of a test, or of SetUp: leaves it where programs are missing, or fails if they must not.
#define BAPI_NEEDS_POSTGRES()                                                                \
  if (const std::string missing = bapi::test::PostgresServer::missing(); !missing.empty()) { \
    if (std::getenv("BAPI_REQUIRE_CLUSTER_TESTS")) FAIL() << missing;                        \
    GTEST_SKIP() << missing;                                                                 \
  }

}  // namespace bapi::test

#include "bapi/process/private_database.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/base/host.h"
#include "bapi/base/split.h"
#include "bapi/process/subprocess.h"
#include "bapi/store/postgres_connection.h"
#include "bapi/store/postgres_schema.h"

namespace bapi {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUser = "bapi";
constexpr const char* kDatabase = "bapi";
constexpr double kLongestProgram = 120.0;  // seconds that initdb or pg_ctl may take on a busy machine
constexpr std::size_t kLargestLog = 1 << 20;

fs::path data_of(const fs::path& directory) { return directory / "data"; }

std::string random_password() {
  std::array<unsigned char, 24> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw StoreError("the system gave no random bytes for a password");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Readable by this user alone, from its first byte.
void write_secret(const fs::path& file, const std::string& text) {
  const FileDescriptor secret(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!secret) fail_at("write", file, errno);
  write_all(secret, text, file);
}

bool is_free(int port) {
  const FileDescriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(static_cast<std::uint16_t>(port));
  return probe && ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Below the ports that the system gives to connections: one that is free now is free when the server starts.
int free_port() {
  constexpr std::uint32_t kFirst = 15432;
  constexpr std::uint32_t kLast = 31999;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::uint32_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) break;
    const int port = static_cast<int>(kFirst + number % (kLast - kFirst + 1));
    if (is_free(port)) return port;
  }
  throw StoreError("there is no free port for a database server");
}

std::string last_lines(const fs::path& log) {
  const std::string text = read_whole_file(log, kLargestLog).value_or("");
  const std::vector<std::string> lines = split(text, '\n');
  std::string out;
  for (std::size_t i = lines.size() > 12 ? lines.size() - 12 : 0; i < lines.size(); ++i) {
    if (!lines[i].empty()) out += "\n  " + lines[i];
  }
  return out;
}

// What a server of this user should not read from its environment.
std::vector<std::string> plain_environment() {
  std::vector<std::string> variables = {"LC_ALL=C"};
  for (char** variable = ::environ; variable && *variable; ++variable) {
    const std::string_view text(*variable);
    if (!text.starts_with("PG") && !text.starts_with("LC_ALL=")) variables.emplace_back(text);
  }
  return variables;
}

// Runs a program of PostgreSQL to its end; its exit code.
int run_program(const std::vector<std::string>& arguments, const fs::path& log) {
  auto launched = Subprocess::launch({.arguments = arguments,
                                      .environment = plain_environment(),
                                      .output = log,
                                      .directory = log.parent_path(),
                                      .session = Launch::Session::of_this_process});
  if (const auto* failure = std::get_if<Subprocess::Failure>(&launched)) throw StoreError(failure->message);
  auto& program = std::get<Subprocess>(launched);
  if (const auto failure = program.begin()) throw StoreError(failure->message);
  const SystemClock clock;
  const double deadline = clock.now() + kLongestProgram;
  while (clock.now() < deadline) {
    if (const std::optional<Exit> exit = program.poll_exit())
      return exit->signal == 0 ? exit->code : 128 + exit->signal;
    pollfd end{.fd = program.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&end, 1, 50);
  }
  throw StoreError(fmt::format("{}: did not end within {:.0f} s", arguments.front(), kLongestProgram));
}

bool is_directory_of_programs(const fs::path& place) {
  return ::access((place / "initdb").c_str(), X_OK) == 0 && ::access((place / "pg_ctl").c_str(), X_OK) == 0;
}

std::string configuration(const PrivateDatabaseOptions& options, int port, const fs::path& directory) {
  for (const char c : options.listen) {
    require(c != '\'' && c != '\\' && c != '\n',
            fmt::format("--listen: found '{}', expected addresses", options.listen));
  }
  // The name of a Unix socket may have about 100 characters.
  const std::string socket = directory.string().size() < 80 ? directory.string() : "";
  return fmt::format(
      "\n# bapi database\nlisten_addresses = '{}'\nport = {}\nunix_socket_directories = '{}'\n"
      "password_encryption = 'scram-sha-256'\nmax_connections = 500\n",
      options.listen,
      port,
      socket.find('\'') == std::string::npos ? socket : "");
}

std::string host_in_url(const std::string& listen) {
  if (listen != "*" && listen != "0.0.0.0" && listen.find(',') == std::string::npos) return listen;
  return host_name();
}

// Values of an address are percent-encoded.
std::string encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

fs::path program(const char* name) { return postgres_programs() / name; }

DatabaseUrl url_of(const fs::path& directory) {
  const std::string text(trim(split(read_whole_file(directory / "url").value_or(""), '\n').at(0)));
  return DatabaseUrl(text);
}

// In the database that initdb has made.
void create_database(const DatabaseUrl& url) {
  std::string first = url.with_password();
  first.replace(first.find(fmt::format("/{}?", kDatabase)), std::string_view(kDatabase).size() + 2, "/postgres?");
  PostgresConnection server{DatabaseUrl(first)};
  if (server.run("SELECT 1 FROM pg_database WHERE datname = $1", {std::string_view(kDatabase)}).empty()) {
    server.execute(fmt::format("CREATE DATABASE {}", kDatabase));
  }
}

}  // namespace

fs::path postgres_programs() {
  const char* variable = ::getenv("PATH");
  for (const std::string& place : split(variable ? variable : "", ':')) {
    if (!place.empty() && is_directory_of_programs(place)) return place;
  }
  fs::path newest;
  int newest_version = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version <= newest_version || !is_directory_of_programs(entry.path() / "bin")) continue;
    newest = entry.path() / "bin";
    newest_version = version;
  }
  require(!newest.empty(),
          "found no PostgreSQL server (initdb, pg_ctl) in PATH or /usr/lib/postgresql. Install one, for example the "
          "Debian package postgresql, or use the address of a server that you have");
  return newest;
}

void prepare_private_database(const fs::path& place, const PrivateDatabaseOptions& options) {
  const fs::path directory = fs::absolute(place).lexically_normal();
  std::error_code ignored;
  if (fs::exists(directory / "url", ignored)) return;
  if (::geteuid() == 0) {
    throw StoreError(
        "PostgreSQL does not run as root. Start the database as an ordinary user, for example with runuser");
  }
  const fs::path initdb = program("initdb");
  make_directories(directory);
  require(!fs::exists(data_of(directory), ignored),
          fmt::format("{}: found a directory that an earlier start has left unfinished. Remove it and start again",
                      data_of(directory).string()));
  const int port = options.port == 0 ? free_port() : options.port;
  const std::string configured = configuration(options, port, directory);
  const std::string password = random_password();
  const fs::path secret = directory / "password.new";
  fs::remove(secret, ignored);
  write_secret(secret, password + "\n");
  const int code = run_program({initdb.string(),
                                "--pgdata=" + data_of(directory).string(),
                                fmt::format("--username={}", kUser),
                                "--pwfile=" + secret.string(),
                                "--auth=scram-sha-256",
                                "--encoding=UTF8",
                                "--locale=C"},
                               directory / "log");
  fs::remove(secret, ignored);
  if (code != 0) {
    throw StoreError(fmt::format("initdb failed with exit code {}:{}", code, last_lines(directory / "log")));
  }
  const FileDescriptor settings = open_file(data_of(directory) / "postgresql.conf", O_WRONLY | O_APPEND);
  write_all(settings, configured, data_of(directory) / "postgresql.conf");
  if (options.listen != PrivateDatabaseOptions{}.listen) {
    // initdb lets in who comes from this machine.
    const fs::path access = data_of(directory) / "pg_hba.conf";
    write_all(open_file(access, O_WRONLY | O_APPEND), "\nhost all all all scram-sha-256\n", access);
  }
  fs::remove(directory / "password", ignored);
  write_secret(directory / "password", fmt::format("*:{}:*:{}:{}\n", port, kUser, password));
  replace_file(directory / "url",
               fmt::format("postgresql://{}@{}:{}/{}?passfile={}\n",
                           kUser,
                           host_in_url(options.listen),
                           port,
                           kDatabase,
                           encoded((directory / "password").string())));
}

bool private_database_runs(const fs::path& place) {
  const fs::path directory = fs::absolute(place).lexically_normal();
  return run_program({program("pg_ctl").string(), "status", "-D", data_of(directory).string()}, directory / "log") == 0;
}

DatabaseUrl start_private_database(const fs::path& place, const PrivateDatabaseOptions& options) {
  const fs::path directory = fs::absolute(place).lexically_normal();
  prepare_private_database(directory, options);
  if (!private_database_runs(directory)) {
    const int code = run_program({program("pg_ctl").string(),
                                  "start",
                                  "--wait",
                                  "-D",
                                  data_of(directory).string(),
                                  "-l",
                                  (directory / "log").string()},
                                 directory / "log");
    if (code != 0) throw StoreError(fmt::format("the server did not start:{}", last_lines(directory / "log")));
  }
  const DatabaseUrl url = url_of(directory);
  create_database(url);
  PostgresConnection db(url);
  migrate_schema(db);
  return url;
}

void stop_private_database(const fs::path& place) {
  const fs::path directory = fs::absolute(place).lexically_normal();
  std::error_code ignored;
  require(fs::exists(directory / "url", ignored),
          fmt::format("{}: found no database here; expected a directory of `bapi database start`", directory.string()));
  if (!private_database_runs(directory)) return;
  const int code =
      run_program({program("pg_ctl").string(), "stop", "--wait", "--mode=fast", "-D", data_of(directory).string()},
                  directory / "log");
  if (code != 0) throw StoreError(fmt::format("the server did not stop:{}", last_lines(directory / "log")));
}

}  // namespace bapi

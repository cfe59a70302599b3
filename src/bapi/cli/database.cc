#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bapi/base/error.h"
#include "bapi/cli/commands.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/listing.h"
#include "bapi/process/private_database.h"

namespace bapi {

namespace {

struct DatabaseArguments {
  std::string action;
  std::string directory;
  std::optional<std::string> listen;
  std::optional<int> port;
};

int start(const DatabaseArguments& arguments) {
  PrivateDatabaseOptions options;
  if (arguments.listen) options.listen = *arguments.listen;
  if (arguments.port) {
    require(*arguments.port >= 1 && *arguments.port <= 65535,
            fmt::format("--port {}: expected 1 to 65535", *arguments.port));
    options.port = *arguments.port;
  }
  const DatabaseUrl url = start_private_database(arguments.directory, options);
  print(url.shown() + "\n");
  std::fflush(stdout);
  note(fmt::format("the database is at the address above until `bapi database stop {}`; its password is in {}/password",
                   arguments.directory,
                   arguments.directory));
  if (arguments.listen && *arguments.listen != "127.0.0.1") {
    note("other machines reach it, and what is sent is not encrypted: use it in a network that you trust, or ssh -L");
  }
  return kDone;
}

int database(const DatabaseArguments& arguments) {
  if (arguments.action == "start") return start(arguments);
  require(arguments.action == "stop", fmt::format("{}: expected start or stop", arguments.action));
  stop_private_database(arguments.directory);
  return kDone;
}

}  // namespace

Command database_command() {
  return {.name = "database",
          .summary = "Start or stop a private PostgreSQL server",
          .examples =
              "Examples:\n"
              "  bapi database start ~/tuning-db\n"
              "  export BAPI_STORAGE=$(bapi database start ~/tuning-db)\n"
              "  bapi database stop ~/tuning-db\n\n"
              "Makes a database in the directory if there is none (initdb, scram-sha-256, a random password in a file\n"
              "that only you can read), starts its server and prints the address for --storage and STUDY arguments.\n"
              "The studies stay in the directory when the server is stopped.\n"
              "Exit codes: 0 done, 2 wrong arguments or no PostgreSQL server installed, 3 the server did not start.",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<DatabaseArguments>();
            arguments.positional("start|stop", parsed->action, "What to do");
            arguments.positional("DIR", parsed->directory, "Directory of the database");
            arguments.option(
                "--listen", parsed->listen, "Addresses for a new database to listen on; default: 127.0.0.1");
            arguments.option("-p,--port", parsed->port, "Port of a new database; default: any that is free");
            return [parsed] { return database(*parsed); };
          }};
}

}  // namespace bapi

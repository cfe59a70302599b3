#include "bapi/cli/dashboard.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "bapi/base/clock.h"
#include "bapi/base/error.h"
#include "bapi/cli/exit_code.h"
#include "bapi/cli/http_server.h"
#include "bapi/cli/interrupt.h"
#include "bapi/cli/listing.h"
#include "bapi/dashboard/api.h"
#include "bapi/dashboard/heap.h"

namespace bapi {

namespace {

// Sixteen streams, and as many other requests beside them.
constexpr int kThreads = 32;
constexpr int kDefaultPort = 8787;

struct DashboardArguments {
  std::vector<std::string> places;
  std::string host = "127.0.0.1";
  std::optional<int> port;
  std::vector<std::string> allowed_hosts;
  std::optional<std::string> base;
  bool read_only = false;
  bool no_token = false;
};

// A study, or a directory in which studies are looked for.
Catalogue::Places places_of(const std::vector<std::string>& words) {
  Catalogue::Places places;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (DatabaseUrl::is_one(word)) {
      const DatabaseStudy there = parse_database_study(word);
      if (there.name.empty()) {
        studies_of(there.database);  // says at once why it cannot be reached
        places.databases.push_back(there.database);
        continue;
      }
    }
    const bool directory = std::filesystem::is_directory(word, ignored) && !is_study(StudyDir(word)) &&
                           std::filesystem::path(word).extension() != ".bapi";
    if (directory) {
      places.directories.emplace_back(word);
    } else {
      places.studies.push_back(locate_place(word));
    }
  }
  if (words.empty()) places.directories.emplace_back(".");
  return places;
}

GuardRules rules_of(const DashboardArguments& arguments) {
  GuardRules rules{.host = arguments.host, .allowed_hosts = arguments.allowed_hosts, .read_only = arguments.read_only};
  const bool local = is_loopback(arguments.host);
  require(!arguments.no_token || (local && arguments.read_only),
          "--no-token needs --read-only and an address of this machine alone: anyone who can reach the port sees "
          "everything");
  if (!arguments.no_token) rules.token = random_token();
  if (!local) {
    note(fmt::format("{} is reachable by others, and what is sent is not encrypted; use a proxy for that (--base)",
                     arguments.host));
  }
  return rules;
}

std::string address_of(const DashboardArguments& arguments, const GuardRules& rules) {
  const std::string base = arguments.base.value_or(fmt::format("http://{}:{}/", arguments.host, rules.port));
  return rules.token.empty() ? base : fmt::format("{}#token={}", base, rules.token);
}

int serve(const DashboardArguments& arguments) {
  share_heaps();
  const int wanted = arguments.port.value_or(kDefaultPort);
  require(wanted >= 0 && wanted <= 65535, fmt::format("--port {}: expected 0 to 65535", wanted));
  const SystemClock clock;
  GuardRules rules = rules_of(arguments);
  Catalogue catalogue(places_of(arguments.places));
  Planner planner;
  Api api(catalogue, planner, rules, clock);
  HttpServer server([&](const HttpRequest& request) { return api.refuse(request); },
                    [&](const HttpRequest& request) { return api.answer(request); },
                    kThreads);
  int port = 0;
  try {
    port = server.bind(arguments.host, wanted);
  } catch (const InvalidInput&) {
    if (arguments.port) throw;  // the default port is no promise
    port = server.bind(arguments.host, 0);
  }
  api.bound_to(port);
  const InterruptFlag interrupt;
  std::printf("%s\n", address_of(arguments, api.rules()).c_str());
  std::fflush(stdout);
  note(fmt::format("the dashboard is at the address above{}; Ctrl-C ends it",
                   arguments.read_only ? " (read-only)" : ""));
  std::thread watch([&] {
    while (!interrupt.flag()->load()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    api.end();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // streams say goodbye
    server.stop();
  });
  server.serve();
  watch.join();
  return kDone;
}

}  // namespace

Command dashboard_command() {
  return {.name = "dashboard",
          .summary = "Watch studies in a browser",
          .examples =
              "Examples:\n"
              "  bapi dashboard                     all studies in and below this directory\n"
              "  bapi dashboard mlp\n"
              "  bapi dashboard ~/studies --read-only --port 9000\n"
              "  bapi dashboard postgresql://ann@db/tuning          all studies of a database\n\n"
              "Prints the address to open; it holds a token that changes with every start. Live while studies run; "
              "shows\n"
              "best value and model, budget and its expected end, forecasts, plan, and the reason for every decision.\n"
              "On another machine: ssh -L 8787:localhost:8787 HOST, then open the address here.\n"
              "Scripts: curl -H 'Authorization: Bearer TOKEN' http://localhost:8787/api/v1/studies",
          .declare = [](Arguments& arguments) -> std::function<int()> {
            const auto parsed = std::make_shared<DashboardArguments>();
            arguments.optional_positionals(
                "[DIR | STUDY]", parsed->places, "Studies, or directories to look for them; default: this directory");
            arguments.option("-p,--port", parsed->port, "Port; default: 8787, or any if it is taken; 0: any");
            arguments.option("--host", parsed->host, "Address to listen on; default: 127.0.0.1, this machine alone");
            arguments.options(
                "--allow-host", parsed->allowed_hosts, "Further name by which a proxy calls the server; repeatable");
            arguments.option("--base", parsed->base, "Address to print if a proxy stands in front");
            arguments.flag("-r,--read-only", parsed->read_only, "Show only: no pause, budget, stop or note");
            arguments.flag("--no-token", parsed->no_token, "Ask for no token; needs --read-only");
            return [parsed] { return serve(*parsed); };
          }};
}

}  // namespace bapi

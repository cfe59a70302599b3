// A training program that behaves, or misbehaves, as its flags say. It talks to bapi by the environment alone.
//
//   --x V             quality: the metric at epoch t is V (1 - exp(-t / 5))
//   --epochs N        ends by itself after epoch N (default: after BAPI_MAX_EPOCH)
//   --exit-at-until   ends by itself after BAPI_UNTIL_EPOCH
//   --startup S       sleeps before it trains          --ready     reports the end of start-up
//   --sleep S         sleeps in every epoch            --linger S  sleeps after the last epoch
//   --say WHERE       file (default), print, tune, both, none
//   --metric NAME     (default accuracy)               --cost C    reports a cost
//   --nan-at T  --inf-at T  --skip T  --no-metric-at T  --text-at T  --epoch-zero-at T  --garbage-at T
//   --crash-at T [--exit-code C]  --abort-at T  --hang-at T     after that epoch was trained, instead of reporting it
//   --ignore-term  --fork-child  --escape-child  --big-output BYTES  --half-line-at T  --twice  --ahead --no-checkpoint
//   --forget N
//   --turn T          the metric rises to epoch T and falls after it
//   --report-first    reports an epoch, then saves it  --save-every N  --in-place  writes over its checkpoint
//   --save-took S     sleeps within every save              --validate S  sleeps between saving and reporting
//   --chatty          prints a line at the beginning of every epoch
//   --plan P          fine; diverges: --nan-at 3; ends: --epochs 4
//   --once FILE       misbehaves only if FILE does not exist yet, and creates it
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

using Flags = std::map<std::string, std::string>;

Flags parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool has_value = i + 1 < argc && std::string(argv[i + 1]).rfind("--", 0) != 0;  // -1 is a value
    flags[name] = has_value ? argv[++i] : "";
  }
  if (flags["--plan"] == "diverges") flags["--nan-at"] = "3";
  if (flags["--plan"] == "ends") flags["--epochs"] = "4";
  return flags;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

class Trainer {
 public:
  explicit Trainer(Flags flags) : flags_(std::move(flags)) {}

  int run() {
    if (has("--ignore-term")) ::signal(SIGTERM, SIG_IGN);
    if (has("--fork-child") || has("--escape-child")) fork_child();
    if (has("--big-output")) print_without_newline(std::stoul(flags_.at("--big-output")));
    sleep(number("--startup", 0.0));
    if (has("--ready")) say("{\"ready\": true}");
    int epoch = first_epoch() - 1;
    const int last = last_epoch();
    while (epoch < last) train(++epoch);
    sleep(number("--linger", 0.0));
    return 0;
  }

 private:
  bool has(const std::string& flag) const { return flags_.count(flag) > 0; }
  double number(const std::string& flag, double standard) const {
    const auto found = flags_.find(flag);
    return found == flags_.end() ? standard : std::stod(found->second);
  }
  bool at(const std::string& flag, int epoch) const { return number(flag, -1.0) == epoch && !was_here(); }

  // True if --once names a file that exists; makes it otherwise.
  bool was_here() const {
    const auto once = flags_.find("--once");
    if (once == flags_.end()) return false;
    if (std::filesystem::exists(once->second)) return true;
    std::ofstream(once->second) << "here";
    return false;
  }

  static void sleep(double seconds) { ::usleep(static_cast<useconds_t>(1e6 * seconds)); }

  std::string checkpoint() const { return environment("BAPI_CHECKPOINT_DIR") + "/epoch"; }

  // A checkpoint that is ahead of what was reported is reported first.
  int first_epoch() {
    const int from = std::stoi("0" + environment("BAPI_FROM_EPOCH"));
    if (has("--forget")) return std::max(1, from + 1 - static_cast<int>(number("--forget", 0.0)));
    int saved = 0;
    if (!has("--no-checkpoint")) std::ifstream(checkpoint()) >> saved;
    if (saved > from && !has("--ahead")) report(saved);
    return saved + 1;
  }

  int last_epoch() const {
    if (has("--exit-at-until")) return std::stoi(environment("BAPI_UNTIL_EPOCH"));
    return static_cast<int>(number("--epochs", std::stod(environment("BAPI_MAX_EPOCH"))));
  }

  void train(int epoch) {
    if (has("--chatty")) print("epoch " + std::to_string(epoch) + " begins\n");
    sleep(number("--sleep", 0.0));
    if (at("--crash-at", epoch)) {
      std::fprintf(stderr, "out of cheese in epoch %d\n", epoch);
      std::exit(static_cast<int>(number("--exit-code", 3.0)));
    }
    if (at("--abort-at", epoch)) std::abort();
    if (at("--hang-at", epoch)) sleep(1000.0);
    if (at("--skip", epoch)) return;
    if (has("--report-first")) report(epoch);
    if (epoch % static_cast<int>(number("--save-every", 1.0)) == 0) save(epoch);
    if (!has("--report-first")) {
      sleep(number("--validate", 0.0));
      report(epoch);
    }
    if (has("--twice")) report(epoch);
  }

  void save(int epoch) const {
    if (has("--in-place")) {
      std::ofstream file(checkpoint());
      file << std::flush;
      sleep(number("--save-took", 0.0));
      file << epoch;
      return;
    }
    std::ofstream(checkpoint() + ".new") << epoch;
    sleep(number("--save-took", 0.0));
    std::filesystem::rename(checkpoint() + ".new", checkpoint());
  }

  void report(int epoch) {
    if (at("--garbage-at", epoch)) {
      say("this is not JSON {]");
      say("[1, 2]");
    }
    std::ostringstream json;
    json.precision(17);
    json << "{\"epoch\": " << (at("--epoch-zero-at", epoch) ? "-1" : std::to_string(epoch));
    if (!at("--no-metric-at", epoch)) {
      json << ", \"" << (has("--metric") ? flags_.at("--metric") : "accuracy") << "\": ";
      if (at("--nan-at", epoch)) {
        json << "NaN";
      } else if (at("--inf-at", epoch)) {
        json << "-Infinity";
      } else if (at("--text-at", epoch)) {
        json << "\"good\"";
      } else if (has("--turn")) {
        json << number("--x", 1.0) - 0.001 * std::abs(epoch - number("--turn", 0.0));
      } else {
        json << number("--x", 1.0) * (1.0 - std::exp(-epoch / 5.0));
      }
    }
    if (has("--cost")) json << ", \"cost\": " << flags_.at("--cost");
    json << "}";
    if (at("--half-line-at", epoch)) return say_half(json.str());
    say(json.str());
  }

  void say(const std::string& json) const {
    const std::string where = has("--say") ? flags_.at("--say") : "file";
    if (where == "file" || where == "both") append(json + "\n");
    if (where == "print" || where == "both") print("bapi: " + json + "\n");
    if (where == "tune") print("INFO [tune-metric]: " + json + "\n");
  }

  // The first half, a pause, then the rest.
  void say_half(const std::string& json) const {
    append(json.substr(0, json.size() / 2));
    sleep(0.2);
    append(json.substr(json.size() / 2) + "\n");
  }

  static void append(const std::string& text) {
    const int file = ::open(environment("BAPI_REPORT").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0666);
    [[maybe_unused]] const ssize_t ignored = ::write(file, text.data(), text.size());
    ::close(file);
  }

  static void print(const std::string& text) {
    [[maybe_unused]] const ssize_t ignored = ::write(1, text.data(), text.size());
  }

  static void print_without_newline(std::size_t bytes) {
    const std::string block(4096, 'x');
    for (std::size_t written = 0; written < bytes; written += block.size()) print(block);
  }

  // A child that would outlive this program; its pid goes to a file in the trial's directory.
  void fork_child() const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGTERM, SIG_IGN);
      if (has("--escape-child")) ::setsid();
      for (int i = 0; i < 600; ++i) sleep(0.1);
      std::_Exit(0);
    }
    std::ofstream(environment("BAPI_DIR") + "/child") << child << "\n";
  }

  Flags flags_;
};

}  // namespace

int main(int argc, char** argv) { return Trainer(parse(argc, argv)).run(); }

#include "bapi/compare/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <span>

#include "bapi/base/error.h"
#include "bapi/run/study_dir.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

std::string to_text(OverheadCharge overhead) { return overhead == OverheadCharge::none ? "none" : "measured"; }

Json json_of(const Coverage& c) { return {c.count, c.within_50, c.within_80, c.within_95}; }

Coverage coverage_of(const Json& json) {
  return {.count = json.at(0).get<int>(),
          .within_50 = json.at(1).get<double>(),
          .within_80 = json.at(2).get<double>(),
          .within_95 = json.at(3).get<double>()};
}

Json json_of(const RunRecord& run) {
  return {{"table", run.key.table},
          {"policy", run.key.policy},
          {"budget", run.key.budget},
          {"workers", run.key.workers},
          {"seed", run.key.seed},
          {"final", run.final},
          {"regret", run.regret},
          {"normalised_regret", run.normalised_regret},
          {"spent", run.spent},
          {"decisions", run.decisions},
          {"overhead_seconds", run.overhead_seconds},
          {"trajectory", run.trajectory},
          {"value_coverage", json_of(run.calibration.value)},
          {"cost_coverage", json_of(run.calibration.cost)}};
}

RunRecord record_of(const Json& json) {
  return {
      .key = {.table = json.at("table").get<std::string>(),
              .policy = json.at("policy").get<std::string>(),
              .budget = json.at("budget").get<std::string>(),
              .workers = json.at("workers").get<int>(),
              .seed = json.at("seed").get<std::uint64_t>()},
      .final = json.at("final").get<double>(),
      .regret = json.at("regret").get<double>(),
      .normalised_regret = json.at("normalised_regret").get<double>(),
      .spent = json.at("spent").get<double>(),
      .decisions = json.at("decisions").get<int>(),
      .overhead_seconds = json.at("overhead_seconds").get<double>(),
      .trajectory = json.at("trajectory").get<std::vector<std::pair<double, double>>>(),
      .calibration = {.value = coverage_of(json.at("value_coverage")), .cost = coverage_of(json.at("cost_coverage"))}};
}

// 64-bit FNV-1a.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  void add(std::span<const double> numbers) {
    for (const double number : numbers) {
      state_ = (state_ ^ std::bit_cast<std::uint64_t>(number)) * 1099511628211ULL;
      state_ ^= state_ >> 29;  // the multiplication alone carries upwards only
    }
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 14695981039346656037ULL;
};

std::filesystem::path made(const std::filesystem::path& directory) {
  make_directories(directory);
  return directory;
}

}  // namespace

std::string fingerprint(const CurveTable& table) {
  Hash hash;
  hash.add(encode(study_of(table, 1.0, {}, 0, 1)));
  for (const CurveTable::Run& run : table.runs) {
    hash.add(std::to_string(run.value.size()));
    hash.add(run.value);
    hash.add(run.cost);
  }
  return hash.text();
}

RunLog::RunLog(const std::filesystem::path& directory, const Comparison& comparison)
    : file_(directory / "runs.log"), lock_(StudyLock::take(made(directory))) {
  read();
  out_ = open_file(file_, O_WRONLY | O_CREAT | O_APPEND);
  declare(comparison);
}

void RunLog::read() {
  const std::string text = read_whole_file(file_).value_or("");
  std::size_t number = 0;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    ++number;
    const Json json = end == std::string::npos ? Json() : Json::parse(text.substr(begin, end - begin), nullptr, false);
    try {
      if (json.contains("run")) {
        RunRecord record = record_of(json["run"]);
        RunKey key = record.key;
        finished_.insert_or_assign(std::move(key), std::move(record));
      } else if (json.contains("table")) {
        tables_[json["table"].get<std::string>()] = json.at("contents").get<std::string>();
      } else if (json.contains("policy")) {
        policies_[json["policy"].get<std::string>()] = json.at("is").get<std::string>();
      } else {
        const int version = json.at("bapi comparison").get<int>();
        require(version == kVersion, fmt::format("{}: version {}, expected {}", file_.string(), version, kVersion));
        overhead_ = json.at("overhead").get<std::string>();
      }
    } catch (const Json::exception&) {
      const bool last = end == std::string::npos || end + 1 == text.size();
      require(last, fmt::format("{}:{}: not a line of a comparison's log", file_.string(), number));
      std::filesystem::resize_file(file_, begin);
      return;
    }
    begin = end + 1;
  }
}

// Compares with what the log says first, so that nothing is written if anything differs.
void RunLog::declare(const Comparison& comparison) {
  const std::string where = file_.parent_path().string();
  const std::string overhead = to_text(comparison.overhead);
  require(!overhead_ || *overhead_ == overhead,
          fmt::format("{}: its runs were made with overhead {}, this comparison has overhead {}; give another --out",
                      where,
                      overhead_.value_or(""),
                      overhead));
  std::vector<std::string> lines;
  if (!overhead_) lines.push_back(Json{{"bapi comparison", kVersion}, {"overhead", overhead}}.dump());
  overhead_ = overhead;
  for (const CurveTable& table : comparison.tables) {
    const std::string contents = fingerprint(table);
    const auto [known, added] = tables_.try_emplace(table.name, contents);
    require(
        known->second == contents,
        fmt::format(
            "{}: its runs on {} were made with other contents of that table; give another --out", where, table.name));
    if (added) lines.push_back(Json{{"table", table.name}, {"contents", contents}}.dump());
  }
  for (const ComparedPolicy& policy : comparison.policies) {
    const std::string meaning = to_text(policy.spec);
    const auto [known, added] = policies_.try_emplace(policy.label, meaning);
    require(known->second == meaning,
            fmt::format("{}: there {} is {}, in this comparison it is {}; give another label or another --out",
                        where,
                        policy.label,
                        known->second,
                        meaning));
    if (added) lines.push_back(Json{{"policy", policy.label}, {"is", meaning}}.dump());
  }
  for (const std::string& line : lines) write_line(line);
}

void RunLog::write_line(const std::string& line) { write_all(out_, line + "\n", file_); }

void RunLog::append(const RunRecord& record) {
  write_line(Json{{"run", json_of(record)}}.dump());
  finished_.insert_or_assign(record.key, record);
}

}  // namespace bapi

#include "bapi/compare/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <span>

#include "bapi/base/error.h"
#include "bapi/base/file.h"
#include "bapi/study/codec.h"

namespace bapi {
namespace {

using Json = nlohmann::json;

Json json_of(const DecisionTimes& times) { return {times.trials, times.decisions, times.seconds}; }

Json json_of(const Coverage& c) { return {c.count, c.within_50, c.within_80, c.within_95}; }

Json json_of(const RunRecord& run) {
  Json times = Json::array();
  for (const DecisionTimes& group : run.decision_times) times.push_back(json_of(group));
  return {{"table", run.key.table},
          {"policy", run.key.policy},
          {"budget", run.key.budget},
          {"workers", run.key.workers},
          {"seed", run.key.seed},
          {"final", run.final ? Json(*run.final) : Json()},
          {"regret", run.regret},
          {"normalised_regret", run.normalised_regret},
          {"spent", run.spent},
          {"decisions", run.decisions},
          {"overhead_seconds", run.overhead_seconds},
          {"decision_times", std::move(times)},
          {"trajectory", run.trajectory},
          {"value_coverage", json_of(run.calibration.value)},
          {"cost_coverage", json_of(run.calibration.cost)}};
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

// What the runs of a label are made with.
std::string meaning_of(const ComparedPolicy& policy, const Comparison& comparison) {
  std::string meaning = to_text(policy.spec);
  if (comparison.overhead == OverheadCharge::modelled) {
    meaning += fmt::format(", charged {}", to_text(comparison.models.at(policy.label)));
  }
  if (policy.warm) {
    for (const EarlierTable& source : comparison.from) {
      const std::string study = source.budget ? " with a budget of " + source.budget->text() : "";
      meaning += fmt::format(", from {} ({}){}", source.table.name, fingerprint(source.table), study);
    }
  }
  return meaning;
}

// Makes the directory and locks it. The lock is that of a study, what is said about its holder is not.
StudyLock locked(const std::filesystem::path& directory) {
  make_directories(directory);
  if (const std::optional<StudyLock::Holder> holder = StudyLock::holder(directory)) {
    throw StoreError(fmt::format(
        "{}: process {} on {} is writing to it already. Wait for its end, or end it with `kill -INT {}` and run the "
        "same command again: what is finished is kept",
        directory.string(),
        holder->pid,
        holder->host,
        holder->pid));
  }
  return StudyLock::take(directory);
}

}  // namespace

std::string fingerprint(const CurveTable& table) {
  Hash hash;
  hash.add(encode(study_of(table, 1.0, {}, 0, 1)));
  for (const CurveTable::Run& run : table.runs) {
    hash.add(std::to_string(run.value.size()));
    hash.add(run.value);
    hash.add(run.cost);
    if (!run.complete) hash.add("broken off");
  }
  return hash.text();
}

std::map<std::string, OverheadModel> overhead_models(const std::filesystem::path& directory,
                                                     std::span<const ComparedPolicy> policies) {
  const LoggedRuns logged = read_runs(directory / "runs.log");
  std::map<std::string, std::vector<DecisionTimes>> times;  // by policy with options
  for (const auto& [key, record] : logged.finished) {
    const auto meaning = logged.policies.find(key.policy);
    if (meaning == logged.policies.end()) continue;
    std::vector<DecisionTimes>& all = times[meaning->second];
    all.insert(all.end(), record.decision_times.begin(), record.decision_times.end());
  }
  std::map<std::string, OverheadModel> models;
  for (const ComparedPolicy& policy : policies) {
    const std::vector<DecisionTimes>& all = times[to_text(policy.spec)];
    require(!all.empty(),
            fmt::format("{}: has no runs of {} to learn from what its decisions take; compare it there first",
                        directory.string(),
                        to_text(policy.spec)));
    models[policy.label] = fit_overhead(all);
  }
  return models;
}

RunLog::RunLog(const std::filesystem::path& directory, const Comparison& comparison)
    : file_(directory / "runs.log"), lock_(locked(directory)), logged_(read_runs(file_)) {
  out_ = open_file(file_, O_WRONLY | O_CREAT | O_APPEND);
  std::filesystem::resize_file(file_, logged_.bytes);
  declare(comparison);
}

// Compares with what the log says first, so that nothing is written if anything differs.
void RunLog::declare(const Comparison& comparison) {
  const std::string where = file_.parent_path().string();
  const std::string overhead(word(comparison.overhead));
  const std::string checkpoint(word(comparison.checkpoint));
  const std::string settings = settings_text(overhead, checkpoint);
  require(!logged_.settings || *logged_.settings == settings,
          fmt::format("{}: its runs were made with {}, this comparison has {}; give another --out",
                      where,
                      logged_.settings.value_or(""),
                      settings));
  std::vector<std::string> lines;
  if (!logged_.settings) {
    lines.push_back(
        Json{{"bapi comparison", kComparisonLogVersion}, {"overhead", overhead}, {"checkpoint", checkpoint}}.dump());
  }
  logged_.settings = settings;
  for (const CurveTable& table : comparison.tables) {
    const std::string contents = fingerprint(table);
    const auto [known, added] = logged_.tables.try_emplace(table.name, contents);
    require(
        known->second == contents,
        fmt::format(
            "{}: its runs on {} were made with other contents of that table; give another --out", where, table.name));
    if (added) lines.push_back(Json{{"table", table.name}, {"contents", contents}}.dump());
  }
  for (const ComparedPolicy& policy : comparison.policies) {
    const std::string meaning = meaning_of(policy, comparison);
    const auto [known, added] = logged_.policies.try_emplace(policy.label, meaning);
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
  logged_.finished.insert_or_assign(record.key, record);
}

}  // namespace bapi

#include "resumable.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace experiments {
namespace {

// The learner and what its epochs measured and cost, on disk and in memory.
class Training {
 public:
  Training(Learner& learner, std::string owner, const TrialSettings& settings, const std::string& file_name)
      : learner_(learner), owner_(std::move(owner)) {
    if (settings.checkpoint.empty()) return;
    file_ = settings.checkpoint / file_name;
    load();
  }

  int epochs() const { return static_cast<int>(figures_.size()); }

  void train_epoch() {
    const double begin = processor_seconds();
    figures_.push_back(learner_.train_epoch(epochs() + 1));
    seconds_.push_back(processor_seconds() - begin);
    if (!file_.empty()) save();
  }

  // Whether the epoch's result is a finite number.
  bool report_epoch(int epoch) {
    const auto count = static_cast<std::size_t>(epoch);
    ReportFields fields = learner_.report_fields(std::span(figures_).first(count));
    const bool is_finite = std::isfinite(fields.front().second);
    fields.emplace_back("cost", seconds_[count - 1]);
    report(report_line(epoch, fields));
    return is_finite;
  }

 private:
  void save() {
    ArchiveWriter archive;
    archive(owner_);
    archive(static_cast<std::uint64_t>(figures_.size()));
    for (const std::vector<double>& figures : figures_) archive(figures);
    archive(seconds_);
    learner_.save(archive);
    replace_file(file_, archive.bytes());
  }

  void load() {
    const std::optional<std::string> bytes = read_file(file_);
    if (!bytes) return;
    try {
      ArchiveReader archive(*bytes);
      read(archive);
      if (!archive.at_end() || figures_.size() != seconds_.size()) throw std::runtime_error("it is damaged");
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(
          fmt::format("{}: {}; remove it or use another --checkpoint directory", file_.string(), error.what()));
    }
  }

  void read(ArchiveReader& archive) {
    std::string owner;
    archive(owner);
    if (owner != owner_) {
      throw std::runtime_error(fmt::format("it belongs to another trial ({}; this is {})", owner, owner_));
    }
    std::uint64_t epochs = 0;
    archive(epochs);
    for (std::uint64_t i = 0; i < epochs; ++i) archive(figures_.emplace_back());
    archive(seconds_);
    learner_.load(archive);
  }

  Learner& learner_;
  std::string owner_;
  std::filesystem::path file_;  // empty: no checkpoints
  Figures figures_;
  std::vector<double> seconds_;
};

}  // namespace

void run_training(Learner& learner,
                  const std::string& owner,
                  const TrialSettings& settings,
                  const std::string& file_name) {
  Training training(learner, owner, settings, file_name);
  report("{\"ready\": true}");
  for (int epoch = settings.from_epoch + 1; epoch <= training.epochs(); ++epoch) {
    if (!training.report_epoch(epoch)) return;
  }
  while (training.epochs() < settings.last_epoch) {
    training.train_epoch();
    if (!training.report_epoch(training.epochs())) return;
  }
}

}  // namespace experiments

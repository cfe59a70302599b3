#include "bapi/process/gpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>

#include "bapi/base/error.h"
#include "bapi/base/split.h"

namespace bapi {
namespace {

constexpr const char* kCuda = "CUDA_VISIBLE_DEVICES";
constexpr const char* kHip = "HIP_VISIBLE_DEVICES";
constexpr const char* kRocr = "ROCR_VISIBLE_DEVICES";
constexpr const char* kOneApi = "ONEAPI_DEVICE_SELECTOR";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string> numbered(int count) {
  std::vector<std::string> devices;
  for (int i = 0; i < count; ++i) devices.push_back(std::to_string(i));
  return devices;
}

// As the drivers read it: the list ends at the first entry that is not valid, such as -1.
std::vector<std::string> listed(const std::string& variable) {
  std::vector<std::string> devices;
  for (const std::string& item : split(variable, ',')) {
    const std::size_t begin = item.find_first_not_of(' ');
    if (begin == std::string::npos || item[begin] == '-' || item == "NoDevFiles") break;
    devices.push_back(item.substr(begin, item.find_last_not_of(' ') - begin + 1));
  }
  return devices;
}

template <typename Counts>
int count_entries(const std::filesystem::path& directory, Counts counts) {
  int count = 0;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    if (counts(entry->path())) ++count;
  }
  return count;
}

// In a container /dev may have nvidia2 alone; programs still count from 0.
int nvidia_gpus(const std::filesystem::path& root) {
  return count_entries(root / "dev", [](const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    return name.starts_with("nvidia") && is_number(name.substr(6));
  });
}

// Processors are nodes of the topology too, with the number 0.
int amd_gpus(const std::filesystem::path& root) {
  return count_entries(root / "sys/class/kfd/kfd/topology/nodes", [](const std::filesystem::path& node) {
    std::ifstream file(node / "gpu_id");
    long long id = 0;
    return static_cast<bool>(file >> id) && id != 0;
  });
}

// Those that a variable leaves to this process; nullopt if it is not set.
std::optional<std::vector<std::string>> left_by(const char* name, const Machine& machine) {
  const auto variable = machine.environment.find(name);
  if (variable == machine.environment.end()) return std::nullopt;
  std::vector<std::string> devices = listed(variable->second);
  require(!devices.empty(),
          fmt::format("gpus: auto found no GPU, because {}=\"{}\" hides them all. Unset it, list the GPUs "
                      "(gpus: [0, 1]), or leave gpus out to train on the CPU",
                      name,
                      variable->second));
  return devices;
}

std::vector<std::string> found_gpus(const Machine& machine) {
  for (const char* name : {kCuda, kHip}) {
    if (const auto devices = left_by(name, machine)) return *devices;
  }
  // HIP counts anew, from 0, those that this one leaves.
  if (const auto devices = left_by(kRocr, machine)) return numbered(static_cast<int>(devices->size()));
  const int nvidia = nvidia_gpus(machine.root);
  const int count = nvidia > 0 ? nvidia : amd_gpus(machine.root);
  require(
      count > 0,
      "gpus: auto found no GPU: there is no /dev/nvidia0, no AMD GPU in /sys/class/kfd, and CUDA_VISIBLE_DEVICES is "
      "not set. List the GPUs (gpus: [0, 1]), or leave gpus out to train on the CPU");
  return numbered(count);
}

std::vector<std::string> devices_of(const Gpus& gpus, const Machine& machine) {
  return gpus.automatic ? found_gpus(machine) : gpus.devices;
}

}  // namespace

Machine Machine::this_one() {
  Machine machine;
  for (char** variable = ::environ; variable && *variable; ++variable) {
    const std::string_view text(*variable);
    const std::size_t end = text.find('=');
    if (end != std::string_view::npos) machine.environment.emplace(text.substr(0, end), text.substr(end + 1));
  }
  return machine;
}

std::vector<std::string> gpus_of(const StudySpec& spec, const Machine& machine) {
  std::vector<std::string> devices = devices_of(spec.gpus, machine);
  if (devices.empty()) return devices;
  const auto places = std::ssize(devices) * spec.gpus.per_gpu;
  require(spec.workers <= places,
          fmt::format("workers: {}, but gpus has places for {} (found {}); use fewer workers, or let them share a GPU: "
                      "gpus: {{devices: auto, per_gpu: {}}}",
                      spec.workers,
                      places,
                      fmt::join(devices, ", "),
                      (spec.workers + std::ssize(devices) - 1) / std::ssize(devices)));
  return devices;
}

StudySpec with_workers_for_gpus(StudySpec spec, const Machine& machine) {
  if (spec.gpus.given() && spec.gpus.set_workers) {
    spec.workers = static_cast<int>(devices_of(spec.gpus, machine).size()) * spec.gpus.per_gpu;
  }
  return spec;
}

Environment worker_environment(int worker, const std::vector<std::string>& gpus) {
  Environment variables = {{"BAPI_WORKER", std::to_string(worker)}};
  if (gpus.empty()) return variables;
  const std::string& device = gpus[static_cast<std::size_t>(worker) % gpus.size()];
  variables[kCuda] = device;
  variables[kHip] = device;
  if (is_number(device)) variables[kOneApi] = "level_zero:" + device;
  return variables;
}

}  // namespace bapi

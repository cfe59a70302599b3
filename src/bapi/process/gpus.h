#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bapi/study/spec.h"

namespace bapi {

using Environment = std::map<std::string, std::string, std::less<>>;

// Where to look for the GPUs of a machine; tests have machines of their own.
struct Machine {
  Environment environment = {};
  std::filesystem::path root = "/";  // under which dev/ and sys/ are

  static Machine this_one();
};

// The GPUs that the workers of a study get, in the order of the workers; none if the study names none. `gpus: auto` is
// what CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES leave to this process, else all that NVIDIA's
// or AMD's driver shows. Throws InvalidInput if there are none, or fewer places than `workers`.
std::vector<std::string> gpus_of(const StudySpec& spec, const Machine& machine);

// The same specification with as many workers as the GPUs have places, if the study leaves that to bapi.
StudySpec with_workers_for_gpus(StudySpec spec, const Machine& machine);

// What tells a worker its number (from 0) and, if there are GPUs, which of them is its own. Workers are spread evenly:
// the first gets the first GPU, the second the second.
Environment worker_environment(int worker, const std::vector<std::string>& gpus);

}  // namespace bapi

#include "bapi/process/gpus.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bapi/base/error.h"
#include "tests/support/temp_dir.h"

namespace bapi {
namespace {

using test::TempDir;

using Devices = std::vector<std::string>;

// A machine whose /dev and /sys are a scratch directory.
class Gpu : public testing::Test {
 protected:
  void has(const std::string& file, const std::string& content = "") {
    const std::filesystem::path path = scratch_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }

  Machine machine(Environment environment = {}) const {
    return {.environment = std::move(environment), .root = scratch_.path()};
  }

  static StudySpec spec(const Gpus& gpus, int workers = 1) {
    StudySpec spec;
    spec.gpus = gpus;
    spec.workers = workers;
    return spec;
  }

  std::string message(const StudySpec& spec, const Environment& environment = {}) const {
    try {
      gpus_of(spec, machine(environment));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "no error";
  }

  TempDir scratch_;
};

TEST_F(Gpu, WithoutAnyInTheStudyThereAreNone) {
  has("dev/nvidia0");
  EXPECT_EQ(gpus_of(spec({}, 7), machine({{"CUDA_VISIBLE_DEVICES", "0,1"}})), Devices{});
}

TEST_F(Gpu, ListedOnesAreTakenAsTheyAre) {
  EXPECT_EQ(gpus_of(spec({.devices = {"3", "GPU-1"}}, 2), machine()), (Devices{"3", "GPU-1"}));
}

TEST_F(Gpu, AutoCountsTheDevicesOfNvidiaFromZero) {
  for (const char* file : {"nvidia0", "nvidia2", "nvidia10", "nvidiactl", "nvidia-uvm", "null"})
    has(std::string("dev/") + file);
  EXPECT_EQ(gpus_of(spec({.automatic = true}), machine()), (Devices{"0", "1", "2"}));
}

TEST_F(Gpu, AutoCountsThoseOfAmdAndNotTheProcessors) {
  has("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
  has("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51339\n");
  EXPECT_EQ(gpus_of(spec({.automatic = true}), machine()), Devices{"0"});
}

TEST_F(Gpu, AutoTakesWhatTheEnvironmentLeaves) {
  has("dev/nvidia0");
  EXPECT_EQ(gpus_of(spec({.automatic = true}), machine({{"CUDA_VISIBLE_DEVICES", "2, GPU-7,-1,4"}})),
            (Devices{"2", "GPU-7"}));
  EXPECT_EQ(gpus_of(spec({.automatic = true}), machine({{"HIP_VISIBLE_DEVICES", "1"}})), Devices{"1"});
}

TEST_F(Gpu, AutoCountsAnewWhatTheRuntimeOfAmdLeaves) {
  has("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51339\n");
  EXPECT_EQ(gpus_of(spec({.automatic = true}), machine({{"ROCR_VISIBLE_DEVICES", "2,GPU-7"}})), (Devices{"0", "1"}));
  EXPECT_EQ(
      gpus_of(spec({.automatic = true}), machine({{"ROCR_VISIBLE_DEVICES", "2,3"}, {"HIP_VISIBLE_DEVICES", "1"}})),
      Devices{"1"});
}

TEST_F(Gpu, AutoWithoutAnySaysWhereItLookedAndWhatToDo) {
  EXPECT_NE(message(spec({.automatic = true})).find("gpus: auto found no GPU: there is no /dev/nvidia0"),
            std::string::npos);
  const std::string hidden = message(spec({.automatic = true}), {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_NE(hidden.find("CUDA_VISIBLE_DEVICES=\"\" hides them all"), std::string::npos) << hidden;
}

TEST_F(Gpu, MoreWorkersThanPlacesAreRefused) {
  has("dev/nvidia0");
  EXPECT_NE(message(spec({.automatic = true}, 2)).find("workers: 2, but gpus has places for 1"), std::string::npos);
  EXPECT_EQ(message(spec({.automatic = true, .per_gpu = 2}, 2)), "no error");
}

TEST_F(Gpu, WorkersFollowThePlacesOnlyIfTheStudyLeavesThemOpen) {
  has("dev/nvidia0");
  has("dev/nvidia1");
  EXPECT_EQ(with_workers_for_gpus(spec({.automatic = true, .per_gpu = 2, .set_workers = true}), machine()).workers, 4);
  EXPECT_EQ(with_workers_for_gpus(spec({.automatic = true}), machine()).workers, 1);
  EXPECT_EQ(with_workers_for_gpus(spec({}, 5), machine()).workers, 5);
}

TEST_F(Gpu, WorkersAreSpreadOverTheGpusBeforeTheyShareOne) {
  for (int worker = 0; worker < 4; ++worker) {
    const Environment variables = worker_environment(worker, {"0", "5"});
    const std::string device = worker % 2 == 0 ? "0" : "5";
    EXPECT_EQ(variables,
              (Environment{{"BAPI_WORKER", std::to_string(worker)},
                           {"CUDA_VISIBLE_DEVICES", device},
                           {"HIP_VISIBLE_DEVICES", device},
                           {"ONEAPI_DEVICE_SELECTOR", "level_zero:" + device}}));
  }
}

TEST_F(Gpu, WithoutGpusAWorkerKnowsItsNumberAlone) {
  EXPECT_EQ(worker_environment(2, {}), (Environment{{"BAPI_WORKER", "2"}}));
}

TEST_F(Gpu, AUuidIsNoNumberOfIntelsDevices) {
  EXPECT_FALSE(worker_environment(0, {"GPU-8f2c"}).contains("ONEAPI_DEVICE_SELECTOR"));
}

}  // namespace
}  // namespace bapi

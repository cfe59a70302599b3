// The inverted pendulum and the two-link arm with the dimensions of the public environments InvertedPendulum-v2 and
// Reacher-v2, simulated by MuJoCo. The models are loaded from memory.

#include <mujoco/mujoco.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "environment.h"

namespace experiments {
namespace {

using Eigen::VectorXd;

constexpr std::string_view kPendulum = R"(<mujoco>
  <compiler inertiafromgeom="true"/>
  <default><joint armature="0" damping="1" limited="true"/><geom contype="0" density="1000" friction="1 0.1 0.1"/></default>
  <option gravity="0 0 -9.81" integrator="RK4" timestep="0.02"/>
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" range="-1 1"/>
      <geom type="capsule" size="0.1 0.1" quat="0.707 0 0.707 0"/>
      <body name="pole">
        <joint name="hinge" type="hinge" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0.001 0 0.6" size="0.049"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slider" gear="100" ctrllimited="true" ctrlrange="-3 3"/></actuator>
</mujoco>)";

constexpr std::string_view kArm = R"(<mujoco>
  <compiler angle="radian" inertiafromgeom="true"/>
  <default><joint armature="1" damping="1"/><geom contype="0" density="1000" friction="1 0.1 0.1"/></default>
  <option gravity="0 0 -9.81" integrator="RK4" timestep="0.01"/>
  <worldbody>
    <body name="upper" pos="0 0 0.01">
      <joint name="shoulder" type="hinge" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/>
      <body name="lower" pos="0.1 0 0">
        <joint name="elbow" type="hinge" axis="0 0 1" limited="true" range="-3 3"/>
        <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/>
        <body name="fingertip" pos="0.11 0 0"><geom type="sphere" size="0.01"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder" gear="200" ctrllimited="true" ctrlrange="-1 1"/>
    <motor joint="elbow" gear="200" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>)";

struct DeleteModel {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DeleteData {
  void operator()(mjData* data) const { mj_deleteData(data); }
};

std::unique_ptr<mjModel, DeleteModel> load_model(std::string_view xml) {
  const auto files = std::make_unique<mjVFS>();  // too large for the stack
  mj_defaultVFS(files.get());
  const int at = mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(xml.size()));
  std::string error(1000, '\0');
  mjModel* model = nullptr;
  if (at == 0) {
    std::memcpy(files->filedata[mj_findFileVFS(files.get(), "model.xml")], xml.data(), xml.size());
    model = mj_loadXML("model.xml", files.get(), error.data(), static_cast<int>(error.size()));
  }
  mj_deleteVFS(files.get());
  if (!model) throw std::runtime_error("MuJoCo cannot load the model: " + std::string(error.c_str()));
  return std::unique_ptr<mjModel, DeleteModel>(model);
}

// A model and its state. An action holds for two steps of the simulation.
class Physics {
 public:
  explicit Physics(std::string_view xml) : model_(load_model(xml)), data_(mj_makeData(model_.get())) {}

  // The whole state, what the solver starts from included.
  void reset() { mj_resetData(model_.get(), data_.get()); }
  void place() { mj_forward(model_.get(), data_.get()); }

  void act(const VectorXd& action) {
    for (Eigen::Index i = 0; i < action.size(); ++i) data_->ctrl[i] = action[i];
    for (int step = 0; step < 2; ++step) mj_step(model_.get(), data_.get());
    mj_forward(model_.get(), data_.get());
  }

  double& position(int joint) { return data_->qpos[joint]; }
  double& velocity(int joint) { return data_->qvel[joint]; }
  const double* body(const char* name) const { return data_->xpos + 3 * mj_name2id(model_.get(), mjOBJ_BODY, name); }

 private:
  std::unique_ptr<mjModel, DeleteModel> model_;
  std::unique_ptr<mjData, DeleteData> data_;
};

// 1 per step while the pole stands within 0.2 of upright.
class Pendulum : public Environment {
 public:
  int observations() const override { return 4; }
  int actions() const override { return 1; }
  double action_limit() const override { return 3.0; }
  int max_steps() const override { return 200; }

  VectorXd reset(Generator& generator) override {
    physics_.reset();
    for (int joint = 0; joint < 2; ++joint) {
      physics_.position(joint) = generator.uniform(-0.01, 0.01);
      physics_.velocity(joint) = generator.uniform(-0.01, 0.01);
    }
    physics_.place();
    return observation();
  }

  Transition step(const VectorXd& action) override {
    physics_.act(action);
    const VectorXd now = observation();
    const bool stands = now.allFinite() && std::abs(now[1]) <= 0.2;
    return {.observation = now, .reward = 1.0, .terminal = !stands};
  }

 private:
  VectorXd observation() {
    return Eigen::Vector4d(physics_.position(0), physics_.position(1), physics_.velocity(0), physics_.velocity(1));
  }

  Physics physics_{kPendulum};
};

// - distance of the fingertip from a target - |action|^2.
class Reacher : public Environment {
 public:
  int observations() const override { return 10; }
  int actions() const override { return 2; }
  double action_limit() const override { return 1.0; }
  int max_steps() const override { return 50; }

  VectorXd reset(Generator& generator) override {
    physics_.reset();
    for (int joint = 0; joint < 2; ++joint) {
      physics_.position(joint) = generator.uniform(-0.1, 0.1);
      physics_.velocity(joint) = generator.uniform(-0.005, 0.005);
    }
    do {
      target_ = {generator.uniform(-0.2, 0.2), generator.uniform(-0.2, 0.2)};
    } while (target_.norm() >= 0.2);
    physics_.place();
    return observation();
  }

  Transition step(const VectorXd& action) override {
    const double reward = -offset().norm() - action.squaredNorm();
    physics_.act(action);
    return {.observation = observation(), .reward = reward, .terminal = false};
  }

 private:
  Eigen::Vector2d offset() const {
    const double* tip = physics_.body("fingertip");
    return Eigen::Vector2d(tip[0], tip[1]) - target_;
  }

  VectorXd observation() {
    VectorXd o(10);
    o << std::cos(physics_.position(0)), std::cos(physics_.position(1)), std::sin(physics_.position(0)),
        std::sin(physics_.position(1)), target_, physics_.velocity(0), physics_.velocity(1), offset();
    return o;
  }

  Physics physics_{kArm};
  Eigen::Vector2d target_ = Eigen::Vector2d::Zero();
};

}  // namespace

std::unique_ptr<Environment> make_pendulum() { return std::make_unique<Pendulum>(); }
std::unique_ptr<Environment> make_reacher() { return std::make_unique<Reacher>(); }

}  // namespace experiments

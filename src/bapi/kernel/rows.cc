#include "bapi/kernel/rows.h"

#include <algorithm>
#include <utility>

#include "bapi/base/error.h"

namespace bapi {
namespace {

std::vector<CurveId> groups_or_zero(std::vector<CurveId> groups, Eigen::Index n) {
  if (groups.empty()) groups.assign(static_cast<std::size_t>(n), 0);
  return groups;
}

Vector scaled(const std::vector<Epoch>& epochs, Epoch max_epoch) {
  Vector tau(static_cast<Eigen::Index>(epochs.size()));
  for (Eigen::Index i = 0; i < tau.size(); ++i) tau(i) = static_cast<double>(epochs[i]) / max_epoch;
  return tau;
}

}  // namespace

Rows Rows::at_epochs(Matrix x, std::vector<Epoch> epochs, Epoch max_epoch, std::vector<CurveId> groups) {
  check(max_epoch >= 1, "rows: max_epoch must be at least 1");
  Rows rows;
  rows.tau = scaled(epochs, max_epoch);
  rows.x = std::move(x);
  rows.op.assign(epochs.size(), Op::value);
  rows.group = groups_or_zero(std::move(groups), rows.tau.size());
  rows.epoch = std::move(epochs);
  rows.max_epoch = max_epoch;
  rows.check_shape();
  return rows;
}

Rows Rows::at_taus(Matrix x, Vector tau, std::vector<CurveId> groups) {
  Rows rows;
  rows.x = std::move(x);
  rows.tau = std::move(tau);
  rows.op.assign(static_cast<std::size_t>(rows.tau.size()), Op::value);
  rows.group = groups_or_zero(std::move(groups), rows.tau.size());
  rows.check_shape();
  return rows;
}

Rows Rows::at_configurations(Matrix x) {
  const Eigen::Index n = x.rows();
  return at_epochs(std::move(x), std::vector<Epoch>(static_cast<std::size_t>(n), 1), 1);
}

Rows Rows::of_curve(const Vector& x, const std::vector<Epoch>& epochs, Epoch max_epoch, CurveId group, Op op) {
  const auto n = static_cast<Eigen::Index>(epochs.size());
  Rows rows = at_epochs(x.transpose().replicate(n, 1), epochs, max_epoch, std::vector<CurveId>(epochs.size(), group));
  std::fill(rows.op.begin(), rows.op.end(), op);
  return rows;
}

bool Rows::all_values() const {
  return std::all_of(op.begin(), op.end(), [](Op each) { return each == Op::value; });
}

void Rows::append(const Rows& more) {
  if (size() == 0) {
    *this = more;
    return;
  }
  if (more.size() == 0) return;
  check(more.dim() == dim(), "rows: appended rows have another dimension");
  const Eigen::Index n = size();
  x.conservativeResize(n + more.size(), Eigen::NoChange);
  x.bottomRows(more.size()) = more.x;
  tau.conservativeResize(n + more.size());
  tau.tail(more.size()) = more.tau;
  op.insert(op.end(), more.op.begin(), more.op.end());
  group.insert(group.end(), more.group.begin(), more.group.end());
  if (max_epoch == more.max_epoch) {
    epoch.insert(epoch.end(), more.epoch.begin(), more.epoch.end());
  } else {
    epoch.clear();
    max_epoch = 0;
  }
}

void Rows::truncate(Eigen::Index n) {
  check(n >= 0 && n <= size(), "rows: cannot keep more rows than there are");
  x.conservativeResize(n, Eigen::NoChange);
  tau.conservativeResize(n);
  const auto count = static_cast<std::size_t>(n);
  op.resize(count);
  group.resize(count);
  if (max_epoch > 0) epoch.resize(count);
}

Rows Rows::select(const std::vector<Eigen::Index>& indices) const {
  Rows chosen;
  chosen.max_epoch = max_epoch;
  chosen.x.resize(static_cast<Eigen::Index>(indices.size()), dim());
  chosen.tau.resize(static_cast<Eigen::Index>(indices.size()));
  for (Eigen::Index i = 0; i < chosen.tau.size(); ++i) {
    const Eigen::Index from = indices[i];
    check(from >= 0 && from < size(), "rows: selected index is out of range");
    chosen.x.row(i) = x.row(from);
    chosen.tau(i) = tau(from);
    chosen.op.push_back(op[from]);
    chosen.group.push_back(group[from]);
    if (max_epoch > 0) chosen.epoch.push_back(epoch[from]);
  }
  return chosen;
}

void Rows::check_shape() const {
  const auto n = static_cast<std::size_t>(size());
  check(x.rows() == size(), "rows: x and tau differ in length");
  check(op.size() == n && group.size() == n, "rows: op, group and tau differ in length");
  check(epoch.size() == (max_epoch > 0 ? n : 0), "rows: epochs do not fit max_epoch");
  for (std::size_t i = 0; i < epoch.size(); ++i) {
    check(epoch[i] >= 0 && epoch[i] <= max_epoch, "rows: an epoch is outside 0..max_epoch");
  }
}

}  // namespace bapi

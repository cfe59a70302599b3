#include "bapi/model/earlier_trend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bapi/base/error.h"
#include "bapi/model/curve_model.h"

namespace bapi {
namespace {

// An earlier study may be large; its best curves, and the last points of others, say enough.
constexpr int kEarlierRows = 300;

constexpr double kUnknownCoordinate = 0.5;

class EarlierTrend final : public Trend {
 public:
  EarlierTrend(CurveModel model, std::vector<bool> known, CurveEpochs epochs)
      : model_(std::move(model)), known_(std::move(known)), max_epoch_(epochs.max), alpha_(gp().alpha()) {
    for (const Op op : {Op::value, Op::slope}) common_.push_back(common_course(op));
  }

  Vector values(const Rows& rows) const override {
    const Rows at = projected(rows);
    Vector values = expected(at);
    for (Eigen::Index i = 0; i < at.size(); ++i) values[i] -= common_at(at, i);
    return values;
  }

  Matrix x_gradients(const Rows& rows) const override {
    Matrix gradients = gp().covariance().contracted_x_gradient(gp().rows(), projected(rows), alpha_);
    for (std::size_t j = 0; j < known_.size(); ++j) {
      if (!known_[j]) gradients.row(static_cast<Eigen::Index>(j)).setZero();
    }
    return gradients;
  }

 private:
  const ExactGp& gp() const { return model_.surrogate->gaussian().gp; }

  Vector expected(const Rows& at) const {
    return gp().prior_mean(at) + gp().covariance().contracted(gp().rows(), at, alpha_);
  }

  // Of the value or slope at every epoch from 0 on, the mean over the earlier curves.
  Vector common_course(Op op) const {
    std::vector<Epoch> epochs(static_cast<std::size_t>(max_epoch_) + 1);
    std::iota(epochs.begin(), epochs.end(), 0);
    Vector sum = Vector::Zero(max_epoch_ + 1);
    int curves = 0;
    const Rows& data = gp().rows();
    for (Eigen::Index i = 0; i < data.size(); ++i) {
      const CurveId group = data.group[static_cast<std::size_t>(i)];
      if (i > 0 && group == data.group[static_cast<std::size_t>(i) - 1]) continue;
      sum += expected(Rows::of_curve(data.x.row(i).transpose(), epochs, max_epoch_, group, op));
      ++curves;
    }
    return sum / curves;
  }

  // Between two epochs on the straight line.
  double common_at(const Rows& rows, Eigen::Index i) const {
    const Vector& course = common_[static_cast<std::size_t>(rows.op[static_cast<std::size_t>(i)])];
    const double epoch = std::clamp(rows.tau[i], 0.0, 1.0) * max_epoch_;
    const auto before = std::min(static_cast<Eigen::Index>(epoch), course.size() - 1);
    const auto after = std::min(before + 1, course.size() - 1);
    return std::lerp(course[before], course[after], epoch - static_cast<double>(before));
  }

  // The same configurations as the earlier study saw them: the new study's curves have other numbers there.
  Rows projected(Rows rows) const {
    for (std::size_t j = 0; j < known_.size(); ++j) {
      if (!known_[j]) rows.x.col(static_cast<Eigen::Index>(j)).setConstant(kUnknownCoordinate);
    }
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      const bool same_as_before = i > 0 && rows.x.row(i) == rows.x.row(i - 1);
      const auto at = static_cast<std::size_t>(i);
      rows.group[at] = same_as_before ? rows.group[at - 1] : curve_at(rows.x.row(i));
    }
    return rows;
  }

  CurveId curve_at(const Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>& x) const {
    const Rows& data = gp().rows();
    for (Eigen::Index i = 0; i < data.size(); ++i) {
      if (data.x.row(i) == x) return data.group[static_cast<std::size_t>(i)];
    }
    return kFirstNewCurve;
  }

  CurveModel model_;
  std::vector<bool> known_;
  Epoch max_epoch_;
  Vector alpha_;
  std::vector<Vector> common_;  // by Op
};

}  // namespace

std::shared_ptr<const Trend> earlier_trend(const EarlierCurves& earlier, CurveEpochs epochs) {
  check(!earlier.curves.empty(), "earlier trend: there is no curve");
  std::vector<LearningCurve> curves = earlier.curves;
  for (LearningCurve& curve : curves) {
    check(curve.x.size() == std::ssize(earlier.known), "earlier trend: a curve has another dimension");
    for (std::size_t j = 0; j < earlier.known.size(); ++j) {
      if (!earlier.known[j]) curve.x[static_cast<Eigen::Index>(j)] = kUnknownCoordinate;
    }
  }
  Rng rng(0);
  return std::make_shared<EarlierTrend>(
      CurveModel::fit(curves, epochs, {.surrogate = "gp", .max_rows = kEarlierRows}, rng), earlier.known, epochs);
}

}  // namespace bapi

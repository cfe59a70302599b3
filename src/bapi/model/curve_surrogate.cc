#include "bapi/model/curve_surrogate.h"

#include "bapi/base/error.h"

namespace bapi {

FitCurves fit_gp_curves;  // gp_curves.cc

const std::vector<CurveSurrogateKind>& curve_surrogates() {
  static const std::vector<CurveSurrogateKind> kinds = {
      {.name = "gp", .long_name = "exact Gaussian process", .fit = fit_gp_curves},
  };
  return kinds;
}

const CurveSurrogateKind& curve_surrogate(std::string_view name) {
  for (const CurveSurrogateKind& kind : curve_surrogates()) {
    if (kind.name == name) return kind;
  }
  throw LogicError("curve surrogate: unknown name");
}

}  // namespace bapi

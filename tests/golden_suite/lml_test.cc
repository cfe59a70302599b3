#include <gtest/gtest.h>

#include "bapi/gp/log_likelihood.h"
#include "golden.h"
#include "model.h"
#include "tests/support/references.h"

namespace bapi::golden {
namespace {

TEST(Golden, LogMarginalLikelihood) {
  for_each_case("lml", [](Case& c) {
    const GpParameters parameters{.kernel = kernel_of(c.params()), .noise = c.params()["noise"].number()};
    const PriorMean mean{.coefficient = c.params()["mean"].number()};
    const Rows rows = Rows::at_taus(c.inputs()["X"].matrix(), c.inputs()["tau"].vector());
    const Vector y = c.inputs()["y"].vector();
    LogLikelihood likelihood(rows, y, parameters, mean);
    Vector gradient;
    c.expect("lml", likelihood(log_parameters(parameters), gradient));
    c.expect("grad", gradient);
    c.expect("grad_names", log_parameter_names(parameters));
    c.expect("lml", ExactGp(rows, y, parameters, mean).log_likelihood());
  });
}

}  // namespace
}  // namespace bapi::golden

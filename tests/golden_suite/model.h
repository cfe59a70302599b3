#pragma once

#include "bapi/gp/exact_gp.h"
#include "bapi/gp/monotone_gp.h"
#include "golden.h"

// What several topics have in common: kernel parameters, training rows, virtual rows.
namespace bapi::golden {

ProductKernel kernel_of(const Value& params);

// The model of a case with inputs X, tau, y and params noise, mean.
ExactGp model_of(const Case& c);

// Rows at the lists `x_key`, `tau_key` of the inputs.
Rows rows_of(const Case& c, std::string_view x_key, std::string_view tau_key);

// sigma_v2: one number for all, or one per location.
Vector slope_noise_of(const Case& c, Eigen::Index count);

// Virtual times tauv, local to each configuration.
SlopeConstraint slopes_of(const Case& c);

}  // namespace bapi::golden

#pragma once

#include <map>
#include <string>
#include <vector>

#include "bapi/space/space.h"

namespace bapi {

// A wish is a configuration that somebody asks to be tried. It may leave values open (std::monostate), which are then
// those that the policy proposes.

using NamedValues = std::map<std::string, Value>;

// As a study file, a command line or Python gives it: a whole number will do for a real parameter, and 1.0 for an
// integer one. Throws InvalidInput with what was found and expected.
Config wish_of(const NamedValues& given, const Space& space);

// Throws InvalidInput unless every value can be had, and every parameter that is given applies: those on which it
// depends must be given too, with the right values.
void validate_wish(const Config& wish, const Space& space);

// The whole configuration: what `wish` leaves open is taken from `proposal`, and where that has no value, because there
// the parameter does not apply, from the middle of its range. A valid configuration for a valid wish and proposal.
Config completed(const Config& wish, const Config& proposal, const Space& space);

// Parameters that apply in `config` and were left open by `wish`; constants are not counted.
std::vector<std::string> left_open(const Config& wish, const Config& config, const Space& space);

// "lr=0.1 units=64", what is given.
std::string wish_text(const Config& wish, const Space& space);

}  // namespace bapi

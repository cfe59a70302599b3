#pragma once

#include "bapi/base/rng.h"
#include "bapi/math/types.h"

namespace bapi {

// Largest dimension of the Sobol sequence here.
inline constexpr int kMaxSobolDimensions = 512;

// The first `points` points of the Sobol sequence in Gray-code order, points x dimensions, in [0, 1). The first point
// is 0: not for inversion.
Matrix sobol_points(int points, int dimensions);

// The same moved to the middles of the finest cells that `points` (rounded up to a power of two) tell apart, in (0, 1).
Matrix centred_sobol_points(int points, int dimensions);

// Randomised by Owen's nested scrambling: each point is uniform, the set keeps its even spread. In (0, 1), never an
// end.
Matrix scrambled_sobol_points(int points, int dimensions, Rng& rng);

// Standard normals from scrambled Sobol points by inversion, points x dimensions.
Matrix normal_base_samples(int points, int dimensions, Rng& rng);

}  // namespace bapi

#pragma once

#include <functional>
#include <vector>

#include "bapi/base/rng.h"
#include "bapi/math/maximize.h"
#include "bapi/math/types.h"

namespace bapi {

struct SearchOptions {
  // Points of the screen, spread over the cube.
  int raw_points = 512;

  // Of these, how many of the best are improved by an ascent.
  int starts = 4;

  // Where there is an approximation to approach the maxima by, how many of its best ends climb the score itself.
  int finalists = 2;

  MaximizeOptions ascent{.max_iterations = 30, .relative_tolerance = 1e-5, .gradient_tolerance = 1e-5};
  MaximizeOptions approach{.max_iterations = 30, .relative_tolerance = 1e-2, .gradient_tolerance = 1e-3};

  void validate() const;
};

// x -> the nearest valid x, for spaces in which not every point of the cube is a configuration.
using Decoder = std::function<Vector(const Vector&)>;

// What to maximise. Scores are comparable; both functions take points as columns, d x m.
struct SearchObjective {
  // Cheap enough for the whole screen; an approximation will do.
  std::function<Vector(const Matrix& points)> screen;

  // The score itself.
  std::function<Vector(const Matrix& points)> score;

  // The score with gradients.
  BatchObjective ascend;

  // A cheap approximation of it, if there is one: all starts climb this, and only the best ends climb the score.
  BatchObjective approach = {};
};

// The same score times a factor of the first `coordinates` of each point, given by its logarithm and the gradients of
// that; without one, the score itself. For scores that are logarithms.
SearchObjective times(SearchObjective objective, const BatchObjective& log_factor, Eigen::Index coordinates);

struct ScoredPoint {
  Vector x;
  double score = 0.0;
};

// The best points found in the unit cube, best first, no two the same; empty only if no score is finite. Scores are
// those of decoded points, never of points in between. `anchors` (d x m) join the screen, together with points near
// them: maxima often sit beside the best configurations known.
std::vector<ScoredPoint> search_cube(const SearchObjective& objective,
                                     int dimensions,
                                     const Matrix& anchors,
                                     const Decoder& decode,
                                     const SearchOptions& options,
                                     Rng& rng);

// Its screen: so many points spread over the cube, the anchors and points near them, all valid.
Matrix screen_points(int dimensions, const Matrix& anchors, int count, const Decoder& decode, Rng& rng);

// Those of its points that are not taken; of another such screen, up to a few, if all of them are. May be empty.
Matrix free_screen_points(int dimensions,
                          const Matrix& anchors,
                          int count,
                          const Decoder& decode,
                          const std::function<bool(const Vector&)>& is_taken,
                          Rng& rng);

// The same with a screen of the caller's own, d x m, of valid points; options.raw_points does not matter.
std::vector<ScoredPoint> search_among(const SearchObjective& objective,
                                      const Matrix& screen,
                                      const Decoder& decode,
                                      const SearchOptions& options);

}  // namespace bapi

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace bapi {

// Few of many points for a picture: they stand in the order of x; of each of `most` / 4 stretches of equal width along
// it the first, the last, the least and the greatest y stay, and all that `must_stay`.
template <typename Point, typename X, typename Y, typename Must>
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most, X x, Y y, Must must_stay) {
  if (points.size() <= most) return points;
  const double begin = x(points.front());
  const double width = (x(points.back()) - begin) / std::max(1.0, std::floor(static_cast<double>(most) / 4.0));
  const auto stretch = [&](const Point& point) { return width > 0.0 ? std::floor((x(point) - begin) / width) : 0.0; };
  std::vector<Point> kept;
  for (auto from = points.begin(); from != points.end();) {
    const double here = stretch(*from);
    const auto to = std::find_if(from, points.end(), [&](const Point& point) { return stretch(point) != here; });
    const auto [least, greatest] =
        std::minmax_element(from, to, [&](const Point& a, const Point& b) { return y(a) < y(b); });
    for (auto point = from; point != to; ++point) {
      const bool stays = point == from || point + 1 == to || point == least || point == greatest || must_stay(*point);
      if (stays) kept.push_back(*point);
    }
    from = to;
  }
  return kept;
}

}  // namespace bapi

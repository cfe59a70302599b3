#pragma once

namespace bapi {

// std::visit(Match{[](const A&) {...}, [](const B&) {...}}, variant)
template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

template <typename... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace bapi

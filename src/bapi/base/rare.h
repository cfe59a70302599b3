#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace bapi {

// A std::optional that takes the room of a pointer while it is empty: for what few of many objects have. Copies are
// deep, comparison is by value.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(std::nullopt_t) {}
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Rare(std::optional<T> value) {
    if (value) emplace() = *std::move(value);
  }
  Rare(const Rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  ~Rare() = default;

  Rare& operator=(const Rare& other) {
    Rare copy(other);
    value_ = std::move(copy.value_);
    return *this;
  }
  Rare& operator=(Rare&&) noexcept = default;

  template <typename U = T>
  requires std::constructible_from<T, U> &&(!std::same_as<std::remove_cvref_t<U>, Rare>)Rare& operator=(U&& value) {
    emplace() = T(std::forward<U>(value));
    return *this;
  }

  operator std::optional<T>() const { return value_ ? std::optional<T>(*value_) : std::nullopt; }

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }

  // Undefined unless there is a value, as with std::optional.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

  T& emplace() { return *(value_ = std::make_unique<T>()); }
  void reset() { value_.reset(); }

  friend bool operator==(const Rare& a, const Rare& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace bapi

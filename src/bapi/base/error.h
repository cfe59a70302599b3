#pragma once

#include <stdexcept>
#include <string>

namespace bapi {

// Something outside the program is wrong and the user can mend it. The message says what was found, what was
// expected and where it comes from.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A study file, an option, an argument, a table: exit code 2.
class InvalidInput : public Error {
 public:
  using Error::Error;
};

// The study's store cannot be read or written (gone, locked, disk full): exit code 3.
class StoreError : public Error {
 public:
  using Error::Error;
};

// A broken invariant of ours: exit code 70.
class LogicError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Bad input unless `condition`.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw InvalidInput(message);
}

// A bug unless `condition`; active in every build.
inline void check(bool condition, const char* message) {
  if (!condition) throw LogicError(message);
}

}  // namespace bapi

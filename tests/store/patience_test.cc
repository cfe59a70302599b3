#include "bapi/store/patience.h"

#include <gtest/gtest.h>

#include <chrono>

namespace bapi {
namespace patience_test {

TEST(Patience, AStepIsDoneAgainUntilItSucceeds) {
  int attempts = 0;
  std::vector<std::string> said;
  const int found = patiently({.every = 0.001, .remark = [&](const std::string& line) { said.push_back(line); }}, [&] {
    if (++attempts < 4) throw Shortage("the server is away");
    return 7;
  });
  EXPECT_EQ(found, 7);
  EXPECT_EQ(attempts, 4);
  EXPECT_EQ(said, (std::vector<std::string>{"the server is away; trying again"}));
}

TEST(Patience, WhatTheLastAttemptThrewIsThrownWhenItIsOver) {
  int attempts = 0;
  const auto fail = [&] { throw Shortage(std::to_string(++attempts)); };
  try {
    patiently({.seconds = 0.02, .every = 0.001}, fail);
    FAIL() << "it never succeeds";
  } catch (const Shortage& shortage) {
    EXPECT_GT(attempts, 1);
    EXPECT_EQ(shortage.what(), std::to_string(attempts));
  }
  attempts = 0;
  EXPECT_THROW(patiently({.seconds = 0.0}, fail), Shortage);
  EXPECT_EQ(attempts, 1);
}

TEST(Patience, OnlyAShortageIsWorthAnotherAttempt) {
  int attempts = 0;
  EXPECT_THROW(patiently({},
                         [&] {
                           ++attempts;
                           throw InvalidInput("wrong");
                         }),
               InvalidInput);
  EXPECT_EQ(attempts, 1);
}

TEST(Patience, AnInterruptionEndsTheWait) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  EXPECT_THROW(
      patiently({.seconds = 1e6, .every = 1e6, .interrupted = [] { return true; }}, [] { throw Shortage("never"); }),
      Shortage);
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(60));
}

}  // namespace patience_test
}  // namespace bapi

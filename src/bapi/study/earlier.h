#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bapi/base/units.h"
#include "bapi/space/space.h"

namespace bapi {

// A warm start: what earlier studies have found is read once, when a study is created, and kept in its specification.
// From then on neither decisions nor resuming need the earlier studies.

// An earlier study as a study file names it.
struct WarmStart {
  std::string study = {};   // where it is: the directory of a study, with or without .bapi, or a file of curves
  std::string metric = {};  // its metric, if that has another name or goal than the new one and counts all the same
  bool operator==(const WarmStart&) const = default;
};

// The curve of an earlier trial, thinned: the best value so far, to be maximised, at its last epoch and going back at
// every halved one.
struct EarlierTrial {
  Config config = {};  // in the new space; std::monostate where the earlier study has no value
  std::vector<Epoch> epochs = {};
  std::vector<double> values = {};
  bool ended = false;  // nothing more was to come after the last epoch
  bool operator==(const EarlierTrial&) const = default;
};

struct EarlierStudy {
  std::string name = {};
  std::string place = {};                 // where it was read from
  std::vector<std::string> missing = {};  // parameters of the new study that it does not have
  int left_out = 0;                       // trials with a value that the new study does not allow
  std::vector<EarlierTrial> trials = {};  // the best first
  bool operator==(const EarlierStudy&) const = default;
};

// A configuration of another space in this one. Parameters are the same if they have the same name: a number stands for
// a number, rounded where only whole ones are allowed, an option for the option that is written the same. What is not
// known there stays open (std::monostate); parameters that only the other space has, or whose value is fixed here, do
// not count. Nullopt if a value is not allowed here: it is neither moved to the border, where it would speak for what
// was never trained, nor tried.
std::optional<Config> translated(const Config& config, const Space& from, const Space& to);

// Parameters that vary in `to` and are unknown in `from`.
std::vector<std::string> missing_in(const Space& from, const Space& to);

// A configuration of an earlier study that the new one tries.
struct EarlierBest {
  Config wish = {};
  std::string by = {};  // "the warm start: the best of mlp"
};

// What a study tries first: the best of its earlier studies in turn, none close to one before it. One in all for up to
// four parameters, two for up to seven, else three; at least one of each study. With a pool, its nearest rows.
std::vector<EarlierBest> best_of_earlier(const std::vector<EarlierStudy>& earlier,
                                         const Space& space,
                                         const std::vector<Config>& pool);

}  // namespace bapi

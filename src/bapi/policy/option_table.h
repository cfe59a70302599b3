#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bapi/policy/options.h"
#include "bapi/policy/registry.h"

namespace bapi {

inline constexpr int kUnbounded = 1'000'000'000;  // of a range without an upper end

// Whether an option is shown. Retired ones are accepted, as old study files have them, and may have no effect any more.
enum class OptionUse { current, retired };

// The options of a policy, each written once: its name, the member of `Options` that it sets, its range and what it
// means. What is shown as a default is read off the struct that is used.
//
// A member is named by a function `[](Options& o) -> T& { return o.member; }`.
template <typename Options>
class OptionTable {
 public:
  template <typename Member>
  OptionTable& integer(std::string name, Member member, int low, int high, const std::string& help) {
    return add(
        std::move(name),
        fmt::format("{}; {} to {}", help, low, high),
        [member](Options& o) { return fmt::format("{}", member(o)); },
        [=](Options& o, const OptionReader& read, const std::string& key) {
          member(o) = read.integer(key, member(o), low, high);
        });
  }

  template <typename Member>
  OptionTable& real(std::string name, Member member, double low, double high, const std::string& help) {
    return add(
        std::move(name),
        fmt::format("{}; {} to {}", help, low, high),
        [member](Options& o) { return fmt::format("{}", member(o)); },
        [=](Options& o, const OptionReader& read, const std::string& key) {
          member(o) = read.real(key, member(o), low, high);
        });
  }

  template <typename Member>
  OptionTable& flag(std::string name, Member member, const std::string& help) {
    return add(
        std::move(name),
        fmt::format("{}; on or off", help),
        [member](Options& o) { return std::string(member(o) ? "on" : "off"); },
        [=](Options& o, const OptionReader& read, const std::string& key) { member(o) = read.flag(key, member(o)); });
  }

  // The same for a member that is one of two values.
  template <typename T, typename Member>
  OptionTable& flag(std::string name, Member member, T on, T off, const std::string& help) {
    return add(
        std::move(name),
        fmt::format("{}; on or off", help),
        [=](Options& o) { return std::string(member(o) == on ? "on" : "off"); },
        [=](Options& o, const OptionReader& read, const std::string& key) {
          member(o) = read.flag(key, member(o) == on) ? on : off;
        });
  }

  // One of several words, each for a value of the member. The help names them.
  template <typename T, typename Member>
  OptionTable& word(std::string name,
                    Member member,
                    const std::vector<std::pair<std::string, T>>& words,
                    const std::string& help) {
    const auto show = [member, words](Options& o) {
      for (const auto& [word, value] : words) {
        if (value == member(o)) return word;
      }
      return std::string();
    };
    return add(std::move(name), help, show, [=](Options& o, const OptionReader& read, const std::string& key) {
      std::vector<std::string> allowed;
      for (const auto& [word, value] : words) allowed.push_back(word);
      const std::string chosen = read.word(key, show(o), allowed);
      for (const auto& [word, value] : words) {
        if (word == chosen) member(o) = value;
      }
    });
  }

  // A number, or the word for a member without a value.
  template <typename Member>
  OptionTable& real_or(
      std::string name, Member member, const std::string& word, double low, double high, const std::string& help) {
    return add(
        std::move(name),
        fmt::format("{}; {} or {} to {}", help, word, low, high),
        [=](Options& o) { return member(o) ? fmt::format("{}", *member(o)) : word; },
        [=](Options& o, const OptionReader& read, const std::string& key) {
          member(o) = read.real_or(key, word, member(o), low, high);
        });
  }

  template <typename Member>
  OptionTable& integer_or(
      std::string name, Member member, const std::string& word, int low, int high, const std::string& help) {
    return add(
        std::move(name),
        high == kUnbounded ? fmt::format("{}; {} or at least {}", help, word, low)
                           : fmt::format("{}; {} or {} to {}", help, word, low, high),
        [=](Options& o) { return member(o) ? fmt::format("{}", *member(o)) : word; },
        [=](Options& o, const OptionReader& read, const std::string& key) {
          member(o) = read.integer_or(key, word, member(o), low, high);
        });
  }

  // The options of a member that has a table of its own.
  template <typename Part, typename Member>
  OptionTable& part(const OptionTable<Part>& table, Member member) {
    for (const auto& option : table.options_) {
      add(
          option.name,
          option.help,
          [=](Options& o) { return option.show(member(o)); },
          [=](Options& o, const OptionReader& read, const std::string& key) { option.set(member(o), read, key); });
      options_.back().use = option.use;
    }
    return *this;
  }

  // Retires the option added last.
  OptionTable& retired() {
    options_.back().use = OptionUse::retired;
    return *this;
  }

  // What is shown of them, with the values that `defaults` has.
  std::vector<PolicyOptionInfo> describe(Options defaults) const {
    std::vector<PolicyOptionInfo> all;
    for (const Option& option : options_) {
      if (option.use == OptionUse::retired) continue;
      all.push_back({.name = option.name, .default_value = option.show(defaults), .help = option.help});
    }
    return all;
  }

  // `defaults` with the options of `spec`. Throws InvalidInput: an option that is not in the table (names the nearest
  // one that is shown), or a value out of its range.
  Options read(const PolicySpec& spec, Options defaults) const {
    std::vector<std::string> shown;
    std::vector<std::string> retired;
    for (const Option& option : options_) {
      (option.use == OptionUse::current ? shown : retired).push_back(option.name);
    }
    const OptionReader reader(spec, shown, retired);
    for (const Option& option : options_) option.set(defaults, reader, option.name);
    return defaults;
  }

 private:
  template <typename>
  friend class OptionTable;

  struct Option {
    std::string name;
    std::string help;  // meaning and range
    std::function<std::string(Options&)> show;
    std::function<void(Options&, const OptionReader&, const std::string&)> set;
    OptionUse use = OptionUse::current;
  };

  template <typename Show, typename Set>
  OptionTable& add(std::string name, std::string help, Show show, Set set) {
    options_.push_back({std::move(name), std::move(help), std::move(show), std::move(set)});
    return *this;
  }

  std::vector<Option> options_;
};

}  // namespace bapi

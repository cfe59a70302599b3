#include "bapi/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "bapi/base/error.h"
#include "bapi/base/nearest.h"
#include "bapi/policy/bapi_options.h"
#include "bapi/policy/rivals/asha.h"
#include "bapi/policy/rivals/binoculars.h"
#include "bapi/policy/rivals/bms_ei.h"
#include "bapi/policy/rivals/bohb.h"
#include "bapi/policy/rivals/boil.h"
#include "bapi/policy/rivals/ei.h"
#include "bapi/policy/rivals/glasses.h"
#include "bapi/policy/rivals/hyperband.h"
#include "bapi/policy/rivals/ms_ei.h"
#include "bapi/policy/rivals/random_search.h"
#include "bapi/policy/rivals/step_by_step.h"
#include "bapi/policy/rivals/top_k.h"

namespace bapi {
namespace {

struct Entry {
  PolicyInfo info;
  std::function<std::unique_ptr<Policy>(const PolicySpec&)> make;
};

template <typename P>
Entry entry() {
  return {P::info(), [](const PolicySpec& spec) -> std::unique_ptr<Policy> { return std::make_unique<P>(spec); }};
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> list;
    for (const std::string& preset : bapi_presets()) {
      list.push_back({bapi_info(preset), make_bapi});
    }
    list.push_back(entry<FreezeThaw>());
    list.push_back(entry<DyHpo>());
    list.push_back(entry<Bohb>());
    list.push_back(entry<Hyperband>());
    list.push_back(entry<Asha>());
    list.push_back(entry<ExpectedImprovement>());
    for (const std::string& preset : MultiStepImprovement::presets()) {
      list.push_back({MultiStepImprovement::info(preset),
                      [](const PolicySpec& spec) { return std::make_unique<MultiStepImprovement>(spec); }});
    }
    list.push_back(entry<BudgetedMultiStep>());
    list.push_back(entry<Binoculars>());
    list.push_back(entry<Glasses>());
    list.push_back(entry<Boil>());
    for (const std::string& preset : TopK::presets()) {
      list.push_back({TopK::info(preset), [](const PolicySpec& spec) { return std::make_unique<TopK>(spec); }});
    }
    list.push_back(entry<RandomSearch>());
    return list;
  }();
  return all;
}

}  // namespace

std::vector<PolicyInfo> policies() {
  std::vector<PolicyInfo> infos;
  for (const Entry& e : entries()) infos.push_back(e.info);
  return infos;
}

std::unique_ptr<Policy> make_policy(const PolicySpec& spec) {
  std::vector<std::string> names;
  for (const Entry& e : entries()) {
    if (e.info.name == spec.name) return e.make(spec);
    names.push_back(e.info.name);
  }
  const std::string near = nearest(spec.name, names);
  throw InvalidInput(fmt::format("policy: there is no policy {}{}; there are {}",
                                 spec.name,
                                 near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                 fmt::join(names, ", ")));
}

}  // namespace bapi

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "bapi/base/clock.h"
#include "bapi/dashboard/catalogue.h"
#include "bapi/dashboard/guard.h"
#include "bapi/dashboard/http.h"
#include "bapi/dashboard/planner.h"

namespace bapi {

// Answers every request that the guard lets through: the page and the JSON API /api/v1. For many threads at a time.
class Api {
 public:
  Api(Catalogue& catalogue, Planner& planner, GuardRules rules, const Clock& clock)
      : catalogue_(catalogue), planner_(planner), rules_(std::move(rules)), clock_(clock) {}

  // The port may be known only once it is bound.
  void bound_to(int port) { rules_.port = port; }
  const GuardRules& rules() const { return rules_; }

  std::optional<HttpAnswer> refuse(const HttpRequest& request) const;
  HttpAnswer answer(const HttpRequest& request);

  void end() { ending_ = true; }  // streams say goodbye

 private:
  HttpAnswer route(const HttpRequest& request);
  HttpAnswer log_in(const HttpRequest& request) const;
  HttpAnswer studies();
  HttpAnswer of_study(const std::shared_ptr<LiveStudy>& study,
                      const std::vector<std::string>& path,
                      const HttpRequest& request);
  HttpAnswer insight(const std::shared_ptr<LiveStudy>& study, const std::string& what, const HttpRequest& request);
  HttpAnswer take_request(const std::shared_ptr<LiveStudy>& study, const HttpRequest& request) const;
  HttpAnswer stream(const HttpRequest& request);

  Catalogue& catalogue_;
  Planner& planner_;
  GuardRules rules_;
  const Clock& clock_;
  std::atomic<bool> ending_ = false;
  std::atomic<int> streams_ = 0;
};

}  // namespace bapi

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bapi/dashboard/http.h"

namespace bapi {

// Who may ask what: pure functions, asked before anything of a request is looked at, its body unread.

struct GuardRules {
  std::string host = "127.0.0.1";  // the address that is bound
  int port = 0;
  std::vector<std::string> allowed_hosts = {};  // further names by which a proxy calls the server
  std::string token = {};                       // empty: none is asked for
  bool read_only = false;
};

inline constexpr std::size_t kLargestBody = 64 * 1024;
inline constexpr std::size_t kMostHeaders = 100;

bool is_loopback(std::string_view host);  // an address or name that only this machine can reach

// The cookie that stands for the token; servers on several ports of a machine share its cookies.
std::string cookie_name(const GuardRules& rules);

// Takes as long for a wrong token as for the right one.
bool is_token(std::string_view given, const GuardRules& rules);

// The refusal of a request; nullopt if it may be answered.
//   421  another host is meant (DNS rebinding)
//   431, 411, 413  too many headers, a body of unknown size or too large
//   405  another method than GET, HEAD and POST; POST where the server is read-only
//   403  a change that was not asked for by this server's own page
//   415  a change that is no JSON
//   401  data without the token
std::optional<HttpAnswer> refusal(const HttpRequest& request, const GuardRules& rules);

// What every answer says to the browser.
std::vector<std::pair<std::string, std::string>> security_headers();

// 128 random bits as text.
std::string random_token();

}  // namespace bapi

#include "bapi/dashboard/guard.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "bapi/base/error.h"

namespace bapi {
namespace {

constexpr std::string_view kApi = "/api/";
constexpr std::string_view kLogin = "/api/v1/login";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "[::1]:8787" and "localhost:8787" without their ports, in lower case.
std::string host_of(std::string_view authority) {
  if (authority.starts_with('[')) return lower(authority.substr(0, authority.find(']') + 1));
  return lower(authority.substr(0, authority.find(':')));
}

bool is_own_host(const HttpRequest& request, const GuardRules& rules) {
  const std::string host = host_of(request.header("host"));
  if (host.empty()) return false;
  if (is_loopback(host) || host == lower(rules.host)) return true;
  return std::any_of(rules.allowed_hosts.begin(), rules.allowed_hosts.end(), [&](const std::string& allowed) {
    return host_of(allowed) == host;
  });
}

// The page's own scripts say where they come from; no other page can claim that, nor set the header.
bool is_from_own_page(const HttpRequest& request) {
  const std::string_view origin = request.header("origin");
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view name = origin.substr(0, scheme);
  if (name != "http" && name != "https") return false;
  return lower(origin.substr(scheme + 3)) == lower(request.header("host")) && request.header("x-bapi") == "1";
}

bool is_json(const HttpRequest& request) {
  const std::string_view type = request.header("content-type");
  return lower(type.substr(0, type.find(';'))) == "application/json";
}

std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const std::size_t end = cookies.find(';');
    std::string_view cookie = cookies.substr(0, end);
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('=')) return cookie.substr(name.size() + 1);
    if (end == std::string_view::npos) break;
    cookies.remove_prefix(end + 1);
  }
  return {};
}

bool has_token(const HttpRequest& request, const GuardRules& rules) {
  if (rules.token.empty()) return true;
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view bearer = request.header("authorization");
  if (bearer.starts_with(kBearer)) return is_token(bearer.substr(kBearer.size()), rules);
  return is_token(cookie_value(request.header("cookie"), cookie_name(rules)), rules);
}

std::optional<HttpAnswer> bad_size(const HttpRequest& request) {
  if (request.headers.size() > kMostHeaders) return http_error(431, "the request has too many headers");
  if (request.has_header("transfer-encoding")) {
    return http_error(411, "the request has a body of unknown size", "send Content-Length");
  }
  const std::string_view text = request.header("content-length");
  if (text.empty()) return std::nullopt;
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc::invalid_argument || (error == std::errc() && end != text.data() + text.size())) {
    return http_error(400, "Content-Length is not a number");
  }
  if (error != std::errc() || size > kLargestBody) {
    return http_error(413, fmt::format("the request has a body of more than {} bytes", kLargestBody));
  }
  return std::nullopt;
}

std::optional<HttpAnswer> bad_change(const HttpRequest& request, const GuardRules& rules) {
  if (request.method != "POST") return http_error(405, "the server answers GET, HEAD and POST only");
  if (rules.read_only && request.path != kLogin) {
    return http_error(405, "this dashboard is read-only", "start it without --read-only to change studies");
  }
  if (!is_from_own_page(request)) {
    return http_error(403, "changes are taken from the dashboard's own page only", "send Origin and X-Bapi: 1");
  }
  if (!is_json(request)) return http_error(415, "expected Content-Type: application/json");
  return std::nullopt;
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  // 127.0.0.0/8, in numbers: 127.0.0.1.example.org is no address.
  if (!host.starts_with("127.")) return false;
  return std::count(host.begin(), host.end(), '.') == 3 &&
         std::all_of(host.begin(), host.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

std::string cookie_name(const GuardRules& rules) { return fmt::format("bapi_{}", rules.port); }

bool is_token(std::string_view given, const GuardRules& rules) {
  unsigned different = given.size() == rules.token.size() ? 0U : 1U;
  for (std::size_t i = 0; i < rules.token.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    different |= static_cast<unsigned char>(rules.token[i]) ^ static_cast<unsigned char>(other);
  }
  return different == 0U;
}

std::optional<HttpAnswer> refusal(const HttpRequest& request, const GuardRules& rules) {
  if (!is_own_host(request, rules)) {
    return http_error(421, "this server does not answer for that host", "allow the name with --allow-host");
  }
  if (auto refused = bad_size(request)) return refused;
  if (request.method != "GET" && request.method != "HEAD") {
    if (auto refused = bad_change(request, rules)) return refused;
  }
  if (!request.path.starts_with(kApi) || request.path == kLogin || has_token(request, rules)) return std::nullopt;
  return http_error(401, "the token is missing or wrong", "open the address that bapi dashboard has printed");
}

std::vector<std::pair<std::string, std::string>> security_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
           "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw StoreError("the system gives no random numbers, so that there can be no token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace bapi

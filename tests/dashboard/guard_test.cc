#include "bapi/dashboard/guard.h"

namespace bapi {
namespace {

const GuardRules kRules = {.host = "127.0.0.1", .port = 8787, .token = "0123456789abcdef0123456789abcdef"};

HttpRequest asking(std::string path = "/api/v1/studies") {
  HttpRequest request;
  request.path = std::move(path);
  request.headers = {{"host", "localhost:8787"}, {"authorization", "Bearer " + kRules.token}};
  return request;
}

HttpRequest changing() {
  HttpRequest request = asking("/api/v1/studies/mlp/requests");
  request.method = "POST";
  request.headers.emplace_back("origin", "http://localhost:8787");
  request.headers.emplace_back("x-bapi", "1");
  request.headers.emplace_back("content-type", "application/json; charset=utf-8");
  return request;
}

void set(HttpRequest& request, const std::string& name, const std::string& value) {
  std::erase_if(request.headers, [&](const auto& header) { return header.first == name; });
  if (!value.empty()) request.headers.emplace_back(name, value);
}

int status(const HttpRequest& request, const GuardRules& rules = kRules) {
  const auto refused = refusal(request, rules);
  return refused ? refused->status : 200;
}

TEST(Guard, LetsThoseThroughWhoHaveTheToken) {
  EXPECT_EQ(status(asking()), 200);
  HttpRequest request = asking();
  set(request, "authorization", "");
  EXPECT_EQ(status(request), 401);
  set(request, "cookie", "a=b; bapi_8787=" + kRules.token);
  EXPECT_EQ(status(request), 200);
  set(request, "cookie", "bapi_8788=" + kRules.token);
  EXPECT_EQ(status(request), 401);
}

TEST(Guard, TakesNoPartOfTheTokenForTheToken) {
  EXPECT_TRUE(is_token(kRules.token, kRules));
  EXPECT_FALSE(is_token(kRules.token.substr(1), kRules));
  EXPECT_FALSE(is_token(kRules.token + "0", kRules));
  EXPECT_FALSE(is_token("", kRules));
}

TEST(Guard, AnswersForItsOwnNamesOnly) {
  for (const char* host : {"localhost", "127.0.0.1:1", "127.1.2.3", "[::1]:8787", "LOCALHOST:8787"}) {
    HttpRequest request = asking();
    set(request, "host", host);
    EXPECT_EQ(status(request), 200) << host;
  }
  for (const char* host : {"", "example.org", "127.0.0.1.example.org", "localhost.example.org", "127.evil.org.x"}) {
    HttpRequest request = asking();
    set(request, "host", host);
    EXPECT_EQ(status(request), 421) << host;
  }
  GuardRules rules = kRules;
  rules.allowed_hosts = {"Studies.example.org"};
  HttpRequest request = asking();
  set(request, "host", "studies.example.org:443");
  EXPECT_EQ(status(request, rules), 200);
}

TEST(Guard, TakesChangesFromItsOwnPageOnly) {
  EXPECT_EQ(status(changing()), 200);
  for (const char* origin : {"", "null", "http://example.org", "http://localhost:8788", "ftp://localhost:8787"}) {
    HttpRequest request = changing();
    set(request, "origin", origin);
    EXPECT_EQ(status(request), 403) << origin;
  }
  HttpRequest request = changing();
  set(request, "x-bapi", "");
  EXPECT_EQ(status(request), 403);
  request = changing();
  set(request, "content-type", "text/plain");
  EXPECT_EQ(status(request), 415);
}

TEST(Guard, TakesNoChangeWhereItIsReadOnly) {
  GuardRules rules = kRules;
  rules.read_only = true;
  EXPECT_EQ(status(changing(), rules), 405);
  EXPECT_EQ(status(asking(), rules), 200);
}

TEST(Guard, RefusesSizesBeforeTheBodyIsRead) {
  HttpRequest request = changing();
  set(request, "content-length", "65536");
  EXPECT_EQ(status(request), 200);
  set(request, "content-length", "65537");
  EXPECT_EQ(status(request), 413);
  set(request, "content-length", "99999999999999999999999");
  EXPECT_EQ(status(request), 413);
  set(request, "content-length", "-1");
  EXPECT_EQ(status(request), 400);
  set(request, "content-length", "");
  set(request, "transfer-encoding", "chunked");
  EXPECT_EQ(status(request), 411);
  request = asking();
  for (int i = 0; i < 100; ++i) request.headers.emplace_back("x", "y");
  EXPECT_EQ(status(request), 431);
}

TEST(Guard, GivesEveryStartAnotherToken) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_NE(token, random_token());
}

}  // namespace
}  // namespace bapi

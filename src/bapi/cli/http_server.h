#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bapi/dashboard/http.h"

namespace bapi {

// Carries requests to functions and answers back. The only file that knows the HTTP library is its .cc.
class HttpServer {
 public:
  // Asked with the head of a request; what it answers is sent, and the body is not read.
  using Guard = std::function<std::optional<HttpAnswer>(const HttpRequest&)>;
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // `threads` is how many requests are answered at a time; a stream takes one for as long as it lasts.
  HttpServer(Guard guard, Handler handler, int threads);
  ~HttpServer();

  // The port that was bound; `port` 0 takes any that is free. Throws InvalidInput if it cannot be had.
  int bind(const std::string& host, int port);

  void serve();  // returns after `stop`, which any thread may call, and all answers are sent
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bapi

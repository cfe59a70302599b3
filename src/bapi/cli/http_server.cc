#include "bapi/cli/http_server.h"

#include <fmt/format.h>

#include "bapi/base/error.h"

#ifdef BAPI_HAS_HTTPLIB

#include <httplib.h>

namespace bapi {
namespace {

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

HttpRequest request_of(const httplib::Request& request) {
  HttpRequest out{.method = request.method, .path = request.path, .body = request.body};
  for (const auto& [name, value] : request.headers) {
    // These three are the library's own notes.
    if (name == "REMOTE_ADDR" || name == "REMOTE_PORT" || name == "LOCAL_ADDR" || name == "LOCAL_PORT") continue;
    out.headers.emplace_back(in_lower_case(name), value);
  }
  for (const auto& [name, value] : request.params) out.query.emplace_back(name, value);
  return out;
}

void write_answer(HttpAnswer answer, httplib::Response& response) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (answer.stream) {
    response.set_chunked_content_provider(
        answer.type, [stream = std::move(answer.stream)](std::size_t, httplib::DataSink& sink) {
          const bool more = stream([&](std::string_view bytes) { return sink.write(bytes.data(), bytes.size()); });
          if (!more) sink.done();
          return more;
        });
    return;
  }
  response.set_content(std::move(answer.body), answer.type);
}

}  // namespace

struct HttpServer::Impl {
  httplib::Server server;
};

HttpServer::HttpServer(Guard guard, Handler handler, int threads) : impl_(std::make_unique<Impl>()) {
  httplib::Server& server = impl_->server;
  server.new_task_queue = [threads] { return new httplib::ThreadPool(static_cast<std::size_t>(threads)); };
  // The library keeps a thread for each open connection; and what follows a refused body is no further request.
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(5);
  server.set_write_timeout(5);
  server.set_tcp_nodelay(true);
  server.set_payload_max_length(64 * 1024);
  // The library's own options would let a second program take the same port.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // Everything without a body is answered here, before the library looks at its own routes.
  server.set_pre_routing_handler([guard, handler](const httplib::Request& request, httplib::Response& response) {
    const HttpRequest asked = request_of(request);
    if (std::optional<HttpAnswer> refused = guard(asked)) {
      write_answer(std::move(*refused), response);
      return httplib::Server::HandlerResponse::Handled;
    }
    if (request.method == "POST") return httplib::Server::HandlerResponse::Unhandled;
    write_answer(handler(asked), response);
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Post("/api/.*", [handler](const httplib::Request& request, httplib::Response& response) {
    write_answer(handler(request_of(request)), response);
  });
  server.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr thrown) {
    std::string what = "this is a bug in bapi, please report it";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      what += std::string(": ") + error.what();
    } catch (...) {
    }
    write_answer(http_error(500, what), response);
  });
}

HttpServer::~HttpServer() = default;

int HttpServer::bind(const std::string& host, int port) {
  httplib::Server& server = impl_->server;
  const int bound = port == 0 ? server.bind_to_any_port(host) : server.bind_to_port(host, port) ? port : -1;
  require(
      bound > 0,
      fmt::format(
          "--port {}: {} cannot be listened on there; another program may have it (--port 0 takes any)", port, host));
  return bound;
}

void HttpServer::serve() { impl_->server.listen_after_bind(); }
void HttpServer::stop() { impl_->server.stop(); }

}  // namespace bapi

#else

namespace bapi {

struct HttpServer::Impl {};
HttpServer::HttpServer(Guard, Handler, int) {}
HttpServer::~HttpServer() = default;
int HttpServer::bind(const std::string&, int) {
  throw InvalidInput("this bapi was built without an HTTP library (libcpp-httplib-dev); bapi export -f html works");
}
void HttpServer::serve() {}
void HttpServer::stop() {}

}  // namespace bapi

#endif

#include "bapi/cli/http_server.h"

#include <fmt/format.h>

#include "bapi/base/error.h"

#ifdef BAPI_HAS_HTTPLIB

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace bapi {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPatience{5000};

// A connection whose whole request must have come in time: the library's own waits as long again for every byte, so
// that who sends one now and then would keep a thread for ever. Each piece of an answer must be taken in time too; a
// stream of events has no end.
class TimedConnection : public httplib::Stream {
 public:
  explicit TimedConnection(int socket) : socket_(socket) {}

  bool is_readable() const override { return begin_ < end_ || wait_for(POLLIN, left()); }
  bool is_writable() const override { return wait_for(POLLOUT, kPatience) && is_somebody_there(); }

  ssize_t read(char* to, std::size_t size) override {
    if (begin_ == end_) {
      if (!wait_for(POLLIN, left())) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
    }
    const std::size_t count = std::min(size, end_ - begin_);
    std::copy_n(buffer_.data() + begin_, count, to);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* from, std::size_t size) override {
    return wait_for(POLLOUT, kPatience) ? ::send(socket_, from, size, MSG_NOSIGNAL) : -1;
  }

  // Nobody asks who it is: a token says who may.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  milliseconds left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now()));
  }

  bool wait_for(short what, milliseconds limit) const {
    if (limit.count() == 0) return false;
    pollfd file{.fd = socket_, .events = what, .revents = 0};
    return ::poll(&file, 1, static_cast<int>(limit.count())) > 0;
  }

  bool is_somebody_there() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
  }

  const int socket_;
  const steady_clock::time_point deadline_ = steady_clock::now() + kPatience;
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// One request per connection: the library keeps a thread for each open one, and what follows a refused body is no
// further request.
class OneRequestServer : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override {
    TimedConnection connection(socket);
    bool closed = false;
    const auto whole = [](httplib::Request& request) {
      request.ranges.clear();
    };  // a thousand ranges are a large answer
    const bool done = process_request(connection, true, closed, whole);
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return done;
  }
};

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

HttpRequest request_of(const httplib::Request& request) {
  HttpRequest out{.method = request.method, .path = request.path, .body = request.body};
  for (const auto& [name, value] : request.headers) {
    // These are the library's own notes.
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
  OneRequestServer server;
};

HttpServer::HttpServer(Guard guard, Handler handler, int threads) : impl_(std::make_unique<Impl>()) {
  httplib::Server& server = impl_->server;
  server.new_task_queue = [threads] { return new httplib::ThreadPool(static_cast<std::size_t>(threads)); };
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

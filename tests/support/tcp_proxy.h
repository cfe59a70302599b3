#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

namespace bapi::test {

// Stands between a client and a server of this machine, and fails on demand.
class TcpProxy {
 public:
  explicit TcpProxy(int server_port) : server_port_(server_port), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ::ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~TcpProxy() {
    ending_ = true;
    thread_.join();
    ::close(listener_);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }

  // Cuts every connection once, after so many further bytes in this direction.
  void cut_after_sent(long bytes) { until_cut_[0] = bytes; }
  void cut_after_received(long bytes) { until_cut_[1] = bytes; }
  bool has_cut() const { return until_cut_[0] < 0 && until_cut_[1] < 0; }

  void hang(bool on) { hangs_ = on; }      // connections stay, nothing moves
  void refuse(bool on) { refuses_ = on; }  // new connections end at once
  void delay(double seconds) { delay_ = seconds; }

 private:
  struct Pair {
    std::array<int, 2> ends;  // client, server
  };

  static sockaddr_in loopback(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    address.sin_port = ::htons(static_cast<std::uint16_t>(port));
    return address;
  }

  void serve() {
    while (!ending_) {
      std::vector<pollfd> files{{.fd = listener_, .events = POLLIN, .revents = 0}};
      for (const Pair& pair : pairs_) {
        for (const int end : pair.ends) files.push_back({.fd = end, .events = POLLIN, .revents = 0});
      }
      ::poll(files.data(), files.size(), 10);
      if (files[0].revents != 0) accept_one();
      if (hangs_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      std::size_t i = 1;
      bool cut = false;
      for (auto pair = pairs_.begin(); pair != pairs_.end();) {
        bool alive = true;
        for (std::size_t from = 0; from < 2; ++from, ++i) {
          if (i < files.size() && files[i].revents != 0 && alive) alive = forward(*pair, from, cut);
        }
        pair = alive ? std::next(pair) : close_pair(pair);
      }
      while (cut && !pairs_.empty()) close_pair(pairs_.begin());
    }
    while (!pairs_.empty()) close_pair(pairs_.begin());
  }

  void accept_one() {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(server_port_);
    if (refuses_ || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      ::close(server);
      return;
    }
    pairs_.push_back({{client, server}});
  }

  // Whether the pair lives on.
  bool forward(const Pair& pair, std::size_t from, bool& cut) {
    std::array<char, 4096> buffer;
    std::atomic<long>& left = until_cut_[from];
    const long limit = left;
    const std::size_t most =
        limit < 0 ? buffer.size() : std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(limit));
    if (delay_ > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(delay_.load()));
    const ssize_t got = most == 0 ? 0 : ::recv(pair.ends[from], buffer.data(), most, 0);
    if (most > 0 && got <= 0) return false;
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t now =
          ::send(pair.ends[1 - from], buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (now <= 0) return false;
      sent += now;
    }
    if (limit < 0) return true;
    left = limit - got;
    if (limit - got > 0) return true;
    left = -1;
    cut = true;
    return false;
  }

  std::list<Pair>::iterator close_pair(std::list<Pair>::iterator pair) {
    for (const int end : pair->ends) ::close(end);
    return pairs_.erase(pair);
  }

  const int server_port_;
  const int listener_;
  int port_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> hangs_ = false;
  std::atomic<bool> refuses_ = false;
  std::atomic<double> delay_ = 0.0;
  std::array<std::atomic<long>, 2> until_cut_ = {-1, -1};
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace bapi::test

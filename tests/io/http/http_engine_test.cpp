// Tests of waits for a server that is silent. tests/cli/remote_test.py and its neighbours test all
// else about web servers.

#include <ooc/detail/base/wait_check.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/file/file.hpp>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "../expect_error.hpp"

namespace ooc::detail {
namespace {

using namespace std::chrono_literals;
using test::expect_error;

constexpr std::size_t object_bytes = 1000;

/// Accepts all connections, and answers on the first one only.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, any, size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, any, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/a.f32";
  }
  ~SilentServer() {
    ::shutdown(listener_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    if (connection_ >= 0) ::close(connection_);
    ::close(listener_);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  const std::string& url() const { return url_; }

  /// Answers the first request, which is for the size.
  void answer() {
    thread_ = std::jthread([this] {
      connection_ = ::accept(listener_, nullptr, nullptr);
      std::array<char, 4096> request;
      const std::string text =
          "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Length: 1\r\n"
          "Content-Range: bytes 0-0/" +
          std::to_string(object_bytes) + "\r\n\r\nx";
      EXPECT_GT(::recv(connection_, request.data(), request.size(), 0), 0);
      EXPECT_EQ(::send(connection_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
    });
  }

 private:
  int listener_, connection_ = -1;
  std::string url_;
  std::jthread thread_;
};

TEST(HttpEngine, GivesUpWhatIsAbandoned) {
  SilentServer server;
  server.answer();
  const File file = File::open(server.url());
  ASSERT_EQ(file.size(), object_bytes);
  std::array<std::byte, object_bytes> memory{};
  std::stop_source abandon;
  const auto engine = make_engine(
      {.kind = EngineKind::http, .depth = 3, .threads = 2, .abandon = abandon.get_token()});
  std::array<Request, 3> requests;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i] = {.source = &file,
                   .memory = memory.data() + i * 100,
                   .offset = i * 100,
                   .bytes = 100,
                   .needed = 100};
    engine->start(requests[i]);
  }
  EXPECT_EQ(engine->wait_for(200ms), nullptr);
  abandon.request_stop();
  for (std::size_t left = requests.size(); left > 0; --left) {
    EXPECT_EQ(engine->in_flight(), left);
    expect_error(ErrorKind::interrupted, "interrupted", [&] { engine->wait(); });
  }
  engine->start(requests[0]);
  expect_error(ErrorKind::interrupted, "interrupted", [&] { engine->wait(); });
}

struct Enough {};

TEST(RemoteObject, AWaitEndsWhenItsThreadHasAReason) {
  for (const bool is_known : {false, true}) {
    SilentServer server;
    if (is_known) server.answer();
    std::atomic<bool> is_enough{false};
    const WaitCheck check([&] {
      if (is_enough) throw Enough{};
    });
    const std::jthread other([&] {
      std::this_thread::sleep_for(300ms);
      is_enough = true;
    });
    std::array<std::byte, object_bytes> memory{};
    EXPECT_THROW(read_exactly(File::open(server.url()), 0, memory), Enough);
  }
}

}  // namespace
}  // namespace ooc::detail

#pragma once

#include <ooc/detail/engine/engine.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ooc::detail::test {

inline bool uring_is_available() {
  try {
    make_engine({.kind = EngineKind::uring});
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns every engine that is available on this machine.
inline std::vector<EngineKind> engines_here() {
  std::vector<EngineKind> engines{EngineKind::threads};
  if (uring_is_available()) engines.push_back(EngineKind::uring);
  return engines;
}

/// True if io_uring can wait with a time limit (Linux 5.11 and later). Without, waits have none.
inline bool rings_wait_for_a_while() {
  io_uring_params params{};
  const long ring = ::syscall(SYS_io_uring_setup, 1, &params);
  if (ring < 0) return false;
  ::close(static_cast<int>(ring));
  return (params.features & IORING_FEAT_EXT_ARG) != 0;
}

/// A fixture with an engine as parameter. Skips the tests of io_uring where it is not available.
class EachEngine : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == EngineKind::uring && !uring_is_available()) GTEST_SKIP() << "no io_uring";
  }

  static std::unique_ptr<Engine> make(EngineOptions options = {}) {
    options.kind = GetParam();
    options.threads = 3;
    return make_engine(options);
  }
};

inline const auto all_engines = testing::Values(EngineKind::uring, EngineKind::threads);

/// Names the instances of such a test.
inline std::string engine_name(const testing::TestParamInfo<EngineKind>& kind) {
  return kind.param == EngineKind::uring ? "uring" : "threads";
}

/// A fixture with two parameters: the engine, and whether I/O is direct. Where io_uring is not
/// available, all tests use threads.
class EachWay : public testing::TestWithParam<std::tuple<EngineKind, bool>> {
 protected:
  static EngineKind kind() { return std::get<EngineKind>(GetParam()); }
  static bool direct() { return std::get<bool>(GetParam()); }
};

inline const auto all_ways =
    testing::Combine(testing::Values(EngineKind::automatic, EngineKind::threads), testing::Bool());

/// Names the instances of such a test.
inline std::string way_name(const testing::TestParamInfo<std::tuple<EngineKind, bool>>& way) {
  const auto [kind, direct] = way.param;
  return std::string{kind == EngineKind::automatic ? "uring" : "threads"} +
         (direct ? "_direct" : "_buffered");
}

/// Returns `count` requests: `first` and those that continue it in the file and in memory.
inline std::vector<Request> consecutive_requests(const Request& first, std::size_t count) {
  std::vector<Request> requests(count, first);
  for (std::size_t i = 0; i < count; ++i) {
    requests[i].memory += i * first.bytes;
    requests[i].offset += i * first.bytes;
  }
  return requests;
}

/// Transfers the requests with as many in flight as the engine takes. Each must complete once.
inline void transfer_all(Engine& engine, std::span<Request> requests) {
  std::vector<bool> seen(requests.size());
  std::size_t started = 0;
  for (std::size_t complete = 0; complete < requests.size(); ++complete) {
    while (started < requests.size() && engine.in_flight() < engine.depth()) {
      engine.start(requests[started++]);
    }
    const Request& request = engine.wait();
    EXPECT_EQ(request.done, request.bytes);
    const auto index = static_cast<std::size_t>(&request - requests.data());
    EXPECT_FALSE(seen[index]);
    seen[index] = true;
  }
}

/// Starts both requests. `bad` must fail with this errno, and `good` must complete all the same.
inline void expect_only_one_fails(Engine& engine, Request& bad, Request& good, int errno_value) {
  engine.start(bad);
  engine.start(good);
  int errors = 0;
  while (engine.in_flight() > 0) {
    try {
      EXPECT_EQ(&engine.wait(), &good);
    } catch (const Error& error) {
      EXPECT_EQ(error.details().errno_value, errno_value);
      ++errors;
    }
  }
  EXPECT_EQ(errors, 1);
}

/// Starts all requests and destroys the engine when the first is complete.
inline void abandon(std::unique_ptr<Engine> engine, std::span<Request> requests) {
  for (Request& request : requests) engine->start(request);
  engine->wait();  // submits all of them to the kernel
}

}  // namespace ooc::detail::test

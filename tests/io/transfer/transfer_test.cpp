#include <gtest/gtest.h>

#include <ooc/detail/base/heap_memory.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

/// An engine that fails with all its requests in flight. Its destructor reads the requests, as the
/// threads of a real engine may still do, and records whether they still exist.
class DyingEngine final : public Engine {
 public:
  explicit DyingEngine(std::optional<bool>& ended_in_time) : ended_in_time_(ended_in_time) {}
  ~DyingEngine() override {
    const auto is_there = [](const auto& begun) { return begun.first->source == begun.second; };
    ended_in_time_ = std::ranges::all_of(requests_, is_there);
  }
  DyingEngine(const DyingEngine&) = delete;
  DyingEngine& operator=(const DyingEngine&) = delete;

  void start(Request& request) override { requests_.emplace_back(&request, request.source); }
  Request& wait() override { throw Error(ErrorKind::input, "the engine's own error"); }
  std::size_t in_flight() const noexcept override { return requests_.size(); }
  std::size_t depth() const noexcept override { return 4; }
  std::string_view name() const noexcept override { return "dying"; }

 private:
  std::optional<bool>& ended_in_time_;
  std::vector<std::pair<const Request*, const File*>> requests_;
};

TEST(Transfer, KeepsItsRequestsUntilItsEngineHasEnded) {
  const test::TempDir directory;
  std::vector<File> files;
  files.push_back(File::open(directory.write("data", test::random_bytes(50'000, 1))));
  const std::vector<Extent> extents{{0, 0, 50'000}};
  const SequentialPlan plan(extents, 10'000);
  ChunkPool pool(heap_memory(), 2, 20'000, 1);
  std::optional<bool> ended_in_time;
  {
    Reader reader(files, plan, pool, std::make_unique<DyingEngine>(ended_in_time), 4096, false);
    test::expect_error(ErrorKind::input, "the engine's own error", [&] { reader.run(); });
    EXPECT_EQ(reader.engine().in_flight(), 4u);
    EXPECT_FALSE(ended_in_time.has_value());
  }
  EXPECT_EQ(ended_in_time, true);
}

/// An engine that completes a request only while two are in flight, or when no more will come.
/// Otherwise wait_for() recycles the oldest chunk, as a lane would while the transfer waits.
class PairingEngine final : public Engine {
 public:
  PairingEngine(ChunkPool& pool, std::size_t requests) : pool_(pool), to_come_(requests) {}

  void start(Request& request) override {
    requests_.push_back(&request);
    --to_come_;
  }
  Request& wait() override {
    if (Request* const request = answer()) return *request;
    throw Error(ErrorKind::input, "slept where another request could have been started");
  }
  Request* wait_for(std::chrono::microseconds /*patience*/) override {
    Request* const request = answer();
    if (request == nullptr) pool_.recycle(*pool_.wait(given_back_++, ChunkState::loaded));
    return request;
  }
  std::size_t in_flight() const noexcept override { return requests_.size(); }
  std::size_t depth() const noexcept override { return 2; }
  std::string_view name() const noexcept override { return "pairing"; }

 private:
  Request* answer() {
    if (requests_.size() < 2 && to_come_ != 0) return nullptr;
    Request* const request = requests_.front();
    requests_.erase(requests_.begin());
    return request;
  }

  ChunkPool& pool_;
  std::size_t to_come_;
  std::size_t given_back_ = 0;
  std::vector<Request*> requests_;
};

TEST(Transfer, StartsRequestsWhileOthersAreInFlightAndASlotComesFree) {
  constexpr std::size_t chunks = 5;
  const test::TempDir directory;
  std::vector<File> files;
  files.push_back(File::open(directory.write("data", test::random_bytes(chunks * page_bytes, 1))));
  const std::vector<Extent> extents{{0, 0, chunks * page_bytes}};
  const SequentialPlan plan(extents, page_bytes);
  ChunkPool pool(heap_memory(), 2, 2 * page_bytes, 1);
  Reader reader(files, plan, pool, std::make_unique<PairingEngine>(pool, chunks), page_bytes,
                false);
  reader.run();
  EXPECT_EQ(reader.bytes_done(), chunks * page_bytes);
}

}  // namespace
}  // namespace ooc::detail

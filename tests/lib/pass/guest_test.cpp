// Tests that the library does not disturb other code of the same program.

#include <ooc/chunks.hpp>
#include <ooc/fold.hpp>

#include <ooc/detail/base/units.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/data_file.hpp"
#include "support/engines.hpp"
#include "support/late_device.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

std::atomic<pid_t> host_thread{0};
std::atomic<int> handled_by_host{0}, handled_by_others{0};

void note_thread(int /*signal*/) {
  ++(::gettid() == host_thread ? handled_by_host : handled_by_others);
}

/// Handles SIGUSR1 with note_thread() while the object lives. Interrupted system calls fail with
/// EINTR.
class Handler {
 public:
  Handler() {
    struct sigaction action {};
    action.sa_handler = note_thread;
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~Handler() { ::sigaction(SIGUSR1, &before_, nullptr); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  struct sigaction before_ {};
};

TEST(Guest, NoHandlerOfTheProgramRunsOnAThreadOfTheLibrary) {
  const test::TempDir directory;
  const std::filesystem::path path = directory.path() / "data";
  test::write_file(path, std::vector<std::uint8_t>(40 * test::partition_elements, 1));
  host_thread = ::gettid();
  const Handler handler;
  std::vector<EngineKind> engines = test::engines_here();
  engines.push_back(EngineKind::automatic);
  for (const EngineKind engine : engines) {
    for (const DirectIo direct : {DirectIo::automatic, DirectIo::no}) {
      Coordinator coordinator(make_device(DeviceKind::cpu),
                              {.chunk_bytes = test::partition_elements,
                               .streams = 3,
                               .engine = engine,
                               .direct = direct});
      const Source source = open_bytes(path);
      const test::Count<> signalling{[](auto) { ::kill(::getpid(), SIGUSR1); }};
      EXPECT_EQ(fold(coordinator, signalling, source).value, source.bytes());
    }
  }
  EXPECT_GT(handled_by_host, 0);
  EXPECT_EQ(handled_by_others, 0);
}

TEST(Guest, SeveralCoordinatorsReadOneSourceAtTheSameTime) {
  const test::TempDir directory;
  const std::filesystem::path path = directory.path() / "data";
  test::write_file(path, std::vector<std::uint8_t>(20 * test::partition_elements + 7, 3));
  const Source source = open_bytes(path);
  const auto run_passes = [&source] {
    Coordinator coordinator(make_device(DeviceKind::cpu), {.streams = 2});
    for (int pass = 0; pass < 5; ++pass) {
      EXPECT_EQ(fold(coordinator, test::Sum{}, source).value, 3 * source.bytes());
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(run_passes);
}

// LateDevice stands for a GPU that is not the program's own.
TEST(Guest, TheGpuOfTheProgramIsWhatItWas) {
  const test::TempDir directory;
  const std::filesystem::path path = directory.path() / "data";
  test::write_file(path, std::vector<std::uint8_t>(3 * test::partition_elements, 1));
  const Source source = open_bytes(path);
  void*& gpu = test::LateDevice::context_of_thread;
  Coordinator coordinator(std::make_unique<test::LateDevice>());
  int context_of_program = 0;
  void* const before = gpu = &context_of_program;
  std::vector<void*> during;
  const auto note = [&](const Progress&) { during.push_back(gpu); };
  fold(coordinator, test::Sum{}, source, {.progress = note});
  EXPECT_EQ(gpu, before);
  EXPECT_EQ(during.back(), &test::LateDevice::context);  // the pass needs it there

  const test::Count<> failing{[](auto) { throw std::runtime_error("an operator's"); }};
  EXPECT_THROW(fold(coordinator, failing, source), std::runtime_error);
  EXPECT_EQ(gpu, before);
  {
    Chunks chunks(coordinator, source);
    EXPECT_EQ(gpu, before);
    while (chunks.next()) EXPECT_EQ(gpu, before);
  }
  EXPECT_EQ(gpu, before);
}

// The system may give a thread the identity of one that has ended: here that of the loop's own,
// which was bound to the GPU.
TEST(Guest, ChunksMayDieOnAThreadThatBeganLater) {
  const test::TempDir directory;
  const std::filesystem::path path = directory.path() / "data";
  test::write_file(path, std::vector<std::uint8_t>(3 * test::partition_elements, 1));
  const Source source = open_bytes(path);
  Coordinator coordinator(std::make_unique<test::LateDevice>());
  auto chunks = std::make_unique<Chunks>(coordinator, source);
  while (chunks->next()) {
  }
  std::thread([&] {
    int context_of_program = 0;
    test::LateDevice::context_of_thread = &context_of_program;
    chunks.reset();
    EXPECT_EQ(test::LateDevice::context_of_thread, &context_of_program);
  }).join();
}

}  // namespace
}  // namespace ooc::detail

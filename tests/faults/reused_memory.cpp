// Counts the bytes that the kernel still writes into memory after a shutdown during reads into it:
//
//   reused_memory FILE STALL
//
// FILE is in a fault_fs with stall_at=1048576, and STALL is its file .stall. Each design begins to
// read FILE and shuts down while its reads hang. The program then paints the memory that they were
// to fill, releases the reads, and prints "DESIGN: OVERWRITTEN early|late": the number of bytes
// that are no longer as painted, and whether the design ended before the reads were released. If a
// design needs io_uring and there is none, it prints the reason instead. The last designs are
// naive: they show what the others avoid.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>

#include <liburing.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <memory_resource>
#include <semaphore>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/faulty_engine.hpp"

namespace ooc::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t read_bytes = MiB;
constexpr std::size_t reads = 4;  // that hang at once; fewer than the threads of fault_fs
constexpr std::size_t arena_bytes = 64 * MiB;
constexpr std::byte paint{0x5C};  // no byte of the file has this value
constexpr milliseconds moment{10};
constexpr milliseconds patience{300};  // with a design that waits, as all should
constexpr milliseconds most_patience{10'000};

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Waits until the condition is true. Returns false after `most_patience`.
bool becomes_true(const std::function<bool()>& condition) {
  for (milliseconds waited{0}; waited < most_patience; waited += moment) {
    if (condition()) return true;
    std::this_thread::sleep_for(moment);
  }
  return false;
}

/// Makes reads of the file hang until it is released.
class Stall {
 public:
  explicit Stall(std::filesystem::path path) : path_(std::move(path)) { std::ofstream{path_}; }
  ~Stall() { release(); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

  bool holds() const { return std::filesystem::exists(path_); }
  void release() const { std::filesystem::remove(path_); }
  void wait_for_reads(std::size_t count) const {
    require(becomes_true([&] { return std::filesystem::file_size(path_) >= count; }),
            "no reads hang");
  }

 private:
  std::filesystem::path path_;
};

/// The file and the memory of a design.
struct Place {
  const std::filesystem::path& path;
  const Stall& stall;
  std::span<std::byte> memory;
  std::vector<std::jthread>& left_behind;  // by a naive design
};

/// Memory of an arena, which is given once.
class ArenaMemory final : public MemoryResource {
 public:
  explicit ArenaMemory(std::span<std::byte> arena)
      : arena_(arena.data(), arena.size(), std::pmr::null_memory_resource()) {}

  void* allocate(std::size_t bytes, std::size_t alignment) override {
    return arena_.allocate(bytes, alignment);
  }
  void deallocate(void* /*data*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {}

 private:
  std::pmr::monotonic_buffer_resource arena_;
};

/// A CPU device with a given arena as its host memory, which is painted after the shutdown.
class DeviceOnArena final : public Device {
 public:
  explicit DeviceOnArena(std::span<std::byte> arena) : arena_(arena) {}

  DeviceKind kind() const noexcept override { return cpu_->kind(); }
  std::string name() const override { return cpu_->name(); }
  void bind_to_thread() override { cpu_->bind_to_thread(); }
  MeteredMemory& host_memory() override { return host_memory_; }
  MeteredMemory& device_memory() override { return cpu_->device_memory(); }
  std::uint64_t available_bytes() override { return cpu_->available_bytes(); }
  std::unique_ptr<Stream> make_stream() override { return cpu_->make_stream(); }
  std::unique_ptr<Event> make_event() override { return cpu_->make_event(); }

 private:
  std::unique_ptr<Device> cpu_ = make_device(DeviceKind::cpu);
  ArenaMemory arena_;
  MeteredMemory host_memory_{arena_, "host memory"};
};

/// An operator that fails as soon as reads hang.
struct FailAmidReads {
  using Input = std::byte;
  using Partial = int;
  static constexpr Merge merge_order = Merge::unordered;
  const Stall* stall;

  void consume(Stream& /*stream*/, DeviceChunk<const Input> /*in*/, Partial& /*part*/) const {
    stall->wait_for_reads(reads);
    throw std::runtime_error("the operator fails");
  }
  void merge(Partial& /*total*/, const Partial& /*part*/) const {}
};

/// An operator that ignores its input.
struct Ignore {
  using Input = std::byte;
  using Partial = int;
  static constexpr Merge merge_order = Merge::unordered;

  void consume(Stream& /*stream*/, DeviceChunk<const Input> /*in*/, Partial& /*part*/) const {}
  void merge(Partial& /*total*/, const Partial& /*part*/) const {}
};

void destroy_engine(const Place& place, EngineKind kind, bool registered) {
  const File file = File::open(place.path);
  std::vector<Request> requests(reads);
  const auto engine = make_engine({.kind = kind,
                                   .depth = reads,
                                   .threads = reads,
                                   .storage = registered ? place.memory : std::span<std::byte>{},
                                   .storage_piece = read_bytes});
  for (std::size_t i = 0; i < reads; ++i) {
    requests[i] = {.source = &file,
                   .direct = file.direct() >= 0,
                   .memory = place.memory.data() + i * read_bytes,
                   .offset = (i + 1) * read_bytes,
                   .bytes = read_bytes,
                   .needed = read_bytes};
    engine->start(requests[i]);
  }
  place.stall.wait_for_reads(reads);
}

Options reading_with(EngineKind kind) {
  return {.chunk_bytes = read_bytes,
          .streams = 2,
          .threads = 2 + reads,
          .block_bytes = read_bytes,
          .queue_depth = reads,
          .engine = kind};
}

/// Reads into the memory until the reader's engine fails while reads hang.
void destroy_reader(const Place& place, EngineKind kind) {
  const Source source = open_bytes(place.path);
  const SequentialPlan plan(storage_of(source), read_bytes);
  ArenaMemory memory(place.memory);
  ChunkPool pool(memory, reads + 1, read_bytes + 2 * page_bytes, 1);
  const auto die_amid_reads = [&, waits = 0](test::EngineCall call) mutable {
    if (call != test::EngineCall::wait || waits++ == 0) return;  // the first read does not hang
    place.stall.wait_for_reads(reads);
    throw std::runtime_error("the engine dies");
  };
  Reader reader(files_of(source), plan, pool,
                std::make_unique<test::FaultyEngine>(
                    make_engine({.kind = kind, .depth = reads, .threads = reads}), die_amid_reads),
                read_bytes, true);
  try {
    reader.run();
  } catch (const std::runtime_error&) {
    return;
  }
  throw std::runtime_error("the engine did not die");
}

void fail_pass(const Place& place, EngineKind kind) {
  const Source source = open_bytes(place.path);
  Coordinator coordinator(std::make_unique<DeviceOnArena>(place.memory), reading_with(kind));
  try {
    (void)fold(coordinator, FailAmidReads{&place.stall}, source);
  } catch (const std::runtime_error&) {
    return;
  }
  throw std::runtime_error("the pass did not fail");
}

void cancel_pass(const Place& place, EngineKind kind) {
  const Source source = open_bytes(place.path);
  std::stop_source stop;
  Coordinator coordinator(std::make_unique<DeviceOnArena>(place.memory), reading_with(kind));
  const std::jthread canceller([&] {
    place.stall.wait_for_reads(reads);
    stop.request_stop();
  });
  const PassOptions wanted{.stop = stop.get_token(), .keep_partial = true};
  require(fold(coordinator, Ignore{}, source, wanted).stats.outcome.partial,
          "the pass was not cancelled");
}

/// Closes its ring and takes its reads to be over then.
void close_ring(const Place& place) {
  const File file = File::open(place.path);
  io_uring ring{};
  require(io_uring_queue_init(reads, &ring, 0) == 0, "no io_uring");
  for (unsigned i = 0; i < reads; ++i) {
    io_uring_prep_read(io_uring_get_sqe(&ring), file.buffered(),
                       place.memory.data() + i * read_bytes, read_bytes, (i + 1) * read_bytes);
  }
  require(io_uring_submit(&ring) == int{reads}, "io_uring takes no reads");
  place.stall.wait_for_reads(reads);
  io_uring_queue_exit(&ring);
}

/// Ends without waiting for its threads.
void abandon_threads(const Place& place) {
  const auto file = std::make_shared<const File>(File::open(place.path));
  for (std::size_t i = 0; i < reads; ++i) {
    place.left_behind.emplace_back([file, i, memory = place.memory.data() + i * read_bytes] {
      const auto offset = static_cast<off_t>((i + 1) * read_bytes);
      require(::pread(file->buffered(), memory, read_bytes, offset) == int{read_bytes}, "pread");
    });
  }
  place.stall.wait_for_reads(reads);
}

std::size_t unlike_paint(std::span<const std::byte> memory) {
  return memory.size() - static_cast<std::size_t>(std::ranges::count(memory, paint));
}

/// Counts the bytes that are no longer painted. After a design that ended early, this waits until
/// all reads have written or a time limit is reached, since nothing reports their end.
std::size_t count_overwritten(std::span<const std::byte> memory, bool early) {
  if (early) becomes_true([&] { return unlike_paint(memory) == reads * read_bytes; });
  std::this_thread::sleep_for(patience);
  return unlike_paint(memory);
}

struct Design {
  const char* name;
  bool uring;
  bool waits;  // else it is naive
  std::function<void(const Place&)> shut_down;
};

std::vector<Design> all_designs() {
  using enum EngineKind;
  return {
      {"uring engine destroyed", true, true, [](auto& at) { destroy_engine(at, uring, false); }},
      {"registered engine destroyed", true, true,
       [](auto& at) { destroy_engine(at, uring, true); }},
      {"threads engine destroyed", false, true,
       [](auto& at) { destroy_engine(at, threads, false); }},
      {"uring reader destroyed", true, true, [](auto& at) { destroy_reader(at, uring); }},
      {"threads reader destroyed", false, true, [](auto& at) { destroy_reader(at, threads); }},
      {"uring pass failed", true, true, [](auto& at) { fail_pass(at, uring); }},
      {"threads pass failed", false, true, [](auto& at) { fail_pass(at, threads); }},
      {"uring pass cancelled", true, true, [](auto& at) { cancel_pass(at, uring); }},
      {"threads pass cancelled", false, true, [](auto& at) { cancel_pass(at, threads); }},
      {"naive ring closed", true, false, close_ring},
      {"naive threads abandoned", false, false, abandon_threads},
  };
}

void measure(const Design& design, const std::filesystem::path& path,
             const std::filesystem::path& stall_path, std::span<std::byte> memory) {
  std::vector<std::jthread> left_behind;
  const Stall stall(stall_path);
  std::binary_semaphore painted{0};
  std::jthread releaser([&] {
    stall.wait_for_reads(reads);
    painted.try_acquire_for(design.waits ? patience : most_patience);
    stall.release();
  });
  design.shut_down({path, stall, memory, left_behind});
  const bool early = stall.holds();
  std::ranges::fill(memory, paint);
  painted.release();
  releaser.join();
  const std::size_t overwritten = count_overwritten(memory, early);
  left_behind.clear();
  std::printf("%s: %zu %s\n", design.name, overwritten, early ? "early" : "late");
  std::fflush(stdout);
}

std::string why_no_uring() {
  try {
    make_engine({.kind = EngineKind::uring});
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void measure_all(const std::filesystem::path& path, const std::filesystem::path& stall) {
  void* const mapped =
      ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(mapped != MAP_FAILED, "no memory");
  const std::span memory{static_cast<std::byte*>(mapped), arena_bytes};
  const std::string no_uring = why_no_uring();
  for (const Design& design : all_designs()) {
    if (design.uring && !no_uring.empty()) {
      std::printf("%s: %s\n", design.name, no_uring.c_str());
    } else {
      measure(design, path, stall, memory);
    }
  }
}

}  // namespace
}  // namespace ooc::detail

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: reused_memory FILE STALL");
  ooc::detail::measure_all(argv[1], argv[2]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "reused_memory: %s\n", error.what());
  return 1;
}

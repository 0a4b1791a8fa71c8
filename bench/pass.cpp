// Measures the pipeline over a file or without a disk. With an engine whose reads complete at once,
// the rate is that of the lanes, the link and the kernels. Such an engine can also "read" a file of
// any size, to measure memory.

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench.hpp"

namespace ooc::detail::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// An engine that reads nothing: each request completes `delay` after its start. The pool holds
/// random data, which is written in its first pass.
class NullEngine final : public Engine {
 public:
  NullEngine(const EngineOptions& options, SteadyClock::duration delay)
      : depth_(options.depth), delay_(delay) {
    auto* const words = reinterpret_cast<std::uint64_t*>(options.storage.data());
    if (words[0] != 0) return;
    std::mt19937_64 random(1);
    std::generate_n(words, options.storage.size() / sizeof(std::uint64_t), std::ref(random));
  }
  void start(Request& request) override {
    started_.push_back(
        {&request, delay_.count() == 0 ? SteadyClock::time_point{} : SteadyClock::now() + delay_});
  }
  Request& wait() override {
    Request& request = *started_.front().request;
    if (delay_.count() != 0) std::this_thread::sleep_until(started_.front().done);
    started_.pop_front();
    request.done = request.bytes;
    return request;
  }
  std::size_t in_flight() const noexcept override { return started_.size(); }
  std::size_t depth() const noexcept override { return depth_; }
  std::string_view name() const noexcept override { return "null"; }

 private:
  struct Started {
    Request* request;
    SteadyClock::time_point done;
  };

  std::size_t depth_;
  SteadyClock::duration delay_;
  std::deque<Started> started_;
};

/// A sparse temporary file, which the destructor removes.
class SparseFile {
 public:
  explicit SparseFile(std::uint64_t bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("ooc-bench-sparse-" + std::to_string(getpid()))) {
    std::ofstream{path_};
    std::filesystem::resize_file(path_, bytes);
  }
  ~SparseFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Returns a value of /proc/self/status in bytes, from a line such as "VmHWM:   12345 kB".
std::uint64_t process_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

/// Opens a file as `pieces` pieces of whole pages, of which groups of 64 are stored backwards.
Source open_in_pieces(const std::filesystem::path& path, const DType& type, std::size_t pieces) {
  std::vector<File> files;
  files.push_back(File::open(path));
  const std::uint64_t all = files.front().size();
  const std::uint64_t bytes =
      round_up(divide_up(all, std::max<std::uint64_t>(pieces, 1)), page_bytes);
  std::vector<Extent> extents;
  for (std::uint64_t offset = 0; offset < all; offset += bytes) {
    extents.push_back({0, offset, std::min(bytes, all - offset)});
  }
  constexpr std::size_t group = 64;
  for (std::size_t i = 0; i < extents.size(); i += group) {
    std::ranges::reverse(std::span(extents).subspan(i, std::min(group, extents.size() - i)));
  }
  return SourceAccess::of_files(std::move(files), extents, type);
}

}  // namespace

Stats run_once(Coordinator& coordinator, const Source& source, const std::string& operation) {
  if (operation == "reduce") return reduce(coordinator, source).stats;
  const bool bytes = source.type()->element == ElementType::u1;
  HistogramOptions options;
  if (!bytes) options.range = HistogramOptions::Range{-1, 1};
  return histogram(coordinator, source, options).stats;
}

nlohmann::ordered_json pass(const PassOptions& options) {
  std::optional<SparseFile> nothing;
  ooc::Options coordinated = options.coordinator;
  if (options.file.empty()) {
    nothing.emplace(options.bytes);
    const auto delay = std::chrono::duration_cast<SteadyClock::duration>(
        std::chrono::duration<double, std::milli>(options.delay_milliseconds));
    // With a delay, sizes are chosen as for a disk; without, as for the page cache.
    coordinated.direct = delay.count() != 0 ? DirectIo::yes : DirectIo::no;
    coordinated.make_engine = [delay](const EngineOptions& engine) {
      return std::make_unique<NullEngine>(engine, delay);
    };
  }
  const DType type = parse_dtype(options.dtype);
  const std::filesystem::path path =
      nothing ? nothing->path() : std::filesystem::path(options.file);
  const SteadyClock::time_point opening = SteadyClock::now();
  const Source source =
      options.pieces == 1 ? open(path, {.type = type}) : open_in_pieces(path, type, options.pieces);
  const std::chrono::duration<double> open_seconds = SteadyClock::now() - opening;
  auto device = make_device(options.cuda ? DeviceKind::cuda : DeviceKind::cpu);
  device->bind_to_thread();
  const std::uint64_t baseline = process_bytes("VmHWM");

  Coordinator coordinator(std::move(device), coordinated);
  std::vector<double> rates, cpu_seconds_per_gb;
  Stats stats;
  if (options.runs > 1) run_once(coordinator, source, options.operation);  // a warm-up
  for (int run = 0; run < options.runs; ++run) {
    const double before = measure::cpu_seconds();
    stats = run_once(coordinator, source, options.operation);
    const auto bytes = static_cast<double>(stats.outcome.bytes);
    rates.push_back(bytes / stats.timing.seconds);
    cpu_seconds_per_gb.push_back((measure::cpu_seconds() - before) / (bytes * 1e-9));
  }
  return {{"operation", options.operation},
          {"dtype", options.dtype},
          {"pieces", storage_of(source).size()},
          {"open_seconds", open_seconds.count()},
          {"bytes", stats.outcome.bytes},
          {"device", stats.layout.device},
          {"engine", stats.layout.engine},
          {"direct", stats.layout.direct},
          {"chunk_bytes", stats.layout.chunk_bytes},
          {"block_bytes", stats.layout.block_bytes},
          {"queue_depth", stats.layout.queue_depth},
          {"streams", stats.layout.streams},
          {"pool_bytes", stats.layout.pool_bytes},
          {"device_bytes", stats.layout.device_bytes},
          {"peak_rss_over_device_bytes", process_bytes("VmHWM") - baseline},
          {"startup_seconds", stats.timing.startup_seconds},
          {"reader_waits",
           stats.timing.disk.waits_out / stats.timing.seconds},  // fraction without a free slot
          {"bytes_per_second", spread(rates)},
          {"cpu_seconds_per_gb", spread(cpu_seconds_per_gb)}};
}

}  // namespace ooc::detail::bench

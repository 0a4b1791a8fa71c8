// Measures the stages of a run that writes a file, each alone: reads into the pool, kernels on data
// in device memory, and writes out of the pool. link.cpp measures the copies over the link.

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/engine/engine.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/detail/transfer/writer.hpp>
#include <ooc/memory.hpp>
#include <ooc/target.hpp>

#include "bench.hpp"
#include "convert/values.hpp"
#include "gemm/gemm.hpp"
#include "measure/link.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

namespace ooc::detail::bench {

namespace {

/// Returns a pool of about the size that a pass with the same IoConfig has.
ChunkPool make_pool(Device& device, const IoConfig& config) {
  const std::size_t in_flight =
      divide_up(config.queue_depth * config.block_bytes, config.chunk_bytes);
  return ChunkPool(device.host_memory(), in_flight + 4, config.chunk_bytes + 2 * page_bytes, 1);
}

nlohmann::ordered_json rates(const IoConfig& config, std::uint64_t bytes,
                             const std::vector<double>& seconds) {
  std::vector<double> per_second;
  for (const double time : seconds) per_second.push_back(static_cast<double>(bytes) / time);
  return {{"bytes", bytes}, {"direct", config.direct}, {"bytes_per_second", spread(per_second)}};
}

/// Copies page-locked memory to the device, again and again, on a thread of its own. The reads and
/// these copies share the memory bus but do not wait for each other.
class SteadyCopies {
 public:
  explicit SteadyCopies(Device& device)
      : thread_([this, &device](const std::stop_token& stop) { run(device, stop); }) {}

  /// Ends the copies and returns their rate in bytes per second.
  double stop() {
    thread_.request_stop();
    thread_.join();
    return bytes_per_second_;
  }

 private:
  void run(Device& device, const std::stop_token& stop) {
    constexpr std::size_t chunk_bytes = 8 * MiB;
    device.bind_to_thread();
    const Buffer host(device.host_memory(), measure::link_host_bytes());
    const Buffer there(device.device_memory(), chunk_bytes);
    const auto stream = device.make_stream();
    std::memset(host.data(), 1, host.size());
    std::uint64_t bytes = 0;
    const Clock clock;
    while (!stop.stop_requested()) {
      for (std::size_t at = 0; at < host.size(); at += chunk_bytes) {
        stream->copy(there.data(), host.data() + at, chunk_bytes);
      }
      stream->synchronize();
      bytes += host.size();
    }
    bytes_per_second_ = static_cast<double>(bytes) / clock.seconds();
  }

  double bytes_per_second_ = 0;  // written by the thread before it ends
  std::jthread thread_;          // the last member: it uses the others
};

}  // namespace

nlohmann::ordered_json read_alone(const std::string& file, bool cuda, bool copying, int runs) {
  const auto device = make_device(cuda ? DeviceKind::cuda : DeviceKind::cpu);
  const Source source = open_bytes(file);
  const Options options;
  const Workers workers = choose_workers(options, device->facts());
  const IoConfig config = choose_read_config(options, device->facts(), workers, facts_of(source));
  const SequentialPlan plan(storage_of(source), config.chunk_bytes);
  ChunkPool pool = make_pool(*device, config);
  std::vector<double> seconds;
  std::optional<SteadyCopies> copies;
  if (copying) copies.emplace(*device);
  for (int run = 0; run < runs; ++run) {
    pool.restart();
    Reader reader(files_of(source), plan, pool, make_engine(options, config, pool),
                  config.block_bytes, config.direct);
    const Clock clock;
    PassThreads threads({&pool});
    threads.start([&] { reader.run(); });
    threads.start([&] {
      for (std::size_t k = 0; k < plan.size(); ++k) pool.recycle(*pool.wait(k, ChunkState::loaded));
    });
    threads.join([] {});
    seconds.push_back(clock.seconds());
  }
  nlohmann::ordered_json result = rates(config, source.bytes(), seconds);
  if (copies) result["copied_bytes_per_second"] = copies->stop();
  return result;
}

nlohmann::ordered_json write_alone(const std::string& file, std::uint64_t bytes, bool cuda,
                                   int runs) {
  const auto device = make_device(cuda ? DeviceKind::cuda : DeviceKind::cpu);
  const Options options;
  const Workers workers = choose_workers(options, device->facts());
  std::vector<double> seconds;
  IoConfig config;
  for (int run = 0; run < runs; ++run) {
    std::filesystem::remove(file);
    const Clock clock;
    TargetFile target({.path = file}, bytes, {});
    config = choose_write_config(options, device->facts(), workers, target.why_not_direct());
    const Clock pool_clock;
    ChunkPool pool = make_pool(*device, config);
    std::memset(pool.memory().data(), 1, pool.memory().size());
    const double pool_seconds = pool_clock.seconds();
    const SequentialPlan plan(StorageMap({{0, 0, bytes}}), config.chunk_bytes);
    Writer writer({&target}, plan, pool, make_engine(options, config, pool), config.block_bytes,
                  config.direct);
    PassThreads threads({&pool});
    threads.start([&] { writer.run(); });
    threads.start([&] {
      for (std::size_t k = 0; k < plan.size(); ++k) {
        Chunk& chunk = *pool.begin(k);
        chunk.segments.push_back(chunk.memory.first(plan.bytes(k)));
        pool.publish(chunk, ChunkState::computed);
      }
    });
    threads.join([] {});
    target.commit();
    seconds.push_back(clock.seconds() - pool_seconds);
  }
  std::filesystem::remove(file);
  return rates(config, bytes, seconds);
}

nlohmann::ordered_json convert_alone(const std::string& from, const std::string& to, bool cuda,
                                     int runs) {
  const auto device = make_device(cuda ? DeviceKind::cuda : DeviceKind::cpu);
  device->bind_to_thread();
  const ElementType in_type = parse_dtype(from).element, out_type = parse_dtype(to).element;
  const std::size_t count = 2 * MiB;  // elements of a chunk
  const Buffer in(device->device_memory(), count * size_of(in_type));
  const Buffer out(device->device_memory(), count * size_of(out_type));
  const Buffer losses(device->device_memory(), sizeof(conversion::Losses));
  const auto stream = device->make_stream();
  stream->fill_zero(in.data(), in.size());
  stream->fill_zero(losses.data(), losses.size());
  std::vector<double> per_second;
  constexpr int repetitions = 20;
  for (int run = 0; run <= runs; ++run) {  // the first is a warm-up
    stream->synchronize();
    const Clock clock;
    for (int i = 0; i < repetitions; ++i) {
      conversion::convert_values(*stream, in_type, out_type, in.data(), out.data(), count,
                                 conversion::Beyond::convert, losses.as<conversion::Losses>());
    }
    stream->synchronize();
    if (run > 0) {
      per_second.push_back(static_cast<double>(in.size()) * repetitions / clock.seconds());
    }
  }
  return {{"from", from}, {"to", to}, {"bytes_per_second", spread(per_second)}};
}

nlohmann::ordered_json gemm_in_core(std::uint64_t length, const std::string& compute_name,
                                    bool cuda, int runs) {
  const DeviceKind kind = cuda ? DeviceKind::cuda : DeviceKind::cpu;
  const auto device = make_device(kind);
  device->bind_to_thread();
  Precision precision = Precision::f32;
  for (const Precision other : {Precision::tf32, Precision::bf16, Precision::f64}) {
    if (name_of(other) == compute_name) precision = other;
  }
  const ElementType operand = gemm::operand_type(kind, precision, ElementType::f4);
  auto& memory = cuda ? device->device_memory() : device->host_memory();
  const Buffer workspace(memory, std::max<std::size_t>(gemm::workspace_bytes(kind, 1 * GiB), 1));
  const auto gemm = gemm::make_gemm(kind, precision, operand, {workspace.data(), workspace.size()},
                                    std::thread::hardware_concurrency());
  const std::uint64_t elements = length * length;
  const Buffer a(memory, elements * size_of(operand)), b(memory, elements * size_of(operand));
  const Buffer c(memory, elements * size_of(gemm::product_type(precision)));
  const auto stream = device->make_stream();
  // Use noise: zeros take less power, and the GPU would run faster.
  std::vector<float> noise(1 * MiB);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = static_cast<float>(i * 2654435761u % 65536) / 65536 - 0.5f;
  }
  for (const Buffer* operand_memory : {&a, &b}) {
    const std::size_t noise_bytes = noise.size() * sizeof(float);
    for (std::size_t done = 0; done < operand_memory->size(); done += noise_bytes) {
      stream->copy(operand_memory->data() + done, noise.data(),
                   std::min(noise_bytes, operand_memory->size() - done));
    }
  }
  std::vector<double> seconds;
  for (int run = 0; run <= runs; ++run) {  // the first is a warm-up
    stream->synchronize();
    const Clock clock;
    gemm->multiply(*stream, {a.data(), length}, {b.data(), length}, {c.data(), length},
                   {length, length, length}, false);
    stream->synchronize();
    if (run > 0) seconds.push_back(clock.seconds());
  }
  const auto n = static_cast<double>(length);
  const auto time = spread(seconds);
  return {{"library", gemm->name()},
          {"n", length},
          {"compute", compute_name},
          {"seconds", time},
          {"flops_per_second", 2 * n * n * n / time["median"].get<double>()}};
}

}  // namespace ooc::detail::bench

#include "measure/kernel.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "measure/figures.hpp"
#include "measure/page_cache.hpp"
#include "measure/run_parallel.hpp"

namespace ooc::detail::measure {

namespace {

constexpr std::size_t gpu_bytes = 256 * MiB;  // larger than the cache of a GPU
constexpr std::size_t cpu_bytes = 512 * KiB;  // a chunk of the pipeline; fits a core's cache
// Long enough that start-up and threads that start at different times do not matter.
constexpr double round_seconds = 0.04;

/// Fills memory with the beginning of a file, repeated if the file is shorter.
void fill(std::byte* memory, std::size_t bytes, const File& file) {
  std::size_t done = 0;
  while (done < bytes) {
    const std::uint64_t offset = file.size() == 0 ? 0 : done % file.size();
    const DiskCall waits;
    const ssize_t got = repeat_interrupted([&] {
      return pread(file.buffered(), memory + done, bytes - done, static_cast<off_t>(offset));
    });
    if (got < 0) throw Error::from_errno(ErrorKind::input, "read", errno, file.path(), offset);
    if (got == 0) return;  // the file is empty: any contents will do
    done += static_cast<std::size_t>(got);
  }
}

/// Fills memory with random floats in [0, 1): one chunk of them, repeated.
template <class Float>
void fill_uniformly(std::byte* memory, std::size_t bytes) {
  std::mt19937_64 random;
  std::uniform_real_distribution<Float> values;
  std::vector<Float> chunk(cpu_bytes / sizeof(Float));
  std::ranges::generate(chunk, [&] { return values(random); });
  for (std::size_t done = 0; done < bytes; done += cpu_bytes) {
    std::memcpy(memory + done, chunk.data(), std::min(bytes - done, cpu_bytes));
  }
}

void fill(KernelKind kind, std::byte* memory, std::size_t bytes, const File& file) {
  switch (kind) {
    case KernelKind::histogram_u1: return fill(memory, bytes, file);
    case KernelKind::histogram_f4:
    case KernelKind::reduce_f4: return fill_uniformly<float>(memory, bytes);
    case KernelKind::histogram_f8:
    case KernelKind::reduce_f8: return fill_uniformly<double>(memory, bytes);
  }
}

}  // namespace

struct KernelAlone::Worker {
  Worker(Device& device, KernelKind kind, const File& file)
      : stream(device.make_stream()), kernel(make_chunk_kernel(kind, *stream)) {
    const bool gpu = device.kind() == DeviceKind::cuda;
    const std::size_t bytes = gpu ? gpu_bytes : cpu_bytes;
    Buffer loaded(device.host_memory(), bytes);
    fill(kind, loaded.data(), bytes, file);
    if (gpu) {
      data = Buffer(device.device_memory(), bytes);
      stream->copy(data.data(), loaded.data(), bytes);
      stream->synchronize();
    } else {
      data = std::move(loaded);
    }
  }

  double bytes() const { return static_cast<double>(data.size()) * repetitions; }

  void run() {
    for (int i = 0; i < repetitions; ++i) kernel->run(*stream, {data.data(), data.size()});
    stream->synchronize();
  }

  Buffer data;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<ChunkKernel> kernel;
  int repetitions = 1;
};

KernelAlone::KernelAlone(Device& device, KernelKind kind, const File& file) : kind_(kind) {
  const std::size_t workers = device.kind() == DeviceKind::cuda ? 1 : usable_cores();
  for (std::size_t i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(device, kind, file));
    workers_.back()->run();  // a warm-up
  }
  constexpr double least = 4, most = 10'000;
  const Clock clock;
  workers_.front()->run();
  const double repetitions = std::clamp(round_seconds / clock.seconds(), least, most);
  for (const auto& worker : workers_) worker->repetitions = static_cast<int>(repetitions);
}

KernelAlone::~KernelAlone() = default;

void KernelAlone::round() {
  double bytes = 0;
  const Clock clock;
  run_parallel(workers_.size(), [this](std::size_t i) { workers_[i]->run(); });
  const double seconds = clock.seconds();
  for (const auto& worker : workers_) bytes += worker->bytes();
  bytes_per_second_.push_back(bytes / seconds);
}

}  // namespace ooc::detail::measure

#include <ooc/detail/base/blocked_signals.hpp>
#include <ooc/detail/base/threads.hpp>
#include <ooc/detail/device/cuda_code.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/units.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <future>
#include <memory>
#include <mutex>
#include <source_location>
#include <span>
#include <thread>
#include <vector>

#include "device/devices.hpp"
#include "device/memory.hpp"
#include "device/swap_bytes.hpp"

namespace ooc {

namespace {

/// Checks the results of CUDA calls of all threads. After a faulty kernel or a hardware error the
/// process has lost the GPU: every later call fails, and nothing is freed any more.
class Calls {
 public:
  /// Throws Error(device), or Error(memory) if memory ran out, unless the call succeeded. Clears
  /// CUDA's last error, so that a later check does not report it again.
  void check(cudaError_t status, std::source_location where = std::source_location::current()) {
    if (status != cudaSuccess) fail(status, "CUDA failed in " + std::string(where.function_name()));
  }

  /// Throws the error of a call that failed.
  [[noreturn]] void fail(cudaError_t status, const std::string& what, ErrorDetails details = {}) {
    cudaGetLastError();
    const cudaError_t now = cudaStreamQuery(nullptr);  // does not wait
    cudaGetLastError();
    // Without a context (for example for lack of memory) this query fails as well.
    if (has_started_ && now != cudaSuccess && now != cudaErrorNotReady) has_lost_gpu_ = true;
    const bool is_full = status == cudaErrorMemoryAllocation;
    if (is_full && details.remedies.empty()) {
      details.hint = "free the memory that other programs hold (nvidia-smi shows it)";
      details.remedies = {{Change::lower, "Options::device_bytes"},
                          {Change::lower, "Options::chunk_bytes"}};
    }
    if (has_lost_gpu_) {
      details = {
          .why =
              "a kernel or a copy before went wrong, or the GPU itself; this process has lost it",
          .hint = "if it comes again, look for its errors in `nvidia-smi -q` and `dmesg` (Xid)"};
    }
    throw Error(is_full ? ErrorKind::memory : ErrorKind::device,
                what + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")",
                std::move(details));
  }

  /// The GPU has started; from now on it can be lost.
  void started() noexcept { has_started_ = true; }

  bool has_lost_gpu() const noexcept { return has_lost_gpu_; }

 private:
  std::atomic<bool> has_started_{false};
  std::atomic<bool> has_lost_gpu_{false};
};

/// Set once a device has started. The slow part is the driver's initialisation, once per process.
std::atomic<bool> cuda_has_started{false};

struct DestroyStream {
  using pointer = cudaStream_t;
  const Calls& calls;
  void operator()(cudaStream_t stream) const {
    if (!calls.has_lost_gpu()) cudaStreamDestroy(stream);
  }
};
struct DestroyEvent {
  using pointer = cudaEvent_t;
  const Calls& calls;
  void operator()(cudaEvent_t event) const {
    if (!calls.has_lost_gpu()) cudaEventDestroy(event);
  }
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(Calls& calls) : calls_(calls), event_(nullptr, DestroyEvent{calls}) {
    cudaEvent_t event{};
    calls_.check(cudaEventCreate(&event));
    event_.reset(event);
  }
  /// Polls with short sleeps. A blocking wait in the driver costs two more context switches, by a
  /// thread that waits for the GPU's interrupt: a fifth of the CPU time of a pass from a disk.
  void synchronize() override {
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 20'000};  // less than a chunk's copy takes
    cudaError_t status = cudaEventQuery(event_.get());
    while (status == cudaErrorNotReady) {
      cudaGetLastError();  // not ready is not an error
      nanosleep(&nap, nullptr);
      status = cudaEventQuery(event_.get());
    }
    calls_.check(status);
  }
  double seconds_since(const Event& earlier) const override {
    float milliseconds = 0;
    calls_.check(cudaEventElapsedTime(&milliseconds, dynamic_cast<const CudaEvent&>(earlier).get(),
                                      event_.get()));
    return double{milliseconds} * 1e-3;
  }
  cudaEvent_t get() const noexcept { return event_.get(); }

 private:
  Calls& calls_;
  std::unique_ptr<void, DestroyEvent> event_;
};

class CudaStream final : public Stream {
 public:
  CudaStream(std::pmr::memory_resource& memory, Calls& calls)
      : calls_(calls), temporaries_(memory), stream_(nullptr, DestroyStream{calls}) {
    cudaStream_t stream{};
    calls_.check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
  }

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  void copy(void* target, const void* source, std::size_t bytes) override {
    calls_.check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_.get()));
  }
  void copy_rows(void* target, std::size_t target_pitch, const void* source,
                 std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) override {
    calls_.check(cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, row_bytes, rows,
                                   cudaMemcpyDefault, stream_.get()));
  }
  void fill_zero(void* target, std::size_t bytes) override {
    calls_.check(cudaMemsetAsync(target, 0, bytes, stream_.get()));
  }
  void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) override {
    calls_.check(swap_bytes_cuda(data, bytes, element_bytes, stream_.get()));
  }
  void record(Event& event) override {
    calls_.check(cudaEventRecord(dynamic_cast<CudaEvent&>(event).get(), stream_.get()));
  }
  void wait(Event& event) override {
    calls_.check(cudaStreamWaitEvent(stream_.get(), dynamic_cast<CudaEvent&>(event).get(), 0));
  }
  void synchronize() override { calls_.check(cudaStreamSynchronize(stream_.get())); }
  void check_launch(std::string_view what) override {
    const cudaError_t status = cudaGetLastError();
    if (status == cudaErrorNotReady) return;  // left by an earlier query; not an error
    if (status != cudaSuccess) calls_.fail(status, std::string(what) + " could not be started");
  }
  void* native() const noexcept override { return stream_.get(); }
  std::pmr::memory_resource& temporaries() noexcept override { return temporaries_; }

 private:
  Calls& calls_;
  RecyclingMemory temporaries_;  // outlives the stream, whose destructor does not wait
  std::unique_ptr<void, DestroyStream> stream_;
};

class CudaMemory final : public std::pmr::memory_resource {
 public:
  explicit CudaMemory(Calls& calls) : calls_(calls) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t /*alignment*/) override {
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaSuccess) return data;
    calls_.fail(status, "allocating " + std::to_string(bytes) + " bytes of device memory");
  }
  void do_deallocate(void* data, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    if (!calls_.has_lost_gpu()) cudaFree(data);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Calls& calls_;
};

/// Writes to every page from several threads. The kernel clears pages on first access; otherwise
/// the registration would do that on one thread, holding the driver's lock.
void touch(std::byte* data, std::size_t bytes) {
  constexpr std::size_t most_threads = 8;
  constexpr std::size_t piece_bytes = 8 * MiB;  // worth starting a thread for
  std::atomic<std::size_t> next{0};
  const auto touch_pieces = [&] {
    for (;;) {
      const std::size_t begin = next.fetch_add(piece_bytes);
      const std::size_t end = std::min(begin + piece_bytes, bytes);
      if (begin >= end) return;
      for (std::size_t i = begin; i < end; i += page_bytes) data[i] = std::byte{};
    }
  };
  const std::size_t pieces = divide_up(bytes, piece_bytes);
  const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<std::jthread> workers;
  start_threads(workers, std::min({pieces, cores, most_threads}), touch_pieces);
}

/// Page-locked memory, mapped in huge pages and then registered with CUDA. This takes a tenth of
/// the time of cudaHostAlloc, and io_uring can register the memory too, because it is anonymous.
/// Each block is registered in one piece, because a copy must not cross from one registration into
/// the next. Memory can be allocated, and read into, before CUDA has started; lock_early()
/// registers it later. Thread-safe.
class PinnedMemory final : public std::pmr::memory_resource {
 public:
  PinnedMemory(int ordinal, Calls& calls) : ordinal_(ordinal), calls_(calls) {}

  /// Registers the memory that was allocated before CUDA started. Throws Error; memory that is
  /// still unregistered then can be registered by another call, or freed.
  void lock_early() {
    const std::scoped_lock lock(mutex_);
    started_ = true;
    for (; !early_.empty(); early_.pop_back()) {
      lock_pages(early_.back().data(), early_.back().size());
    }
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const data = pages_.allocate(bytes, alignment);
    try {
      touch(static_cast<std::byte*>(data), bytes);
      const std::scoped_lock lock(mutex_);
      if (started_) {
        lock_pages(data, bytes);
      } else {
        early_.emplace_back(static_cast<std::byte*>(data), bytes);
      }
    } catch (...) {
      pages_.deallocate(data, bytes, alignment);
      throw;
    }
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    {
      const std::scoped_lock lock(mutex_);
      const auto is_this = [data](std::span<std::byte> block) { return block.data() == data; };
      const bool is_early = std::erase_if(early_, is_this) != 0;
      if (!is_early && !calls_.has_lost_gpu()) cudaHostUnregister(data);
    }
    pages_.deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  void lock_pages(void* data, std::size_t bytes) {
    calls_.check(cudaSetDevice(ordinal_));
    const cudaError_t status = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
    if (status == cudaSuccess) return;
    calls_.fail(
        status, "page-locking " + std::to_string(bytes) + " bytes of host memory",
        {.hint = "check `ulimit -l`", .remedies = {{Change::lower, "Options::memory_bytes"}}});
  }

  int ordinal_;
  Calls& calls_;
  HugePageMemory pages_;
  std::mutex mutex_;
  bool started_ = false;
  std::vector<std::span<std::byte>> early_;  // not registered yet
};

/// Returns the reason why the driver reports no GPU; empty if it reports one.
std::string why_none_visible() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  cudaGetLastError();
  const cudaError_t reason = status == cudaSuccess ? cudaErrorNoDevice : status;
  return std::string(cudaGetErrorString(reason)) + " (" + cudaGetErrorName(reason) + ")";
}

void require_gpu(int ordinal, Calls& calls) {
  const std::string why = why_none_visible();
  if (!why.empty()) {
    throw Error(ErrorKind::device, "no usable GPU: " + why,
                {.why = "there is no NVIDIA GPU here, or its driver is missing or too old",
                 .hint = "check `nvidia-smi`",
                 .remedies = {{Change::set, "Device::kind", "cpu"}}});
  }
  int count = 0;
  calls.check(cudaGetDeviceCount(&count));
  if (ordinal >= 0 && ordinal < count) return;
  throw Error(ErrorKind::device, "there is no GPU " + std::to_string(ordinal),
              {.hint = "GPUs 0 to " + std::to_string(count - 1) + " are visible here"});
}

/// A CUDA GPU. Its start takes a fifth of a second or more on one thread, and runs in the
/// background; bind_to_thread() waits for it.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : ordinal_(ordinal) {}

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  std::string name() const override { return name_.get(); }
  void bind_to_thread() override {
    name_.get();
    calls_.check(cudaSetDevice(ordinal_));
    pinned_.lock_early();
  }
  bool has_started() const override { return cuda_has_started; }
  MeteredMemory& host_memory() override { return host_memory_; }
  MeteredMemory& device_memory() override { return device_memory_; }
  std::uint64_t available_bytes() override {
    bind_to_thread();
    std::size_t free = 0, total = 0;
    calls_.check(cudaMemGetInfo(&free, &total));
    return free;
  }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CudaStream>(device_memory_, calls_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(calls_); }

 private:
  std::shared_future<std::string> start_in_background() {
    const BlockedSignals blocked;
    return std::async(std::launch::async | std::launch::deferred, [this] { return start(); })
        .share();
  }

  /// Starts the GPU and returns the device's name. Throws Error(device) if there is no such GPU or
  /// it is not usable.
  std::string start() {
    const BlockedSignals blocked;  // CUDA's threads inherit the signal mask
    require_gpu(ordinal_, calls_);
    calls_.check(cudaSetDevice(ordinal_));
    cudaDeviceProp properties{};
    calls_.check(cudaGetDeviceProperties(&properties, ordinal_));
    calls_.check(cudaFree(nullptr));  // creates the context, or fails before any work
    const cudaError_t code = find_device_code();
    if (code != cudaSuccess) {
      calls_.fail(code,
                  "no usable GPU: none of the code of this build, for " OOC_CUDA_ARCHITECTURES
                  ", runs on " +
                      device_name(ordinal_, properties.name),
                  {.hint = how_to_get_code(properties.major, properties.minor)});
    }
    calls_.started();
    cuda_has_started = true;
    return device_name(ordinal_, properties.name);
  }

  int ordinal_;
  Calls calls_;
  PinnedMemory pinned_{ordinal_, calls_};
  CudaMemory cuda_{calls_};
  MeteredMemory host_memory_{pinned_, "host memory"};
  MeteredMemory device_memory_{cuda_, "device memory"};
  // Last, because its destructor waits for the start to end. If no thread can be started, the start
  // runs on the first thread that needs the GPU.
  std::shared_future<std::string> name_ = start_in_background();
};

}  // namespace

std::string why_no_cuda_device() {
  std::string why = why_none_visible();
  if (!why.empty()) return why;
  constexpr int ordinal = 0;  // the default GPU
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  return why_no_code(OOC_CUDA_ARCHITECTURES, major, minor);
}

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace ooc

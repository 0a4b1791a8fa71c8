#include <ooc/detail/base/blocked_signals.hpp>
#include <ooc/detail/device/cuda_code.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/detail/device/numa.hpp>
#include <ooc/error.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/cuda_calls.hpp"
#include "device/cuda_context.hpp"
#include "device/cuda_memory.hpp"
#include "device/devices.hpp"
#include "device/gather.hpp"
#include "device/move_fields.hpp"
#include "device/swap_bytes.hpp"
#include "group/group_records_cuda.hpp"

namespace ooc {

using namespace detail;

namespace {

/// Set once a device has started. The slow part is the driver's initialisation, once per process.
std::atomic<bool> cuda_has_started{false};

// Any thread of the program may destroy these, so the deleters bind it to the context.
struct DestroyStream {
  using pointer = cudaStream_t;
  const Calls& calls;
  const CudaContext& context;
  void operator()(cudaStream_t stream) const {
    if (calls.has_lost_gpu()) return;
    const CudaContext::Binding binding(context);
    cudaStreamDestroy(stream);
  }
};
struct DestroyEvent {
  using pointer = cudaEvent_t;
  const Calls& calls;
  const CudaContext& context;
  void operator()(cudaEvent_t event) const {
    if (calls.has_lost_gpu()) return;
    const CudaContext::Binding binding(context);
    cudaEventDestroy(event);
  }
};

class CudaEvent final : public Event {
 public:
  CudaEvent(Calls& calls, const CudaContext& context)
      : calls_(calls), event_(nullptr, DestroyEvent{calls, context}) {
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

class CudaStream final : public Stream, public Decoder {
 public:
  CudaStream(MemoryResource& memory, Calls& calls, const CudaContext& context)
      : calls_(calls), temporaries_(memory), owned_(nullptr, DestroyStream{calls, context}) {
    calls_.check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    owned_.reset(stream_);
  }

  /// A stream of the caller's, which is not destroyed.
  CudaStream(MemoryResource& memory, Calls& calls, const CudaContext& context,
             cudaStream_t borrowed)
      : calls_(calls),
        temporaries_(memory),
        owned_(nullptr, DestroyStream{calls, context}),
        stream_(borrowed) {}

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  void copy(void* target, const void* source, std::size_t bytes) override {
    calls_.check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream_));
  }
  void copy_rows(void* target, std::size_t target_pitch, const void* source,
                 std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) override {
    calls_.check(cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, row_bytes, rows,
                                   cudaMemcpyDefault, stream_));
  }
  void fill_zero(void* target, std::size_t bytes) override {
    calls_.check(cudaMemsetAsync(target, 0, bytes, stream_));
  }
  void gather(std::byte* target, std::span<const std::span<std::byte>> pieces) override {
    calls_.check(gather_cuda(target, pieces, stream_));
  }
  void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) override {
    calls_.check(swap_bytes_cuda(data, bytes, element_bytes, stream_));
  }
  void make_bools(void* data, std::size_t pitch, std::size_t row_bytes, std::size_t rows) override {
    calls_.check(make_bools_cuda(data, pitch, row_bytes, rows, stream_));
  }
  void group(const GroupedRecords& records) override {
    calls_.check(group_records_cuda(records, temporaries_, stream_));
  }
  void move_fields(const MovedRecords& records, std::span<const FieldMove> moves) override {
    calls_.check(move_fields_cuda(records, moves, stream_));
  }
  void record(Event& event) override {
    calls_.check(cudaEventRecord(dynamic_cast<CudaEvent&>(event).get(), stream_));
  }
  void wait(Event& event) override {
    calls_.check(cudaStreamWaitEvent(stream_, dynamic_cast<CudaEvent&>(event).get(), 0));
  }
  void synchronize() override { calls_.check(cudaStreamSynchronize(stream_)); }
  void check_launch(std::string_view what) override {
    const cudaError_t status = cudaGetLastError();
    if (status == cudaErrorNotReady) return;  // left by an earlier query; not an error
    if (status != cudaSuccess) calls_.fail(status, std::string(what) + " could not be started");
  }
  void* native() const noexcept override { return stream_; }
  MemoryResource& temporaries() noexcept override { return temporaries_; }

 private:
  Decoder& decoder() noexcept override { return *this; }

  Calls& calls_;
  RecyclingMemory temporaries_;  // outlives the stream, whose destructor does not wait
  std::unique_ptr<void, DestroyStream> owned_;
  cudaStream_t stream_ = nullptr;
};

/// Returns the reason why the driver reports no GPU; empty if it reports one.
std::string why_none_visible() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  cudaGetLastError();
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) return "no NVIDIA driver here";
  const cudaError_t reason = status == cudaSuccess ? cudaErrorNoDevice : status;
  return std::string(cudaGetErrorString(reason)) + " (" + cudaGetErrorName(reason) + ")";
}

void require_gpu(int ordinal, Calls& calls) {
  const std::string why = why_none_visible();
  if (!why.empty()) {
    throw Error(ErrorKind::device, "no usable GPU: " + why,
                {.why = "there is no NVIDIA GPU here, or its driver is missing or too old",
                 .hint = "check `nvidia-smi`",
                 .remedies = {{RemedyAction::set, "Device::kind", "cpu"}}});
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
  explicit CudaDevice(const CudaDeviceOptions& options)
      : ordinal_(options.ordinal),
        given_(options.device_memory, context_, calls_),
        device_memory_(
            options.device_memory != nullptr ? static_cast<MemoryResource&>(given_) : cuda_,
            "device memory") {}

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  std::string name() const override { return name_.get(); }
  void bind_to_thread() override {
    name_.get();
    calls_.check(context_.bind());
    pinned_.lock_early();
  }
  void* bind_for_now() override {
    name_.get();  // CUDA starts on another thread
    const CUcontext before = context_.of_thread();
    try {
      bind_to_thread();
    } catch (...) {
      bind_back(before);
      throw;
    }
    return before;
  }
  void bind_back(void* before) noexcept override {
    if (!calls_.has_lost_gpu()) context_.bind_back(static_cast<CUcontext>(before));
  }
  bool has_started() const override { return cuda_has_started; }
  bool is_starting() const override {
    return name_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  }
  int numa_node() const override { return numa_node_; }
  MeteredMemory& host_memory() override { return host_memory_; }
  MeteredMemory& device_memory() override { return device_memory_; }
  std::uint64_t available_bytes() override {
    bind_to_thread();
    std::size_t free = 0, total = 0;
    calls_.check(cudaMemGetInfo(&free, &total));
    return free;
  }
  void synchronize() override {
    bind_to_thread();
    calls_.check(cudaDeviceSynchronize());
  }
  std::unique_ptr<Stream> make_stream() override {
    name_.get();  // waits until the context exists, which the stream's destructor needs
    return std::make_unique<CudaStream>(device_memory_, calls_, context_);
  }
  std::unique_ptr<Event> make_event() override {
    name_.get();
    return std::make_unique<CudaEvent>(calls_, context_);
  }
  std::unique_ptr<Stream> borrow_stream(void* native) override {
    if (native == cudaStreamPerThread) {
      throw Error(ErrorKind::usage, "cudaStreamPerThread is another stream on each thread",
                  {.hint = "make a stream, or take the default stream"});
    }
    return std::make_unique<CudaStream>(device_memory_, calls_, context_,
                                        static_cast<cudaStream_t>(native));
  }
  bool owns(const void* address) override {
    cudaPointerAttributes found{};
    calls_.check(cudaPointerGetAttributes(&found, address));
    return found.type != cudaMemoryTypeUnregistered && found.type != cudaMemoryTypeHost &&
           found.device == ordinal_;
  }

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
    cudaDeviceProp properties{};
    calls_.check(cudaGetDeviceProperties(&properties, ordinal_));
    calls_.check(context_.create(ordinal_));
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
    numa_node_ = numa_node_of_pci(pci_address(ordinal_));
    return device_name(ordinal_, properties.name);
  }

  int ordinal_;
  int numa_node_ = -1;  // is there when name_ is
  Calls calls_;
  CudaContext context_;  // is there when name_ is
  PinnedMemory pinned_{context_, calls_};
  CudaMemory cuda_{context_, calls_};
  MeteredMemory host_memory_{pinned_, "host memory"};
  GivenMemory given_;
  MeteredMemory device_memory_;
  // Last, because its destructor waits for the start to end. If no thread can be started, the start
  // runs on the first thread that needs the GPU.
  std::shared_future<std::string> name_ = start_in_background();
};

}  // namespace

std::string detail::why_no_cuda_device() {
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

std::unique_ptr<Device> make_cuda_device(const CudaDeviceOptions& options) {
  return std::make_unique<CudaDevice>(options);
}

}  // namespace ooc

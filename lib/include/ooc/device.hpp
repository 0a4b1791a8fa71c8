#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ooc {

class Stream;

namespace detail {
class Decoder;
class DeviceBinding;
OOC_API Decoder& decoder_of(Stream& stream) noexcept;
}  // namespace detail

/// The kind of a device: the CPU or an NVIDIA GPU.
enum class DeviceKind { cpu, cuda };

/// The facts about a device that decide how data get to it.
struct DeviceFacts {
  /// It computes on the cores that also read files. Another device has its own cores, and a link or
  /// memory that large chunks keep busy.
  bool uses_host_cores = true;
  /// Its code reads host memory as fast as its own: data are not copied to the device.
  bool reads_host_memory = true;
};

/// Returns the facts about most devices of a kind.
constexpr DeviceFacts facts_of(DeviceKind kind) noexcept {
  return {.uses_host_cores = kind == DeviceKind::cpu, .reads_host_memory = kind == DeviceKind::cpu};
}

/// A view of memory that device code may dereference. On the CPU device (`stream.kind() ==
/// DeviceKind::cpu`) host code may dereference it too; GPU memory must first be copied to the host
/// with Stream::copy(). Does not own the memory.
template <class T>
struct DeviceSpan {
  T* data = nullptr;     ///< the first element
  std::size_t size = 0;  ///< number of elements

  /// Returns a pointer to the first element, for algorithms.
  constexpr T* begin() const noexcept { return data; }
  /// Returns the pointer after the last element.
  constexpr T* end() const noexcept { return data + size; }
  /// Returns an element, where the memory may be dereferenced. `index` is less than `size`.
  constexpr T& operator[](std::size_t index) const noexcept { return data[index]; }
};

/// A chunk of the dataset on the device.
template <class T>
struct DeviceChunk : DeviceSpan<T> {
  std::uint64_t first = 0;  ///< index of its first element in the dataset
};

/// A chunk with its neighbours: `data` may be read from index -before up to, but not including,
/// size + after. `size` and `first` are of the chunk itself.
template <class T>
struct DeviceWindow : DeviceChunk<T> {
  std::size_t before = 0;  ///< neighbours before the chunk: fewer at the beginning of the data
  std::size_t after = 0;   ///< neighbours after the chunk: fewer at the end of the data

  /// Returns an element of the chunk or a neighbour; the neighbour before has index -1.
  constexpr T& at(std::ptrdiff_t index) const noexcept { return this->data[index]; }
};

/// A memory resource that counts allocated bytes and enforces a limit. Thread-safe if the upstream
/// resource is.
class OOC_API MeteredMemory final : public MemoryResource {
 public:
  /// `what` names the memory in messages: "host memory", "device memory". `upstream` must outlive
  /// this.
  MeteredMemory(MemoryResource& upstream, std::string what);

  /// Sets the most bytes that may be in use. Allocations that would exceed it throw Error(memory).
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

  /// Returns the most bytes that may be in use.
  std::size_t limit() const noexcept { return limit_; }
  /// Returns the bytes that are allocated and not freed.
  std::size_t bytes_in_use() const noexcept { return in_use_; }
  /// Returns the bytes left below the limit.
  std::size_t bytes_left() const noexcept {
    const std::size_t limit = limit_, in_use = in_use_;
    return limit > in_use ? limit - in_use : 0;
  }
  /// Returns the most bytes in use at one time since restart_peak().
  std::size_t peak_bytes() const noexcept { return peak_; }
  /// Resets the peak to the bytes that are in use.
  void restart_peak() noexcept { peak_ = in_use_.load(); }
  /// Returns how often memory was allocated.
  std::uint64_t allocations() const noexcept { return allocations_; }

  /// Allocates from upstream. Throws Error(memory) if that would exceed the limit.
  void* allocate(std::size_t bytes, std::size_t alignment) override;
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override;

 private:
  MemoryResource& upstream_;
  std::string what_;
  std::atomic<std::size_t> limit_{SIZE_MAX};
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::uint64_t> allocations_{0};
};

/// A point in a stream's work that a thread can wait for. All calls may throw Error(device).
class OOC_API Event {
 public:
  virtual ~Event() = default;

  /// Blocks the calling thread until the point is reached; no busy-waiting.
  virtual void synchronize() = 0;

  /// Returns the device time since `earlier` (seconds). Both events must have happened.
  virtual double seconds_since(const Event& earlier) const = 0;
};

/// An in-order queue of device work. Used by one thread at a time. All calls may throw
/// Error(device).
class OOC_API Stream {
 public:
  virtual ~Stream() = default;

  /// Returns the kind of the stream's device.
  virtual DeviceKind kind() const noexcept = 0;

  /// Copies `bytes` bytes; each side may be host or device memory. Asynchronous if the host memory
  /// is page-locked.
  virtual void copy(void* target, const void* source, std::size_t bytes) = 0;

  /// Like copy(), but for `rows` rows of `row_bytes` bytes. A pitch is the distance between the
  /// starts of two rows (bytes).
  virtual void copy_rows(void* target, std::size_t target_pitch, const void* source,
                         std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) = 0;

  /// Sets memory of the device to zero.
  virtual void fill_zero(void* target, std::size_t bytes) = 0;

  /// Makes `event` the point after all work that is enqueued by now.
  virtual void record(Event& event) = 0;

  /// Makes work that is enqueued later wait for the event, which may be on another stream.
  virtual void wait(Event& event) = 0;

  /// Blocks the calling thread until all work that is enqueued by now is done.
  virtual void synchronize() = 0;

  /// Throws Error(device) if the last `<<<...>>>` launch failed to start; `what` names it in the
  /// message. A pass calls this after each call of an operator. An operator may call it after each
  /// of its kernels to learn which one failed. Failures during execution are reported when the
  /// stream is waited for.
  virtual void check_launch(std::string_view what) = 0;

  /// Waits like synchronize() and ignores errors, for cleaning up after an error.
  void drain() noexcept;

  /// Returns the cudaStream_t, or null on the CPU.
  virtual void* native() const noexcept = 0;

  /// Returns a resource for temporary device memory. Freed blocks are reused in stream order, so
  /// that nothing is allocated after the first chunk. Allocate from it with a Buffer.
  virtual MemoryResource& temporaries() noexcept = 0;

 private:
  friend OOC_API detail::Decoder& detail::decoder_of(Stream& stream) noexcept;
  virtual detail::Decoder& decoder() noexcept = 0;
};

/// A device that computes: a GPU or the CPU. Created by make_device(). Must outlive its streams,
/// events and memory. After a faulty kernel the whole process has lost the GPU: all calls throw
/// Error(device), destructors make no CUDA calls, and the process should end with _exit(), because
/// CUDA's own exit handlers may hang.
class OOC_API Device {
 public:
  virtual ~Device() = default;

  /// Returns the kind of the device.
  virtual DeviceKind kind() const noexcept = 0;

  /// Returns the name of the GPU, or "cpu".
  virtual std::string name() const = 0;

  /// Must be called on each thread before it uses the device for anything but host_memory(). Waits
  /// until the device has started. Throws Error(device) if it is missing or not usable.
  virtual void bind_to_thread() = 0;

  /// True if the device has started, or starts at once because the driver is already initialised.
  virtual bool has_started() const { return true; }

  /// True while the device starts in the background. False also if that has failed, which
  /// bind_to_thread() reports then.
  virtual bool is_starting() const { return false; }

  /// Returns the NUMA node of the host that is nearest; -1 if there is none, or if it is not known,
  /// as before the device has started.
  virtual int numa_node() const { return -1; }

  /// Returns host memory for direct I/O and for copies to this device: page-aligned, in huge pages
  /// if possible, and page-locked for a GPU once that has started.
  virtual MeteredMemory& host_memory() = 0;
  /// Returns device memory; on the CPU, ordinary memory.
  virtual MeteredMemory& device_memory() = 0;

  /// Returns the free device memory (bytes); on the CPU, available_host_bytes(). May throw
  /// Error(device).
  virtual std::uint64_t available_bytes() = 0;

  /// Returns a new stream, which the device must outlive.
  virtual std::unique_ptr<Stream> make_stream() = 0;

  /// Returns a new event, which the device must outlive.
  virtual std::unique_ptr<Event> make_event() = 0;

  /// Wraps a stream of the caller, a cudaStream_t that must outlive the result; null is CUDA's
  /// default stream. A device without native streams returns a new stream.
  virtual std::unique_ptr<Stream> borrow_stream(void* /*native*/) { return make_stream(); }

  /// Blocks the calling thread until the device has done all work of this process, that of other
  /// libraries included. On the CPU there is none to wait for. May throw Error(device).
  virtual void synchronize() {}

  /// Returns the facts that decide how data get to the device.
  virtual DeviceFacts facts() const noexcept { return facts_of(kind()); }

  /// True if an address is in the memory of this device, which is bound to this thread.
  virtual bool owns(const void* /*address*/) { return kind() == DeviceKind::cuda; }

  /// True if data are not copied to the device.
  bool reads_host_memory() const noexcept { return facts().reads_host_memory; }

  /// Returns the memory in which device code is fastest.
  MeteredMemory& working_memory() { return reads_host_memory() ? host_memory() : device_memory(); }

 private:
  friend class detail::DeviceBinding;

  // Binds the calling thread as bind_to_thread() does, and returns what it was bound to before: the
  // context of a GPU, or null if it has not used CUDA.
  virtual void* bind_for_now() {
    bind_to_thread();
    return nullptr;
  }

  // Binds the calling thread again to what bind_for_now() returned.
  virtual void bind_back(void* /*before*/) noexcept {}
};

/// Returns the host memory (bytes) that the kernel estimates to be available without swapping,
/// within the limit of the container if there is one.
OOC_API std::uint64_t available_host_bytes();

/// Returns the reason why no GPU can be used: the driver's message, or that this build has no code
/// for the first GPU. Empty if there is a usable GPU.
OOC_API std::string why_no_gpu();

/// The options of a GPU.
struct CudaDeviceOptions {
  int ordinal = 0;  ///< index of the GPU

  /// The resource for all device memory, if it is set: for example the pool of the program's own
  /// allocator.
  ///
  /// It returns memory of that GPU, aligned to 256 bytes, for work on any stream. The library first
  /// waits for CUDA's default streams; for other streams, the resource must wait.
  /// MemoryResourceAdaptor adapts a resource of CCCL or RMM. If memory runs out, it throws
  /// std::bad_alloc: the pass takes smaller chunks, or ends with Error(memory). Other exceptions
  /// end the pass unchanged. Memory is freed only after all work of the library on it, and freeing
  /// must not throw. After the loss of the GPU (see Device), nothing is freed.
  ///
  /// Threads: called by threads of the library, and by threads of the program that run passes or
  /// destroy a coordinator, a stream or a Buffer; several at once. The GPU is the current one then.
  ///
  /// Lifetime: it must outlive the device, and so all Buffers of it.
  MemoryResource* device_memory = nullptr;
};

/// Creates a device for a GPU, which starts in the background: that takes a fifth of a second or
/// more. Throws Error(device) if libooc was built without CUDA; all other problems with the GPU are
/// reported by Device::bind_to_thread().
[[nodiscard]] OOC_API std::unique_ptr<Device> make_cuda_device(const CudaDeviceOptions& options);

/// Creates a device for the CPU, or for the GPU with the index `ordinal` as make_cuda_device()
/// does.
[[nodiscard]] OOC_API std::unique_ptr<Device> make_device(DeviceKind kind, int ordinal = 0);

/// Creates a device for the first GPU if it is usable, else for the CPU.
[[nodiscard]] OOC_API std::unique_ptr<Device> best_device();

/// Creates a device for each GPU that this program may use, and then one for the CPU. GPUs start in
/// the background, so a faulty one is reported by Device::bind_to_thread() only. In a build without
/// CUDA, the CPU is the only one.
[[nodiscard]] OOC_API std::vector<std::unique_ptr<Device>> all_devices();

}  // namespace ooc

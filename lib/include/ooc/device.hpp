#pragma once

#include <ooc/metered_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>

namespace ooc {

enum class DeviceKind { cpu, cuda };

/// A view of memory that device code may dereference. On the CPU device (`stream.kind() ==
/// DeviceKind::cpu`) host code may too; memory of a GPU is copied to the host first
/// (Stream::copy()).
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::size_t size = 0;

  constexpr T* begin() const noexcept { return data; }
  constexpr T* end() const noexcept { return data + size; }
  constexpr T& operator[](std::size_t index) const noexcept { return data[index]; }
};

/// A piece of the dataset on the device: `first` is the index of its first element in the whole.
template <class T>
struct DeviceChunk : DeviceSpan<T> {
  std::uint64_t first = 0;
};

/// A point in a stream's work that a thread can wait for.
class Event {
 public:
  virtual ~Event() = default;
  virtual void synchronize() = 0;  // blocks the calling thread, without spinning

  /// Device time since `earlier`; both must have happened.
  virtual double seconds_since(const Event& earlier) const = 0;
};

/// An in-order queue of device work. Used by one thread at a time; all calls may throw
/// Error(device).
class Stream {
 public:
  virtual ~Stream() = default;
  virtual DeviceKind kind() const noexcept = 0;

  /// Copies between any two of host and device memory. Asynchronous if the host memory is
  /// page-locked.
  virtual void copy(void* target, const void* source, std::size_t bytes) = 0;

  /// The same for `rows` rows of `row_bytes` each, whose beginnings are a pitch apart (bytes).
  virtual void copy_rows(void* target, std::size_t target_pitch, const void* source,
                         std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) = 0;
  virtual void fill_zero(void* target, std::size_t bytes) = 0;

  /// Reverses the bytes of each element of `element_bytes` (1, 2, 4 or 8).
  virtual void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) = 0;

  virtual void record(Event& event) = 0;

  /// Work enqueued after this begins when the event has happened, on whatever stream.
  virtual void wait(Event& event) = 0;
  virtual void synchronize() = 0;

  /// After a kernel was launched with `<<<...>>>` on this stream: throws Error(device) if `what`
  /// could not be started. A pass asks so after all that an operator does; who asks after each
  /// kernel learns which it was. What goes wrong later shows when the stream is waited for.
  virtual void check_launch(std::string_view what) = 0;

  /// Waits as synchronize(), on the way out of an error: of a device that is gone there is nothing
  /// to wait for.
  void drain() noexcept;

  /// cudaStream_t, or null on the CPU.
  virtual void* native() const noexcept = 0;

  /// Device memory for temporaries: what was given back is kept and handed out again, in stream
  /// order, so that nothing is allocated once the first chunk has passed. Take it as a Buffer.
  virtual std::pmr::memory_resource& temporaries() noexcept = 0;
};

/// Something that computes. Made by make_device; must outlive what it has made. A bad kernel takes
/// a GPU away from the whole process: all calls throw Error(device) then, destructors make none,
/// and the process should end by _exit(), since CUDA's own end may hang.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const noexcept = 0;
  virtual std::string name() const = 0;

  /// To be called on each thread before it uses the device for anything but host_memory(). Waits
  /// until the device has started. Throws Error(device) if it is missing or not usable.
  virtual void bind_to_thread() = 0;

  /// Whether the device has started, or will in no time worth using, since others of its kind have.
  virtual bool has_started() const { return true; }

  /// Host memory fit for direct I/O and for copies to this device: page-aligned, in huge pages
  /// where possible, page-locked for a GPU when that has started.
  virtual MeteredMemory& host_memory() = 0;
  virtual MeteredMemory& device_memory() = 0;

  /// Bytes of device memory, or on the CPU of memory, that nobody uses now.
  virtual std::uint64_t available_bytes() = 0;

  virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  /// True if device code reads host memory as fast as its own: the data of a pass are then not
  /// copied to the device.
  virtual bool reads_host_memory() const noexcept { return kind() == DeviceKind::cpu; }

  /// Memory in which device code is fastest.
  MeteredMemory& working_memory() { return reads_host_memory() ? host_memory() : device_memory(); }
};

/// Bytes of host memory that can be had without pushing anything out, as the kernel estimates, and
/// the limit of a container if there is one.
std::uint64_t available_host_bytes();

/// Why there is no GPU to use: the driver's word, or no code for the first. Empty if there is one.
std::string why_no_gpu();

/// A GPU starts in the background, which takes a fifth of a second or more. Throws Error(device) if
/// libooc was built without CUDA; what else may be wrong with the GPU `ordinal`, bind_to_thread()
/// says.
std::unique_ptr<Device> make_device(DeviceKind kind, int ordinal = 0);

/// The first GPU if there is a usable one, else the CPU.
std::unique_ptr<Device> best_device();

}  // namespace ooc

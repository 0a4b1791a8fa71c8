#pragma once

#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ooc::detail::test {

/// The kinds of calls of a device. `host_memory`, `device_memory`: an allocation. `make`: a stream,
/// an event, or the start of the device. `lock`: after its start, the device page-locks earlier
/// allocations. `work`: work that may continue after the call. `launch`: the check for errors of a
/// kernel launch. `wait`: waiting for work, or asking for its duration.
enum class DeviceCall { host_memory, device_memory, lock, make, work, launch, wait };

/// Called before each of these calls, on the calling thread. May throw.
using BeforeCall = std::function<void(DeviceCall)>;

class WrappedMemory final : public MemoryResource {
 public:
  WrappedMemory(MemoryResource& memory, DeviceCall kind, const BeforeCall& before)
      : memory_(memory), kind_(kind), before_(before) {}

  void* allocate(std::size_t bytes, std::size_t alignment) override {
    before_(kind_);
    return memory_.allocate(bytes, alignment);
  }
  void deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    memory_.deallocate(data, bytes, alignment);
  }

 private:
  MemoryResource& memory_;
  DeviceCall kind_;
  const BeforeCall& before_;
};

class WrappedEvent final : public Event {
 public:
  WrappedEvent(std::unique_ptr<Event> event, const BeforeCall& before)
      : event_(std::move(event)), before_(before) {}

  void synchronize() override {
    before_(DeviceCall::wait);
    event_->synchronize();
  }
  double seconds_since(const Event& earlier) const override {
    before_(DeviceCall::wait);
    return event_->seconds_since(*dynamic_cast<const WrappedEvent&>(earlier).event_);
  }
  Event& within() noexcept { return *event_; }

 private:
  std::unique_ptr<Event> event_;
  const BeforeCall& before_;
};

class WrappedStream final : public Stream, public Decoder {
 public:
  WrappedStream(std::unique_ptr<Stream> stream, const BeforeCall& before)
      : stream_(std::move(stream)), before_(before) {}

  DeviceKind kind() const noexcept override { return stream_->kind(); }
  void copy(void* target, const void* source, std::size_t bytes) override {
    before_(DeviceCall::work);
    stream_->copy(target, source, bytes);
  }
  void copy_rows(void* target, std::size_t target_pitch, const void* source,
                 std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) override {
    before_(DeviceCall::work);
    stream_->copy_rows(target, target_pitch, source, source_pitch, row_bytes, rows);
  }
  void fill_zero(void* target, std::size_t bytes) override {
    before_(DeviceCall::work);
    stream_->fill_zero(target, bytes);
  }
  void gather(std::byte* target, std::span<const std::span<std::byte>> pieces) override {
    before_(DeviceCall::work);
    decoder_of(*stream_).gather(target, pieces);
  }
  void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) override {
    before_(DeviceCall::work);
    decoder_of(*stream_).swap_bytes(data, bytes, element_bytes);
  }
  void make_bools(void* data, std::size_t pitch, std::size_t row_bytes, std::size_t rows) override {
    before_(DeviceCall::work);
    decoder_of(*stream_).make_bools(data, pitch, row_bytes, rows);
  }
  void move_fields(const MovedRecords& records, std::span<const FieldMove> moves) override {
    before_(DeviceCall::work);
    decoder_of(*stream_).move_fields(records, moves);
  }
  void group(const GroupedRecords& records) override {
    before_(DeviceCall::work);
    decoder_of(*stream_).group(records);
  }
  void record(Event& event) override {
    before_(DeviceCall::work);
    stream_->record(dynamic_cast<WrappedEvent&>(event).within());
  }
  void wait(Event& event) override {
    before_(DeviceCall::work);
    stream_->wait(dynamic_cast<WrappedEvent&>(event).within());
  }
  void synchronize() override {
    before_(DeviceCall::wait);
    stream_->synchronize();
  }
  void check_launch(std::string_view what) override {
    before_(DeviceCall::launch);
    stream_->check_launch(what);
  }
  void* native() const noexcept override { return stream_->native(); }
  MemoryResource& temporaries() noexcept override { return temporaries_; }

 private:
  Decoder& decoder() noexcept override { return *this; }

  std::unique_ptr<Stream> stream_;
  const BeforeCall& before_;
  WrappedMemory temporaries_{stream_->temporaries(), DeviceCall::device_memory, before_};
};

/// Forwards to another device and calls `before` first, for tests that break it, slow it down, or
/// watch it.
class WrappedDevice final : public Device {
 public:
  WrappedDevice(std::unique_ptr<Device> device, BeforeCall before)
      : WrappedDevice(std::move(device), std::move(before), nullptr) {}

  /// Uses `host_memory` (if not null) instead of the device's own, which is in huge pages.
  WrappedDevice(std::unique_ptr<Device> device, BeforeCall before, MemoryResource* host_memory)
      : device_(std::move(device)),
        before_(std::move(before)),
        host_(host_memory == nullptr ? device_->host_memory() : *host_memory,
              DeviceCall::host_memory, before_) {}

  DeviceKind kind() const noexcept override { return device_->kind(); }
  DeviceFacts facts() const noexcept override { return device_->facts(); }
  std::string name() const override { return device_->name(); }
  void bind_to_thread() override {
    before_(DeviceCall::make);
    device_->bind_to_thread();
    if (!has_started_.exchange(true)) before_(DeviceCall::lock);
  }
  bool has_started() const override { return has_started_ && device_->has_started(); }

  /// Makes the device count as not started until it is bound to a thread again.
  void stop() { has_started_ = false; }

  MeteredMemory& host_memory() override { return metered_host_; }
  MeteredMemory& device_memory() override { return metered_device_; }
  std::uint64_t available_bytes() override { return device_->available_bytes(); }
  void synchronize() override {
    before_(DeviceCall::wait);
    device_->synchronize();
  }
  bool owns(const void* address) override { return device_->owns(address); }
  std::unique_ptr<Stream> make_stream() override {
    before_(DeviceCall::make);
    return std::make_unique<WrappedStream>(device_->make_stream(), before_);
  }
  std::unique_ptr<Event> make_event() override {
    before_(DeviceCall::make);
    return std::make_unique<WrappedEvent>(device_->make_event(), before_);
  }

 private:
  std::unique_ptr<Device> device_;
  BeforeCall before_;
  WrappedMemory host_;
  WrappedMemory on_device_{device_->device_memory(), DeviceCall::device_memory, before_};
  std::atomic<bool> has_started_{true};
  MeteredMemory metered_host_{host_, "host memory"};
  MeteredMemory metered_device_{on_device_, "device memory"};
};

}  // namespace ooc::detail::test

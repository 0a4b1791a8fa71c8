#pragma once

#include <ooc/detail/device/decoder.hpp>
#include <ooc/device.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc::detail::test {

/// The options of a LateDevice.
struct Lateness {
  /// Called whenever work is added to a stream. Returns how many waiting items the stream runs now.
  /// By default it runs none before a call waits for them.
  std::function<std::size_t()> eagerness = [] { return std::size_t{0}; };

  /// Called after each copy.
  std::function<void(const void* target, const void* source, std::size_t bytes)> copied =
      [](const void*, const void*, std::size_t) {};
};

class LateStream;

class LateEvent final : public Event {
 public:
  void synchronize() override;
  double seconds_since(const Event& earlier) const override {
    return std::chrono::duration<double>(*when_ - *dynamic_cast<const LateEvent&>(earlier).when_)
        .count();
  }

 private:
  friend class LateStream;
  using Clock = std::chrono::steady_clock;

  LateStream* stream_ = nullptr;
  std::uint64_t place_ = 0;  // in the stream's work
  // Shared, since the stream may record the time after the event has been destroyed.
  std::shared_ptr<Clock::time_point> when_ = std::make_shared<Clock::time_point>();
};

class LateStream final : public Stream, public Decoder {
 public:
  /// `working` is held while any stream of the device works. It and `lateness` must outlive this.
  LateStream(std::unique_ptr<Stream> worker, const Lateness& lateness,
             std::recursive_mutex& working)
      : worker_(std::move(worker)), lateness_(lateness), working_(working) {}

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  void copy(void* target, const void* source, std::size_t bytes) override {
    add([=, this] {
      worker_->copy(target, source, bytes);
      lateness_.copied(target, source, bytes);
    });
  }
  void copy_rows(void* target, std::size_t target_pitch, const void* source,
                 std::size_t source_pitch, std::size_t row_bytes, std::size_t rows) override {
    add([=, this] {
      worker_->copy_rows(target, target_pitch, source, source_pitch, row_bytes, rows);
    });
  }
  void fill_zero(void* target, std::size_t bytes) override {
    add([=, this] { worker_->fill_zero(target, bytes); });
  }
  /// Copies one piece after another, as a GPU does if they are large.
  void gather(std::byte* target, std::span<const std::span<std::byte>> pieces) override {
    for (const std::span<std::byte> piece : pieces) {
      copy(target, piece.data(), piece.size());
      target += piece.size();
    }
  }
  void swap_bytes(void* data, std::size_t bytes, std::size_t element_bytes) override {
    add([=, this] { decoder_of(*worker_).swap_bytes(data, bytes, element_bytes); });
  }
  void make_bools(void* data, std::size_t pitch, std::size_t row_bytes, std::size_t rows) override {
    add([=, this] { decoder_of(*worker_).make_bools(data, pitch, row_bytes, rows); });
  }
  void move_fields(const MovedRecords& records, std::span<const FieldMove> moves) override {
    // A copy, as a GPU takes one when the work is enqueued.
    add([this, records, list = std::vector(moves.begin(), moves.end())] {
      decoder_of(*worker_).move_fields(records, list);
    });
  }
  void group(const GroupedRecords& records) override {
    add([this, records] { decoder_of(*worker_).group(records); });
  }
  void record(Event& event) override {
    const std::scoped_lock lock(working_);
    auto& late = dynamic_cast<LateEvent&>(event);
    late.stream_ = this;
    late.place_ = added_ + 1;
    add([when = late.when_] { *when = LateEvent::Clock::now(); });
  }
  /// Like a GPU, waits for what the event has recorded by now: for nothing, if it has not yet.
  void wait(Event& event) override {
    const std::scoped_lock lock(working_);
    const auto& late = dynamic_cast<LateEvent&>(event);
    if (late.stream_ == nullptr) return;
    add([stream = late.stream_, place = late.place_] { stream->work_until(place); });
  }
  void synchronize() override {
    const std::scoped_lock lock(working_);
    work_until(added_);
  }
  void check_launch(std::string_view what) override { worker_->check_launch(what); }
  void* native() const noexcept override { return nullptr; }
  MemoryResource& temporaries() noexcept override { return worker_->temporaries(); }

  /// Runs the waiting work up to `place`. May be called by any thread.
  void work_until(std::uint64_t place) {
    const std::scoped_lock lock(working_);
    while (done_ < place && !waiting_.empty()) {
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      ++done_;
      work();
    }
  }

  /// Adds work. Tests add their own, such as kernels that access memory.
  void add(std::function<void()> work) {
    const std::scoped_lock lock(working_);
    waiting_.push_back(std::move(work));
    ++added_;
    work_until(done_ + lateness_.eagerness());
  }

 private:
  Decoder& decoder() noexcept override { return *this; }

  std::unique_ptr<Stream> worker_;
  const Lateness& lateness_;
  std::recursive_mutex& working_;
  std::deque<std::function<void()>> waiting_;  // work that is left is dropped with the stream
  std::uint64_t added_ = 0, done_ = 0;
};

inline void LateEvent::synchronize() {
  if (stream_ != nullptr) stream_->work_until(place_);
}

/// A substitute for a GPU, with device memory that only the work of its streams may access. Work is
/// done at any time between the call that adds it and the one that waits for it.
class LateDevice : public Device {
 public:
  /// `reads_host_memory`: as a GPU that shares the memory of its processor.
  explicit LateDevice(Lateness lateness = {}, bool reads_host_memory = false)
      : lateness_(std::move(lateness)), reads_host_memory_(reads_host_memory) {}

  /// The context that the calling thread is bound to, and that of this class.
  static inline thread_local void* context_of_thread = nullptr;
  static inline int context = 0;

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  std::string name() const override { return "late"; }
  DeviceFacts facts() const noexcept override {
    return {.uses_host_cores = false, .reads_host_memory = reads_host_memory_};
  }
  void bind_to_thread() override { context_of_thread = &context; }
  void* bind_for_now() override { return std::exchange(context_of_thread, &context); }
  void bind_back(void* before) noexcept override { context_of_thread = before; }
  MeteredMemory& host_memory() override { return cpu_->host_memory(); }
  MeteredMemory& device_memory() override { return cpu_->device_memory(); }
  std::uint64_t available_bytes() override { return cpu_->available_bytes(); }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<LateStream>(cpu_->make_stream(), lateness_, working_);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<LateEvent>(); }

 private:
  std::unique_ptr<Device> cpu_ = make_device(DeviceKind::cpu);
  Lateness lateness_;
  bool reads_host_memory_;
  std::recursive_mutex working_;
};

}  // namespace ooc::detail::test

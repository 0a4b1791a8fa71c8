#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <ooc/chunks.hpp>
#include <ooc/records.hpp>
#include <ooc/resident.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "input.hpp"
#include "machine.hpp"

namespace ooc_python {

constexpr std::size_t most_zipped = 8;

/// Calls `call` with the source of an input, or with the sources of several, zipped.
template <std::size_t count = 2, class Call>
auto visit_sources(std::span<const Input> inputs, Call&& call) {
  if (inputs.size() == 1) return call(*inputs[0].source);
  if constexpr (count < most_zipped) {
    if (inputs.size() != count) return visit_sources<count + 1>(inputs, call);
  }
  std::array<const ooc::Source*, count> sources{};
  for (std::size_t i = 0; i < count; ++i) sources[i] = inputs[i].source.get();
  return call(ooc::Zipped<count>(sources));
}

/// Sources that stay on the device, and the coordinator that keeps them: see ooc::Resident.
struct Kept {
  std::vector<Input> inputs;
  std::shared_ptr<ooc::Coordinator> coordinator;
  ooc::Resident resident;
  Process process{};
};

class Loop;

/// A stream of the device with its event and, for rows that were copied, their memory.
struct Slot {
  std::unique_ptr<ooc::Stream> stream;
  std::unique_ptr<ooc::Event> event;
  ooc::Buffer copy;
};

/// The rows of a chunk on the device, of one or several zipped sources. Their memory is used again
/// when nothing refers to them, after the work of those who have used them. Thread-safe.
class Rows {
 public:
  Rows(std::shared_ptr<Loop> loop, Slot slot);
  ~Rows();

  /// The streams of users that are no cudaStream_t.
  static constexpr std::intptr_t no_stream = -1;  // the user orders the work
  static constexpr std::intptr_t default_stream = 0;
  static constexpr std::intptr_t stream_per_thread = 2;

  /// Lets work that the stream `user` is given from now on see the rows.
  void begin_use(std::intptr_t user);
  /// Lets the memory be used again only after all work that the stream `user` has been given.
  void end_use(std::intptr_t user) noexcept;

  /// Copies the rows of a source to memory of the host, as the work that the stream `user` has been
  /// given leaves them.
  void copy_to_host(std::size_t source, void* target, std::intptr_t user);

  Loop& loop() const { return *loop_; }
  /// Returns the cudaStream_t on which the rows are ready.
  std::uintptr_t native_stream() const;

  std::uint64_t first = 0;
  std::size_t count = 0;
  std::vector<ooc::DeviceSpan<const std::byte>> bytes{};  // of each source
  bool is_writable = true;

 private:
  friend class Loop;

  std::shared_ptr<Loop> loop_;
  std::mutex mutex_;
  Slot slot_;
  std::optional<ooc::Lease> lease_{};     // unless they were copied, or the pass has ended
  std::shared_ptr<const void> keeper_{};  // of rows that stay on the device
};

/// Returns the chunks of each source, as a tuple of `_ooc.Chunk`.
nb::object chunks_of(const std::shared_ptr<Rows>& rows);

/// A pass whose chunks Python takes one by one. Lives until the last of its Rows is gone.
class Loop : public std::enable_shared_from_this<Loop> {
 public:
  /// `inputs`: 1 to `most_zipped`. `kept`: null, or what keeps the inputs on the device.
  /// `synchronous`: the device has done all of its work when next() returns, and before the memory
  /// of rows is used again. Throws Error.
  Loop(std::vector<Input> inputs, const Machine& machine, const ooc::ChunksOptions& options,
       std::shared_ptr<Kept> kept, bool synchronous);
  ~Loop();

  // One thread at a time may call these.

  /// Returns true if next() does not block; false after a tenth of a second.
  bool wait();
  /// Returns the next rows; null at the end of the data. Rows for which the pass can spare no lane
  /// are copied. Throws Error, and nb::buffer_error if there is no memory for the copy: the same
  /// rows come again then.
  std::shared_ptr<Rows> next();
  /// Returns the number of chunks; nothing for a pipe, and after close() before the end. Blocks
  /// until the pass has begun.
  std::optional<std::size_t> size();
  /// Returns the statistics, once next() has returned null.
  const std::optional<ooc::Stats>& stats() const { return stats_; }
  /// Ends the pass now, or when the last rows are gone.
  void close();
  /// Keeps something as long as the rows, such as a stream that users of them name by address.
  void keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

  // Any thread may call these.

  /// Returns a copy of rows, as the work that the stream `user` has been given leaves them. Throws
  /// as next().
  std::shared_ptr<Rows> copy_of(Rows& rows, std::intptr_t user);
  /// Reads nothing more.
  void stop() { stop_.request_stop(); }
  ooc::Device& device() { return coordinator_->device(); }
  int device_index() const { return device_index_; }
  const Process& process() const { return process_; }
  const Input& input(std::size_t source) const { return inputs_[source]; }
  std::size_t inputs() const { return inputs_.size(); }

 private:
  friend class Rows;

  /// A chunk that is not handed out yet.
  struct Taken {
    Slot slot;
    ooc::Lease lease;
  };

  std::shared_ptr<Rows> next_rows();
  Slot take_slot();
  std::optional<Taken> take();
  bool has_lane_left();
  void take_back(Rows& rows) noexcept;
  bool end_leases();
  void make_room(Slot& slot, std::size_t bytes);
  void copy_to(Rows& rows, const std::vector<ooc::DeviceSpan<const std::byte>>& from);

  Process process_;
  std::shared_ptr<const void> owner_;
  std::vector<Input> inputs_;
  std::shared_ptr<Kept> kept_;
  std::shared_ptr<ooc::Coordinator> coordinator_;
  int device_index_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> at_exit_;
  std::optional<ooc::Stats> stats_;
  bool is_closed_ = false;
  bool is_synchronous_;
  std::mutex mutex_;
  std::vector<Slot> free_;
  std::vector<Rows*> lent_;             // those with a lease
  std::atomic<std::size_t> in_use_{0};  // Rows
  std::optional<ooc::Chunks> chunks_;   // until the pass has ended
  std::optional<Taken> waiting_;        // for memory
};

}  // namespace ooc_python

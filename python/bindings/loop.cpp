#include "loop.hpp"

#include <algorithm>
#include <chrono>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/device/binding.hpp>
#include <ooc/error.hpp>
#include <string>
#include <string_view>

#include "watched.hpp"

namespace ooc_python {
namespace {

using ooc::detail::DeviceBinding;

constexpr std::size_t alignment = 256;  // of the rows of each source in a copy

std::size_t padded(std::size_t bytes) {
  return ooc::detail::round_up(bytes, alignment);
}

/// Size of a copy of rows (bytes).
std::size_t copied_bytes(const std::vector<ooc::DeviceSpan<const std::byte>>& rows) {
  std::size_t bytes = 1;
  for (const auto& part : rows) bytes += padded(part.size);
  return bytes;
}

/// Wraps the stream of a user, which is the thread's own or, as DLPack counts, 0 or 1 for CUDA's
/// default stream. That one waits for the streams of all threads, and they for it.
std::unique_ptr<ooc::Stream> borrow(ooc::Device& device, std::intptr_t user) {
  constexpr std::intptr_t last_name = Rows::stream_per_thread;
  return device.borrow_stream(user <= last_name ? nullptr : reinterpret_cast<void*>(user));
}

/// Lets later work of one slot wait for the work that another one has been given.
void let_wait(const Slot& later, const Slot& earlier) {
  earlier.stream->record(*earlier.event);
  later.stream->wait(*earlier.event);
}

ooc::Chunks chunks_of(const Kept& kept, const ooc::ChunksOptions& options) {
  try {
    return ooc::Chunks(*kept.coordinator, kept.resident, options);
  } catch (const ooc::Error& error) {
    if (std::string_view(error.what()).find("busy") == std::string_view::npos) throw;
    throw ooc::Error(ooc::ErrorKind::usage, "another loop over the same resident data goes on",
                     {.hint = "end it, or close() its stream"});
  }
}

}  // namespace

Rows::Rows(std::shared_ptr<Loop> loop, Slot slot) : loop_(std::move(loop)), slot_(std::move(slot)) {
  ++loop_->in_use_;
}

Rows::~Rows() {
  if (!loop_->process().is_this()) {
    new std::optional(std::move(lease_));
    new std::shared_ptr(std::move(loop_));
    return;
  }
  --loop_->in_use_;
  loop_->take_back(*this);
}

void Rows::begin_use(std::intptr_t user) {
  if (user == no_stream || loop_->device().kind() == ooc::DeviceKind::cpu) return;
  const DeviceBinding bound(loop_->device());
  const std::scoped_lock lock(mutex_);
  if (user == stream_per_thread) return slot_.stream->synchronize();
  slot_.stream->record(*slot_.event);
  borrow(loop_->device(), user)->wait(*slot_.event);
}

void Rows::end_use(std::intptr_t user) noexcept {
  if (user == no_stream || loop_->device().kind() == ooc::DeviceKind::cpu) return;
  try {
    const DeviceBinding bound(loop_->device());
    const std::scoped_lock lock(mutex_);
    try {
      borrow(loop_->device(), user)->record(*slot_.event);
      slot_.stream->wait(*slot_.event);
    } catch (const ooc::Error&) {  // the stream may be gone
      borrow(loop_->device(), default_stream)->synchronize();
    }
  } catch (...) {  // the GPU is lost, and its memory is not used again
  }
}

void Rows::copy_to_host(std::size_t source, void* target, std::intptr_t user) {
  end_use(user);
  const DeviceBinding bound(loop_->device());
  const std::scoped_lock lock(mutex_);
  slot_.stream->copy(target, bytes[source].data, bytes[source].size);
  slot_.stream->synchronize();
}

std::uintptr_t Rows::native_stream() const {
  return reinterpret_cast<std::uintptr_t>(slot_.stream->native());
}

Loop::Loop(std::vector<Input> inputs, const Machine& machine, const ooc::ChunksOptions& options,
           std::shared_ptr<Kept> kept, bool synchronous)
    : inputs_(std::move(inputs)),
      kept_(std::move(kept)),
      coordinator_(kept_ ? kept_->coordinator : machine.coordinator()),
      device_index_(machine.devices.empty() ? 0 : machine.devices.front()),
      at_exit_(Calls::all().stop_token(), [this] { stop(); }),
      is_synchronous_(synchronous && device().kind() != ooc::DeviceKind::cpu) {
  ooc::ChunksOptions wanted = options;
  wanted.pass.stop = wanted.pass.abandon = stop_.get_token();
  if (kept_) {
    kept_->process.require_this("what is resident");
    chunks_.emplace(chunks_of(*kept_, wanted));
  } else {
    chunks_.emplace(visit_sources(
        inputs_, [&](const auto& from) { return ooc::Chunks(*coordinator_, from, wanted); }));
  }
}

Loop::~Loop() {
  stop();
  try {
    const DeviceBinding bound(device());
    waiting_.reset();
    // The last view of a loop that was left may be dropped while its pass waits for data.
    if (chunks_) without_gil_if_possible([this] { chunks_.reset(); });
    // Work of users may go on. The coordinator uses the memory again only after it.
    for (const Slot& slot : free_) slot.stream->drain();
  } catch (...) {  // the GPU is lost
  }
}

bool Loop::wait() {
  return waiting_ || !chunks_ || is_closed_ || chunks_->wait_for(std::chrono::milliseconds(100));
}

std::shared_ptr<Rows> Loop::next() {
  if (is_closed_) return nullptr;
  const DeviceBinding bound(device());
  const std::shared_ptr<Rows> rows = next_rows();
  if (is_synchronous_) device().synchronize();
  return rows;
}

std::shared_ptr<Rows> Loop::next_rows() {
  std::optional<Taken> taken = waiting_ ? std::exchange(waiting_, std::nullopt) : take();
  if (!taken) return nullptr;
  const auto rows = std::make_shared<Rows>(shared_from_this(), std::move(taken->slot));
  rows->first = taken->lease.first();
  rows->count = taken->lease.count();
  std::vector<ooc::DeviceSpan<const std::byte>> bytes;
  for (std::size_t i = 0; i < inputs_.size(); ++i) bytes.push_back(taken->lease.bytes(i));
  if (kept_) rows->keeper_ = kept_->resident.owner_of(bytes.front().data);
  if (rows->keeper_) {
    rows->is_writable = false;
    rows->bytes = std::move(bytes);
  } else if (has_lane_left()) {
    rows->bytes = std::move(bytes);
    const std::scoped_lock lock(mutex_);
    lent_.push_back(rows.get());
    rows->lease_.emplace(std::move(taken->lease));
  } else {
    try {
      copy_to(*rows, bytes);
    } catch (...) {
      waiting_.emplace(Taken{std::move(rows->slot_), std::move(taken->lease)});
      throw;
    }
  }
  return rows;
}

/// Returns true if the pass has lanes to go on with when another chunk is lent. The buffers of a
/// coordinator that runs other passes later are never lent.
bool Loop::has_lane_left() {
  const std::scoped_lock lock(mutex_);
  return !kept_ && lent_.size() + 1 < chunks_->most_leases();
}

std::optional<Loop::Taken> Loop::take() {
  try {
    Slot slot = take_slot();
    for (bool may_have_leases = true;;) {
      if (std::optional<ooc::Lease> lease = chunks_->next(*slot.stream)) {
        return Taken{std::move(slot), std::move(*lease)};
      }
      if (!may_have_leases) break;
      // At the end of the data, nothing is read any more, so memory that is given back stays as it
      // is until the coordinator is. Another thread may have given the last lease back meanwhile.
      may_have_leases = end_leases();
    }
    stats_ = chunks_->stats();
  } catch (...) {
    close();
    throw;
  }
  close();
  return std::nullopt;
}

std::optional<std::size_t> Loop::size() {
  if (stats_) return stats_->layout.chunks;
  return is_closed_ ? std::nullopt : chunks_->size();
}

void Loop::close() {
  is_closed_ = true;
  stop();
  const DeviceBinding bound(device());
  waiting_.reset();
  const bool has_leases = [&] {
    const std::scoped_lock lock(mutex_);
    return !lent_.empty();
  }();
  if (!has_leases) chunks_.reset();
}

/// Gives back the leases of all rows. Returns false if there was none.
bool Loop::end_leases() {
  const std::scoped_lock lock(mutex_);
  for (Rows* const rows : lent_) {
    const std::scoped_lock of_rows(rows->mutex_);
    rows->lease_.reset();
  }
  return !std::exchange(lent_, {}).empty();
}

Slot Loop::take_slot() {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      Slot slot = std::move(free_.back());
      free_.pop_back();
      return slot;
    }
  }
  return {device().make_stream(), device().make_event(), {}};
}

void Loop::take_back(Rows& rows) noexcept {
  if (is_synchronous_) {
    without_gil_if_possible([this]() noexcept {
      try {
        const DeviceBinding bound(device());
        device().synchronize();
      } catch (...) {  // next() throws it
      }
    });
  }
  const std::scoped_lock lock(mutex_);
  std::erase(lent_, &rows);
  try {
    const DeviceBinding bound(device());
    rows.lease_.reset();
    if (rows.slot_.stream) free_.push_back(std::move(rows.slot_));
  } catch (...) {  // the GPU is lost, or there is no memory: the slot is not used again
  }
}

/// Gives a slot memory, which may be that of a slot that is not used.
void Loop::make_room(Slot& slot, std::size_t bytes) {
  if (slot.copy.size() >= bytes) return;
  {
    const std::scoped_lock lock(mutex_);
    const auto larger =
        std::ranges::find_if(free_, [&](const Slot& free) { return free.copy.size() >= bytes; });
    if (larger != free_.end()) {
      let_wait(slot, *larger);
      let_wait(*larger, slot);
      std::swap(slot.copy, larger->copy);
      return;
    }
  }
  const auto refuse = [this] {
    const std::size_t others = in_use_ - 1;
    const std::string text = others == 0
                                 ? "there is no memory for a copy of a chunk: give it fewer rows"
                                 : std::to_string(others) +
                                       " chunks are still in use, and there is no memory "
                                       "for another: copy what you keep";
    throw nb::buffer_error(text.c_str());
  };
  constexpr std::size_t tenth = 10;  // of the memory is left to others
  const std::uint64_t available = device().available_bytes();
  const bool is_beyond_limit =
      device().reads_host_memory() &&
      bytes + device().device_memory().bytes_in_use() > device().host_memory().bytes_left();
  if (is_beyond_limit || bytes > available - available / tenth) refuse();
  try {
    slot.copy = ooc::Buffer(device().device_memory(), bytes);
  } catch (const ooc::Error& error) {
    if (error.kind() != ooc::ErrorKind::memory) throw;
    refuse();
  }
}

/// Enqueues a copy on the stream of `rows`.
void Loop::copy_to(Rows& rows, const std::vector<ooc::DeviceSpan<const std::byte>>& from) {
  make_room(rows.slot_, copied_bytes(from));
  std::byte* target = rows.slot_.copy.data();
  for (const auto& part : from) {
    if (part.size != 0) rows.slot_.stream->copy(target, part.data, part.size);
    rows.bytes.push_back({target, part.size});
    target += padded(part.size);
  }
}

std::shared_ptr<Rows> Loop::copy_of(Rows& rows, std::intptr_t user) {
  rows.end_use(user);
  const DeviceBinding bound(device());
  auto copy = std::make_shared<Rows>(shared_from_this(), take_slot());
  copy->first = rows.first;
  copy->count = rows.count;
  make_room(copy->slot_, copied_bytes(rows.bytes));  // needs the lock that comes before the next
  const std::scoped_lock lock(rows.mutex_);
  let_wait(copy->slot_, rows.slot_);
  copy_to(*copy, rows.bytes);
  let_wait(rows.slot_, copy->slot_);
  return copy;
}

}  // namespace ooc_python

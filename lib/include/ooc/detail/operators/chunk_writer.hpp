#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/operators/row.hpp>
#include <ooc/fields.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ooc {

/// Options of a ChunkWriter.
struct ChunkWriterOptions {
  std::size_t columns = 0;         ///< elements of a row; 0: the file is a sequence of elements
  std::size_t room_rows = 65'536;  ///< the most rows, or elements, that are put at once
};

/// The other half of Chunks: a file that the caller's own loop writes. Rows are computed in memory
/// of the device, and appended to a Target; the file appears when it is committed, or not at all.
///
///     ooc::ChunkWriter out(coordinator, {"scaled.npy"}, ooc::type_of<float>());
///     while (const auto chunk = chunks.next(stream)) {
///       scale(stream, chunk->rows<float>(), out.room<float>());
///       out.put(stream, chunk->count());
///     }
///     const std::uint64_t rows = out.commit();
///
/// There are two rooms: while one is copied and written, the caller fills the other. The device
/// works meanwhile; the file is written on the caller's thread, through the page cache.
///
/// Threads: one at a time, bound to the device (Device::bind_to_thread()). Lifetime: the
/// coordinator must outlive it, and so must the streams until it is committed or destroyed. The
/// coordinator may run a pass meanwhile.
class OOC_API ChunkWriter {
 public:
  /// Begins a file of elements or structs of `type`, in the order in which they are put. Throws
  /// Error as map() does for a target, and Error(memory).
  ChunkWriter(Coordinator& coordinator, const Target& target, const DType& type,
              const ChunkWriterOptions& options = {});
  /// Leaves no file behind that was not committed.
  ~ChunkWriter();
  ChunkWriter(ChunkWriter&&) noexcept;  ///< Takes the file over; only destroy the other one.
  ChunkWriter& operator=(ChunkWriter&&) = delete;

  /// Returns room for ChunkWriterOptions::room_rows rows, which work that is enqueued from now on
  /// may fill. Calling it again before put() returns the same room. Throws Error(usage) if the file
  /// has another type than T; Error(output) if what was put before cannot be written.
  template <class T>
  DeviceRows<T> room() {
    require_type(type_of<T>());
    const DeviceSpan<std::byte> all = next_room();
    return {{reinterpret_cast<T*>(all.data), all.size / sizeof(T)}, rows(), columns()};
  }

  /// Appends the first `count` rows of the room, as the work on the stream leaves them. Throws
  /// Error(usage) for more rows than there is room for, or without a room.
  void put(Stream& stream, std::size_t count);

  /// Returns the number of rows that were put.
  std::uint64_t rows() const noexcept;

  /// Waits for all that was put, makes the file durable and moves it into place. Returns the number
  /// of its rows. Nothing can be put afterwards. Throws Error(output).
  std::uint64_t commit();

 private:
  struct State;

  std::size_t columns() const noexcept;
  void require_type(const DType& wanted) const;
  DeviceSpan<std::byte> next_room();

  std::unique_ptr<State> state_;
};

}  // namespace ooc

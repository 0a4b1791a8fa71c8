#include <ooc/chunks.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/device/decoder.hpp>

#include <ooc/detail/operators/outputs.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "inputs/type_words.hpp"

namespace ooc {

using namespace detail;
namespace {

/// Throws Error(usage) for a writer that is used in the wrong order.
void require(bool is_right, const std::string& what, const std::string& hint) {
  if (!is_right) throw Error(ErrorKind::usage, what, {.hint = hint});
}

/// Returns the number of elements of a row. Throws Error(usage).
std::size_t elements_of(const std::vector<std::uint64_t>& row_shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t length : row_shape) {
    require(length != 0, "a row has no elements", "");
    require(elements <= most_produced_bytes / length, "a row is too large", "");
    elements *= length;
  }
  return elements;
}

detail::MadeRecords made_of(const DType& type, const ChunkWriterOptions& options) {
  detail::MadeRecords made{size_of(type), type, {}, options.row_shape};
  if (!options.row_shape.empty()) made.columns = elements_of(options.row_shape);
  return made;
}

std::array<Target, 1> known(const Target& target, const DType& type) {
  std::array<Target, 1> targets{target};
  if (!targets[0].type) targets[0].type = type;
  return targets;
}

}  // namespace

// The order matters: buffers are freed before the events that say when they may be.
struct ChunkWriter::State {
  /// Room on the device, and the rows that were put from it, on the host.
  struct Room {
    std::unique_ptr<Event> copied;
    Buffer device, host;    // host: unless the host reads the memory of the device
    std::size_t bytes = 0;  // that are to be written, once they are copied
  };

  State(Device& of, const Target& target, const DType& held, const ChunkWriterOptions& wanted)
      : device(of),
        type(held),
        options(wanted),
        made(made_of(held, wanted)),
        files(most_produced_bytes / made.bytes(), known(target, held), {&made, 1}, {},
              Purpose::append) {
    const std::size_t bytes = std::max<std::size_t>(options.room_rows, 1) * made.bytes();
    for (Room& room : rooms) {
      room.copied = device.make_event();
      room.device = Buffer(device.working_memory(), bytes);
      if (!device.reads_host_memory()) room.host = Buffer(device.host_memory(), bytes);
    }
  }

  ~State() {
    for (Room& room : rooms) {
      try {
        if (room.bytes != 0) room.copied->synchronize();
      } catch (...) {  // the GPU is lost, and its memory is not used again
      }
    }
  }

  const Output& output() const { return files.outputs().front(); }

  /// Writes the rows that were put from a room.
  void write(Room& room) {
    const std::size_t bytes = std::exchange(room.bytes, 0);
    if (bytes == 0) return;
    room.copied->synchronize();
    const Buffer& from = room.host.size() == 0 ? room.device : room.host;
    TargetFile& file = output().file;
    file.write(file.append(bytes), {from.data(), bytes});
  }

  Device& device;
  DType type;
  ChunkWriterOptions options;
  detail::MadeRecords made;
  detail::OutputFiles files;
  std::array<Room, 2> rooms;
  std::size_t next = 0;  // room
  bool is_taken = false, is_committed = false;
  std::uint64_t rows = 0;
};

ChunkWriter::ChunkWriter(Coordinator& coordinator, const Target& target, const DType& type,
                         const ChunkWriterOptions& options)
    : state_(std::make_unique<State>(coordinator.device(), target, type, options)) {}

ChunkWriter::~ChunkWriter() = default;
ChunkWriter::ChunkWriter(ChunkWriter&&) noexcept = default;

std::size_t ChunkWriter::columns() const noexcept {
  return std::max<std::size_t>(state_->made.columns.value_or(1), 1);
}

std::uint64_t ChunkWriter::rows() const noexcept {
  return state_->rows;
}

void ChunkWriter::require_type(const DType& wanted) const {
  require(state_->type == wanted,
          state_->output().file.path().string() + ": is to hold " +
              detail::words_for(state_->type) + ", not " + detail::words_for(wanted),
          "");
}

DeviceSpan<std::byte> ChunkWriter::next_room() {
  State& state = *state_;
  require(!state.is_committed, "the file is committed", "make another ChunkWriter");
  State::Room& room = state.rooms[state.next];
  state.write(room);
  state.is_taken = true;
  return {room.device.data(), room.device.size()};
}

void ChunkWriter::put(Stream& stream, std::size_t count) {
  State& state = *state_;
  require(state.is_taken, "put() needs a room", "call room() before, for each put()");
  State::Room& room = state.rooms[state.next];
  const std::size_t bytes = count * state.made.bytes();
  require(count <= room.device.size() / state.made.bytes(),
          "so many rows there was no room for: " + std::to_string(count), "give it a larger room");
  const std::size_t swapped = state.output().swapped_bytes;
  if (bytes != 0 && swapped != 0) decoder_of(stream).swap_bytes(room.device.data(), bytes, swapped);
  if (bytes != 0 && room.host.size() != 0) {
    stream.copy(room.host.data(), room.device.data(), bytes);
  }
  stream.record(*room.copied);
  room.bytes = bytes;
  state.rows += count;
  state.is_taken = false;
  state.next = 1 - state.next;
}

std::uint64_t ChunkWriter::commit() {
  State& state = *state_;
  require(!state.is_committed, "the file is committed", "make another ChunkWriter");
  state.write(state.rooms[state.next]);
  state.write(state.rooms[1 - state.next]);
  state.is_committed = true;
  state.is_taken = false;
  Stats stats;
  state.files.commit(stats);
  return state.rows;
}

}  // namespace ooc

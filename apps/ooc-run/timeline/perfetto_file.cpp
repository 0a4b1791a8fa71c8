#include "timeline/perfetto_file.hpp"

#include <unistd.h>

#include <ooc/detail/base/units.hpp>
#include <protozero/pbf_writer.hpp>
#include <span>

namespace ooc_run {
namespace {

using protozero::pbf_writer;

// Field numbers of Perfetto's .proto files (protos/perfetto/trace).
namespace trace {
constexpr int packet = 1;
}
namespace trace_packet {
constexpr int timestamp = 8, sequence = 10, track_event = 11, sequence_flags = 13,
              track_descriptor = 60;
}
namespace track_descriptor {
constexpr int uuid = 1, name = 2, process = 3, parent = 5, counter = 8, child_ordering = 11,
              sibling_order_rank = 12;
}
namespace process_descriptor {
constexpr int pid = 1, name = 6;
}
namespace counter_descriptor {
constexpr int unit_name = 6;
}
namespace track_event {
constexpr int annotation = 4, type = 9, track = 11, category = 22, name = 23, double_value = 44;
}
namespace debug_annotation {
constexpr int uint_value = 3, name = 10;
}

constexpr std::int32_t slice_begin = 1, slice_end = 2, counter_value = 4;  // types of track events
constexpr std::int32_t explicit_order = 3;                                 // of child tracks
constexpr std::uint32_t state_cleared = 1;  // flag of the first packet of a sequence
constexpr std::uint32_t our_sequence = 1;

void add_annotation(pbf_writer& event, const char* name, std::uint64_t value) {
  pbf_writer annotation(event, track_event::annotation);
  annotation.add_string(debug_annotation::name, name);
  annotation.add_uint64(debug_annotation::uint_value, value);
}

void add_time(pbf_writer& packet, PerfettoFile::Time when) {
  packet.add_uint64(trace_packet::timestamp, static_cast<std::uint64_t>(when.count()));
}

/// Writes the fields that all tracks have. The rank keeps tracks in the order of their addition.
void describe(pbf_writer& descriptor, PerfettoFile::Track track, const std::string& name,
              PerfettoFile::Track parent) {
  descriptor.add_uint64(track_descriptor::uuid, track.id);
  descriptor.add_string(track_descriptor::name, name);
  descriptor.add_uint64(track_descriptor::parent, parent.id);
  descriptor.add_int32(track_descriptor::sibling_order_rank, static_cast<int>(track.id));
}

}  // namespace

/// Adds a packet to the buffer. `fill` writes its fields.
template <class Fill>
void PerfettoFile::add_packet(Fill&& fill) {
  constexpr std::size_t piece = 4 * ooc::detail::MiB;
  {
    pbf_writer out(buffer_);
    pbf_writer packet(out, trace::packet);
    packet.add_uint32(trace_packet::sequence, our_sequence);
    fill(packet);
  }
  if (buffer_.size() >= piece) flush();
}

PerfettoFile::Track PerfettoFile::add_process(const std::string& name) {
  const Track track{++tracks_};
  add_packet([&](pbf_writer& packet) {
    packet.add_uint32(trace_packet::sequence_flags, state_cleared);
    pbf_writer descriptor(packet, trace_packet::track_descriptor);
    descriptor.add_uint64(track_descriptor::uuid, track.id);
    descriptor.add_enum(track_descriptor::child_ordering, explicit_order);
    pbf_writer process(descriptor, track_descriptor::process);
    process.add_int32(process_descriptor::pid, getpid());
    process.add_string(process_descriptor::name, name);
  });
  return track;
}

PerfettoFile::Track PerfettoFile::add_track(const std::string& name, Track parent) {
  const Track track{++tracks_};
  add_packet([&](pbf_writer& packet) {
    pbf_writer descriptor(packet, trace_packet::track_descriptor);
    describe(descriptor, track, name, parent);
    descriptor.add_enum(track_descriptor::child_ordering, explicit_order);
  });
  return track;
}

PerfettoFile::Track PerfettoFile::add_counter(const std::string& name, const std::string& unit,
                                              Track parent) {
  const Track track{++tracks_};
  add_packet([&](pbf_writer& packet) {
    pbf_writer descriptor(packet, trace_packet::track_descriptor);
    describe(descriptor, track, name, parent);
    pbf_writer counter(descriptor, track_descriptor::counter);
    counter.add_string(counter_descriptor::unit_name, unit);
  });
  return track;
}

void PerfettoFile::add_slice(Track track, const Slice& slice) {
  add_packet([&](pbf_writer& packet) {
    add_time(packet, slice.begin);
    pbf_writer event(packet, trace_packet::track_event);
    event.add_enum(track_event::type, slice_begin);
    event.add_uint64(track_event::track, track.id);
    event.add_string(track_event::category, slice.category.data(), slice.category.size());
    event.add_string(track_event::name, slice.name);
    if (slice.chunk) add_annotation(event, "chunk", *slice.chunk);
    add_annotation(event, "bytes", slice.bytes);
  });
  add_packet([&](pbf_writer& packet) {
    add_time(packet, slice.end);
    pbf_writer event(packet, trace_packet::track_event);
    event.add_enum(track_event::type, slice_end);
    event.add_uint64(track_event::track, track.id);
  });
}

void PerfettoFile::set_counter(Track track, Time when, double value) {
  add_packet([&](pbf_writer& packet) {
    add_time(packet, when);
    pbf_writer event(packet, trace_packet::track_event);
    event.add_enum(track_event::type, counter_value);
    event.add_uint64(track_event::track, track.id);
    event.add_double(track_event::double_value, value);
  });
}

void PerfettoFile::flush() {
  file_.write(offset_, std::as_bytes(std::span(buffer_)));
  offset_ += buffer_.size();
  buffer_.clear();
}

}  // namespace ooc_run

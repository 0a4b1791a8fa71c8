#include "timeline/event_track.hpp"

#include <fmt/core.h>

#include <array>

namespace ooc_run {
namespace {

using Kind = ooc::TraceEvent::Kind;

constexpr int reads = 0, lanes = 1, writes = 2;  // TrackGroup::stage, from top to bottom

TrackGroup group_of(const ooc::TraceEvent& event) {
  switch (event.kind) {
    case Kind::read: return {reads};
    case Kind::write: return {writes};
    default: return {lanes, event.worker};
  }
}

}  // namespace

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 5> names{"read", "h2d", "kernel", "d2h", "write"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view label_of(Kind kind, bool on_cpu) {
  if (on_cpu && kind == Kind::h2d) return "copy in";
  if (on_cpu && kind == Kind::d2h) return "copy out";
  return name_of(kind);
}

std::string TrackGroup::name() const {
  if (stage == lanes) return fmt::format("lane {}", lane);
  return std::string(name_of(stage == reads ? Kind::read : Kind::write));
}

std::string EventTrack::name() const {
  return group.stage == lanes ? std::string(name_of(kind)) : fmt::format("slot {}", worker);
}

EventTrack track_of(const ooc::TraceEvent& event) {
  return {group_of(event), event.worker, event.kind};
}

}  // namespace ooc_run

#pragma once

#include "base/value_place.hpp"

#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/device.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/memory.hpp>

#include <array>
#include <cstddef>
#include <vector>

// The pairs of histogram_2d(): where their numbers are in the records of a pass, and how a lane
// gets those of an axis one behind the other.

namespace ooc::detail::pairs {

/// The inputs of a pass over pairs, and the numbers of both axes in their records.
struct Pairs {
  std::vector<PassInput> inputs;     // one, or that of x and that of y
  std::array<ValuePlace, 2> places;  // of x and y
};

/// Throws Error as histogram_2d().
Pairs pairs_of(const PairAxis& x, const PairAxis& y);

/// Some records of an input.
struct Records {
  const std::byte* data;
  std::size_t record_bytes;
  std::size_t count;
};

/// Returns the number of records to work on at a time: on the CPU, the numbers of both axes stay in
/// the first cache; on a GPU, they take some MiB.
constexpr std::size_t records_at_once(DeviceKind kind) {
  return kind == DeviceKind::cpu ? std::size_t{1} << 10 : std::size_t{1} << 22;
}

/// Gets the numbers of an axis. Used by one thread.
class NumberReader {
 public:
  explicit NumberReader(const ValuePlace& place) : place_(place) {}

  /// Returns the numbers of at most records_at_once() records, one behind the other. They are valid
  /// until the next call, for work on the stream.
  DeviceSpan<const std::byte> read(Stream& stream, const Records& records);

 private:
  ValuePlace place_;
  Buffer room_;
};

}  // namespace ooc::detail::pairs

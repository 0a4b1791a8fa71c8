#pragma once

#include "base/value_place.hpp"

#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/device.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <vector>

// The pairs of histogram_2d(): where their numbers are in the records of a pass, and how a lane
// gets those of an axis one behind the other.

namespace ooc::detail::pairs {

/// The numbers of an axis in the records that a pass reads.
struct NumberPlace {
  ValuePlace value;
  std::size_t record_bytes;
  bool is_record;  // the record is the number, of this machine, and aligned
};

/// The inputs of a pass over pairs, and the numbers of both axes in their records.
struct Pairs {
  std::vector<PassInput> inputs;    // one, or that of x and that of y
  std::vector<NumberPlace> places;  // of x and y
};

/// Throws Error as histogram_2d().
Pairs pairs_of(const PairAxis& x, const PairAxis& y);

/// Returns the number of records to work on at a time: on the CPU, the numbers of both axes stay in
/// the first cache; on a GPU, they take up to 24 MiB, and keep it busy.
constexpr std::size_t records_at_once(DeviceKind kind) {
  return kind == DeviceKind::cpu ? std::size_t{1} << 10 : std::size_t{1} << 20;
}

/// Gets the numbers of an axis. Used by one thread.
class NumberReader {
 public:
  /// Takes memory for the numbers, unless they lie one behind the other.
  NumberReader(const NumberPlace& place, Stream& stream);

  /// Returns the numbers of `count` records from `first` on, records_at_once() at most, one behind
  /// the other. They are valid until the next call, for work on the stream.
  DeviceSpan<const std::byte> read(Stream& stream, const std::byte* records, std::size_t first,
                                   std::size_t count);

 private:
  NumberPlace place_;
  Buffer room_{};
};

}  // namespace ooc::detail::pairs

#pragma once

#include "base/value_place.hpp"

#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/device.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/memory.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
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

  std::array<ElementType, 2> types() const { return {places[0].value.type, places[1].value.type}; }
};

/// Calls body(count) with the number of inputs as a std::integral_constant.
template <class Body>
auto with_inputs(const Pairs& pairs, const Body& body) {
  return pairs.inputs.size() == 1 ? body(std::integral_constant<std::size_t, 1>{})
                                  : body(std::integral_constant<std::size_t, 2>{});
}

/// Throws Error as histogram_2d().
Pairs pairs_of(const PairAxis& x, const PairAxis& y);

/// Throws Error(usage) if an input that can be read once is to be read in so many passes. `bins`:
/// those of an axis, for the error.
void require_passes(const Pairs& pairs, std::size_t passes, const HistogramOptions& bins);

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

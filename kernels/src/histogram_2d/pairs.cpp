#include "histogram_2d/pairs.hpp"

#include <ooc/detail/device/decoder.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>

#include "histogram/find_bins.hpp"

namespace ooc::detail::pairs {

namespace {

PassInput input_with(const PairAxis& axis) {
  const Source& source = axis.source;
  if (axis.column.empty() && has_fields(source)) {
    throw Error(ErrorKind::usage, source.name() + ": holds structs " + code_of(*source.type()),
                {.why = "pairs consist of numbers", .hint = "name one of the fields"});
  }
  const bool by_rows = !axis.column.empty() && !has_fields(source);
  return stored_input(source, record_shape_of(source, by_rows));
}

/// Throws Error(bad_input) unless elements with the same index in two files are pairs.
void require_same_shape(const Source& x, const Source& y) {
  const bool same_rows =
      !x.columns() || !y.columns() || std::ranges::equal(x.row_shape(), y.row_shape());
  if (same_rows && x.by_columns() == y.by_columns()) return;
  throw Error(ErrorKind::bad_input, y.name() + ": has other rows than " + x.name(),
              {.why = same_rows ? "one of them is stored column by column, the other row by row"
                                : "the elements of pairs have the same place in both"});
}

NumberPlace place_in(const PairAxis& axis, const PassInput& input) {
  const ValuePlace value =
      axis.column.empty() ? ValuePlace{axis.source.element()} : place_of(axis.column, axis.source);
  const std::size_t bytes = size_of(value.type), record_bytes = input.decoded_bytes();
  const bool is_aligned = !input.decoding.moves.empty() || input.record.alignment % bytes == 0;
  return {value, record_bytes, record_bytes == bytes && is_aligned && !value.swapped};
}

}  // namespace

Pairs pairs_of(const PairAxis& x, const PairAxis& y) {
  Pairs pairs{{input_with(x)}, {}};
  const bool is_one = &x.source == &y.source && x.column.empty() == y.column.empty();
  if (!is_one) pairs.inputs.push_back(input_with(y));
  if (x.column.empty() && y.column.empty()) {
    require_same_shape(x.source, y.source);
  } else {
    require_by_rows(x.source);
    require_by_rows(y.source);
  }
  pairs.places = {place_in(x, pairs.inputs.front()), place_in(y, pairs.inputs.back())};
  use_device_memory(pairs.inputs);
  return pairs;
}

void require_passes(const Pairs& pairs, std::size_t passes, const HistogramOptions& bins) {
  for (const PassInput& input : pairs.inputs) {
    if (passes > 1 && input.source.is_produced()) throw binning::read_once(input.source, bins);
  }
}

NumberReader::NumberReader(const NumberPlace& place, Stream& stream) : place_(place) {
  if (place.is_record) return;
  room_ = Buffer(stream.temporaries(), records_at_once(stream.kind()) * size_of(place.value.type));
}

DeviceSpan<const std::byte> NumberReader::read(Stream& stream, const std::byte* records,
                                               std::size_t first, std::size_t count) {
  const auto& [value, record_bytes, is_record] = place_;
  const std::size_t bytes = size_of(value.type);
  const std::byte* const source = records + first * record_bytes;
  if (is_record) return {source, count * bytes};
  assert(count <= records_at_once(stream.kind()));
  const FieldMove move{
      .from = value.offset, .to = 0, .bytes = bytes, .swapped_bytes = value.swapped ? bytes : 0};
  decoder_of(stream).move_fields({.target = room_.as<std::byte>(),
                                  .target_bytes = bytes,
                                  .source = source,
                                  .source_bytes = record_bytes,
                                  .count = count},
                                 {&move, 1});
  return {room_.as<std::byte>(), count * bytes};
}

}  // namespace ooc::detail::pairs

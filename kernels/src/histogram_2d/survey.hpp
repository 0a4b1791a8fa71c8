#pragma once

#include "histogram/count.hpp"
#include "histogram/find_bins.hpp"
#include "histogram_2d/pairs.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/dtype.hpp>
#include <ooc/fold.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/records.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

// The base of the operators of pairs, and the one of the pass that finds ranges.

namespace ooc::detail::pairs {

/// The records of a step, from one input or from two.
template <std::size_t inputs>
using RecordsOfInputs =
    std::conditional_t<inputs == 1, std::byte, std::tuple<std::byte, std::byte>>;

/// Calls work(first, count) with some records of a chunk at a time, until all are done.
template <class Work>
void for_some_records(Stream& stream, std::size_t all, const Work& work) {
  const std::size_t most = records_at_once(stream.kind());
  for (std::size_t first = 0; first < all; first += most) work(first, std::min(all - first, most));
}

/// Base of the operators of pairs. They know the inputs as bytes only.
template <std::size_t inputs>
class OfPairs {
 public:
  using Input = RecordsOfInputs<inputs>;
  static constexpr bool same_bits_everywhere = true;
  static constexpr std::size_t partition_records(std::size_t record_bytes) {
    return pair_tile_rows(record_bytes);
  }

 protected:
  using Chunk = DeviceChunk<const std::byte>;

  explicit OfPairs(const Pairs& pairs) : places_(pairs.places) {}

  /// Returns the numbers of both axes, for the question of an operator.
  std::string numbers() const {
    std::string text;
    for (const auto& [value, record_bytes, is_record] : places_) {
      text += std::string(name_of(value.type)) + " at " + std::to_string(value.offset) + ", ";
    }
    return text;
  }

  std::vector<NumberPlace> places_;  // of x and y
};

/// The findings of the first pass, about each axis that it looks at.
template <std::size_t axis_count>
struct SurveyOf {
  std::uint64_t pairs = 0;
  std::array<binning::Extremes, axis_count> extremes{};

  void merge(const SurveyOf& other) {
    pairs += other.pairs;
    for (std::size_t i = 0; i < axis_count; ++i) extremes[i].merge(other.extremes[i]);
  }
  void save(std::vector<std::byte>& out) const {
    append_bytes(out, pairs);
    for (const binning::Extremes& each : extremes) append_bytes(out, each);
  }
  /// Throws Error(bad_input) unless save() has written the bytes.
  void load(std::span<const std::byte> in) {
    ByteReader bytes(in);
    pairs = bytes.take<std::uint64_t>();
    for (binning::Extremes& each : extremes) each = binning::take_extremes(bytes, pairs);
    bytes.require_end();
  }
};

/// The operator of the pass that finds the ranges of both axes, or of x alone.
template <std::size_t inputs, std::size_t axis_count>
class SurveyPairs : public OfPairs<inputs> {
  using typename OfPairs<inputs>::Chunk;

 public:
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name =
      axis_count == 1 ? "ooc.weighted_histogram.range/1" : "ooc.histogram_2d.range/1";

  struct Axis {
    NumberReader reader;
    std::unique_ptr<binning::ExtremesFinder> finder;
  };
  struct Partial {
    std::vector<Axis> axes{};  // of a lane
    SurveyOf<axis_count> found{};
  };

  /// `counting`: the host memory of the counting pass, so that too little fails this one.
  SurveyPairs(const Pairs& pairs, HostBytes counting)
      : OfPairs<inputs>(pairs), counting_(counting) {}

  Partial make_partial(Stream& stream) const {
    Partial partial;
    for (const NumberPlace& place : std::span(this->places_).first(axis_count)) {
      const ElementType type = place.value.type;
      auto finder = stream.kind() == DeviceKind::cpu ? binning::make_cpu_finder(type, best_simd())
                                                     : binning::make_cuda_finder(type, stream);
      partial.axes.push_back({NumberReader(place, stream), std::move(finder)});
    }
    return partial;
  }
  void consume(Stream& stream, Chunk both, Partial& partial) const {
    consume(stream, both, both, partial);
  }
  void consume(Stream& stream, Chunk all_x, Chunk all_y, Partial& partial) const {
    partial.found.pairs += all_x.size;
    const std::array records{all_x.data, all_y.data};
    for_some_records(stream, all_x.size, [&](std::size_t first, std::size_t count) {
      for (std::size_t i = 0; i < axis_count; ++i) {
        auto& [reader, finder] = partial.axes[i];
        finder->look(stream, reader.read(stream, records[i], first, count));
      }
    });
  }
  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      for (std::size_t i = 0; i < axis_count; ++i) {
        partial.found.extremes[i] = partial.axes[i].finder->finish(stream);
      }
      partial.axes.clear();
    }
  }
  void merge(Partial& total, Partial& part) const { total.found.merge(part.found); }
  SurveyOf<axis_count> result(const Partial& total) const { return total.found; }

  std::string question() const { return this->numbers() + "range"; }
  void save(const Partial& total, std::vector<std::byte>& out) const { total.found.save(out); }
  void load(std::span<const std::byte> in, Partial& total) const { total.found.load(in); }
  std::uint64_t records_in(const Partial& total) const { return total.found.pairs; }
  HostBytes host_bytes() const { return counting_; }

 private:
  HostBytes counting_;
};

}  // namespace ooc::detail::pairs

#pragma once

#include "histogram/count.hpp"
#include "histogram/counted.hpp"
#include "histogram/find_bins.hpp"
#include "histogram_2d/cells.hpp"
#include "histogram_2d/pairs.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/memory.hpp>
#include <ooc/records.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// The operators of both passes of histogram_2d().

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

/// Base of the operators of both passes. They know the inputs as bytes only.
template <std::size_t inputs>
class OfPairs {
 public:
  using Input = RecordsOfInputs<inputs>;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr bool same_bits_everywhere = true;

 protected:
  using Chunk = DeviceChunk<const std::byte>;

  explicit OfPairs(const Pairs& pairs) : places_(pairs.places) {}

  std::string types() const {
    std::string text;
    for (const auto& [value, record_bytes, is_record] : places_) {
      text += std::string(name_of(value.type)) + " at " + std::to_string(value.offset) + ", ";
    }
    return text;
  }

  std::vector<NumberPlace> places_;  // of x and y
};

/// Host memory for counting in so many cells: for the pass, the counters of the total, and the
/// edges of the operator and of the result; for each lane, its counters, which a GPU copies to the
/// host, and the numbers of both axes.
inline HostBytes memory_for(const CellNumbers& cells) {
  const std::size_t counters = cells.counters() * sizeof(std::uint64_t);
  const std::size_t edges = (cells.x_bins + cells.y_bins + 2) * sizeof(double);
  const std::size_t numbers = sizeof(std::uint32_t) + sizeof(double);
  return {.fixed = counters + 2 * edges,
          .per_lane = counters + records_at_once(DeviceKind::cpu) * 2 * numbers};
}

/// The operator of the counting pass.
template <std::size_t inputs>
class CountCells : public OfPairs<inputs> {
  using typename OfPairs<inputs>::Chunk;

 public:
  static constexpr std::string_view partial_name = "ooc.histogram_2d/1";

  struct Axis {
    NumberReader reader;
    std::unique_ptr<binning::BinFinder> finder;
  };
  struct Lane {
    std::array<Axis, 2> axes;
    Buffer numbers;  // of x, then of y
  };
  struct Partial {
    std::unique_ptr<Lane> lane{};
    OpaquePartial counted{};
  };

  CountCells(const Pairs& pairs, std::array<binning::Bins, 2> bins)
      : OfPairs<inputs>(pairs),
        bins_(std::make_shared<const std::array<binning::Bins, 2>>(std::move(bins))),
        cells_{static_cast<std::uint32_t>((*bins_)[0].size()),
               static_cast<std::uint32_t>((*bins_)[1].size())} {}

  Partial make_partial(Stream& stream) const {
    const bool on_cpu = stream.kind() == DeviceKind::cpu;
    const binning::NumberedBins numbered(counters());
    const auto axis = [&](std::size_t i) {
      const ElementType type = this->places_[i].value.type;
      return Axis{NumberReader(this->places_[i], stream),
                  on_cpu ? binning::make_cpu_bin_finder(type, (*bins_)[i], best_simd())
                         : binning::make_cuda_bin_finder(type, (*bins_)[i], stream)};
    };
    const std::size_t numbers = 2 * records_at_once(stream.kind());
    auto lane = std::make_unique<Lane>(
        Lane{{axis(0), axis(1)}, Buffer(stream.temporaries(), numbers * sizeof(std::uint32_t))});
    return {std::move(lane),
            binning::counted_by(on_cpu ? binning::make_cpu_counter(numbered, best_simd())
                                       : binning::make_cuda_counter(numbered, stream))};
  }

  void consume(Stream& stream, Chunk both, Partial& partial) const {
    consume(stream, both, both, partial);
  }
  void consume(Stream& stream, Chunk all_x, Chunk all_y, Partial& partial) const {
    auto& [x_axis, y_axis] = partial.lane->axes;
    auto* const x = partial.lane->numbers.template as<std::uint32_t>();
    auto* const y = x + records_at_once(stream.kind());
    const bool on_cpu = stream.kind() == DeviceKind::cpu;
    for_some_records(stream, all_x.size, [&](std::size_t first, std::size_t count) {
      x_axis.finder->find(stream, x_axis.reader.read(stream, all_x.data, first, count), x);
      y_axis.finder->find(stream, y_axis.reader.read(stream, all_y.data, first, count), y);
      on_cpu ? join_numbers_cpu(cells_, x, y, count)
             : join_numbers_cuda(stream, cells_, x, y, count);
      const DeviceSpan<const std::byte> numbers{reinterpret_cast<const std::byte*>(y),
                                                count * sizeof(std::uint32_t)};
      binning::count_in(partial.counted, stream, numbers, count);
    });
  }

  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      binning::finish_counts(stream, {&partial.counted, 1});
      partial.lane.reset();
    }
  }
  void merge(Partial& total, Partial& part) const {
    binning::merge_counts(total.counted, part.counted, counters());
  }

  Histogram2d result(Partial total) const {
    Histogram2d found{.x_edges = (*bins_)[0].edges,
                      .y_edges = (*bins_)[1].edges,
                      .counts = {},
                      .count = binning::elements_of(total.counted)};
    found.counts = binning::counts_of(std::move(total.counted), counters());
    found.nan = found.counts[cells_.cells() + 1];
    found.outside = found.counts[cells_.cells()];
    found.counts.resize(cells_.cells());
    const auto sum = std::reduce(found.counts.begin(), found.counts.end(), std::uint64_t{0});
    if (sum + found.outside + found.nan == found.count) return found;
    throw Error(ErrorKind::internal, "the cells hold " + std::to_string(sum) + " pairs of " +
                                         std::to_string(found.count));
  }

  std::string question() const {
    std::string text = this->types();
    for (const binning::Bins& bins : *bins_) {
      text += std::to_string(bins.size()) + " bins with edges of hash " +
              std::to_string(xxh3_64(std::as_bytes(std::span(bins.edges)))) + " ";
    }
    return text;
  }
  void save(const Partial& total, std::vector<std::byte>& out) const {
    binning::save_counts(total.counted, out);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    binning::load_counts(in, counters(), total.counted);
  }
  std::uint64_t records_in(const Partial& total) const {
    return binning::elements_of(total.counted);
  }
  HostBytes host_bytes() const { return memory_for(cells_); }

 private:
  std::size_t counters() const { return cells_.counters(); }

  std::shared_ptr<const std::array<binning::Bins, 2>> bins_;  // shared by all copies
  CellNumbers cells_;
};

/// The findings of the first pass, about each axis.
struct Survey {
  std::uint64_t pairs = 0;
  std::array<binning::Extremes, 2> axes{};
};

/// The operator of the pass that finds the ranges of both axes.
template <std::size_t inputs>
class SurveyPairs : public OfPairs<inputs> {
  using typename OfPairs<inputs>::Chunk;

 public:
  static constexpr std::string_view partial_name = "ooc.histogram_2d.range/1";

  struct Axis {
    NumberReader reader;
    std::unique_ptr<binning::ExtremesFinder> finder;
  };
  struct Partial {
    std::vector<Axis> axes{};  // of a lane
    Survey found{};
  };

  /// `counting`: the host memory of the counting pass, so that too little fails this one.
  SurveyPairs(const Pairs& pairs, HostBytes counting)
      : OfPairs<inputs>(pairs), counting_(counting) {}

  Partial make_partial(Stream& stream) const {
    Partial partial;
    for (const NumberPlace& place : this->places_) {
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
    auto &x = partial.axes[0], &y = partial.axes[1];
    for_some_records(stream, all_x.size, [&](std::size_t first, std::size_t count) {
      x.finder->look(stream, x.reader.read(stream, all_x.data, first, count));
      y.finder->look(stream, y.reader.read(stream, all_y.data, first, count));
    });
  }
  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      for (const std::size_t i : {0, 1}) {
        partial.found.axes[i] = partial.axes[i].finder->finish(stream);
      }
      partial.axes.clear();
    }
  }
  void merge(Partial& total, Partial& part) const {
    total.found.pairs += part.found.pairs;
    for (const std::size_t i : {0, 1}) total.found.axes[i].merge(part.found.axes[i]);
  }
  Survey result(const Partial& total) const { return total.found; }

  std::string question() const { return this->types() + "range"; }
  void save(const Partial& total, std::vector<std::byte>& out) const {
    append_bytes(out, total.found.pairs);
    for (const binning::Extremes& extremes : total.found.axes) append_bytes(out, extremes);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    ByteReader bytes(in);
    total.found.pairs = bytes.take<std::uint64_t>();
    for (binning::Extremes& extremes : total.found.axes) {
      extremes = binning::take_extremes(bytes, total.found.pairs);
    }
    bytes.require_end();
  }
  std::uint64_t records_in(const Partial& total) const { return total.found.pairs; }
  HostBytes host_bytes() const { return counting_; }

 private:
  HostBytes counting_;
};

}  // namespace ooc::detail::pairs

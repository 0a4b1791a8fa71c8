#pragma once

#include "histogram/count.hpp"
#include "histogram/counted.hpp"
#include "histogram_2d/cells.hpp"
#include "histogram_2d/pairs.hpp"
#include "histogram_2d/survey.hpp"

#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/histogram_2d.hpp>
#include <ooc/memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The counts of histogram_2d(), and the operator that finds them.

namespace ooc::detail::pairs {

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

/// The counts of pairs in cells, wherever their numbers come from.
class CellCounts {
 public:
  struct Partial {
    OpaquePartial counted{};
  };
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = "ooc.histogram_2d/1";

  /// `types`: of the numbers of x and y.
  CellCounts(const std::array<ElementType, 2>& types, std::array<binning::Bins, 2> bins)
      : types_(types),
        bins_(std::make_shared<const std::array<binning::Bins, 2>>(std::move(bins))),
        cells_{static_cast<std::uint32_t>((*bins_)[0].size()),
               static_cast<std::uint32_t>((*bins_)[1].size())} {}

  void merge(Partial& total, Partial& part) const {
    binning::merge_counts(total.counted, part.counted, cells_.counters());
  }

  Histogram2d result(Partial total) const {
    Histogram2d found{.x_edges = (*bins_)[0].edges,
                      .y_edges = (*bins_)[1].edges,
                      .counts = {},
                      .count = binning::elements_of(total.counted)};
    found.counts = binning::counts_of(std::move(total.counted), cells_.counters());
    found.nan = found.counts[cells_.cells() + 1];
    found.outside = found.counts[cells_.cells()];
    found.counts.resize(cells_.cells());
    const auto sum = std::reduce(found.counts.begin(), found.counts.end(), std::uint64_t{0});
    if (sum + found.outside + found.nan == found.count) return found;
    throw Error(ErrorKind::internal, "the cells hold " + std::to_string(sum) + " pairs of " +
                                         std::to_string(found.count));
  }

  std::string question() const {
    return std::string(name_of(types_[0])) + " and " + std::string(name_of(types_[1])) + " in " +
           binning::described((*bins_)[0]) + " and " + binning::described((*bins_)[1]);
  }
  void save(const Partial& total, std::vector<std::byte>& out) const {
    binning::save_counts(total.counted, out);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    binning::load_counts(in, cells_.counters(), total.counted);
  }
  std::uint64_t records_in(const Partial& total) const {
    return binning::elements_of(total.counted);
  }

 protected:
  const std::array<binning::Bins, 2>& bins() const { return *bins_; }
  const CellNumbers& cells() const { return cells_; }

 private:
  std::array<ElementType, 2> types_;
  std::shared_ptr<const std::array<binning::Bins, 2>> bins_;  // shared by all copies
  CellNumbers cells_;
};

/// Counts pairs in cells.
template <std::size_t inputs>
class CountCells : public OfPairs<inputs>, public CellCounts {
  using typename OfPairs<inputs>::Chunk;

 public:
  struct Axis {
    NumberReader reader;
    std::unique_ptr<binning::BinFinder> finder;
  };
  struct Lane {
    std::array<Axis, 2> axes;
    Buffer numbers;  // of x, then of y
  };
  struct Partial : CellCounts::Partial {
    std::unique_ptr<Lane> lane{};
  };

  CountCells(const Pairs& pairs, CellCounts counts)
      : OfPairs<inputs>(pairs), CellCounts(std::move(counts)) {}

  Partial make_partial(Stream& stream) const {
    const bool on_cpu = stream.kind() == DeviceKind::cpu;
    const binning::NumberedBins numbered(cells().counters());
    const auto axis = [&](std::size_t i) {
      const ElementType type = this->places_[i].value.type;
      return Axis{NumberReader(this->places_[i], stream),
                  on_cpu ? binning::make_cpu_bin_finder(type, bins()[i], best_simd())
                         : binning::make_cuda_bin_finder(type, bins()[i], stream)};
    };
    const std::size_t numbers = 2 * records_at_once(stream.kind());
    auto lane = std::make_unique<Lane>(
        Lane{{axis(0), axis(1)}, Buffer(stream.temporaries(), numbers * sizeof(std::uint32_t))});
    return {{binning::counted_by(on_cpu ? binning::make_cpu_counter(numbered, best_simd())
                                        : binning::make_cuda_counter(numbered, stream))},
            std::move(lane)};
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
      on_cpu ? join_numbers_cpu(cells(), x, y, count)
             : join_numbers_cuda(stream, cells(), x, y, count);
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

  /// Returns the partial of CellCounts, which does not depend on the inputs.
  CellCounts::Partial result(Partial total) const { return total; }

  /// Returns the places of the numbers, too, because a checkpoint is of these.
  std::string question() const {
    return this->numbers() + binning::described(bins()[0]) + " " + binning::described(bins()[1]) +
           " ";
  }
  HostBytes host_bytes() const { return memory_for(cells()); }
};

}  // namespace ooc::detail::pairs

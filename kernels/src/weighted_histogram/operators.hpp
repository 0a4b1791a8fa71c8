#pragma once

#include "histogram/bins.hpp"
#include "histogram/count.hpp"
#include "histogram/counted.hpp"
#include "histogram_2d/pairs.hpp"
#include "histogram_2d/survey.hpp"
#include "weighted_histogram/bin_sums.hpp"
#include "weighted_histogram/weights.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/memory.hpp>
#include <ooc/weighted_histogram.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The sums of weighted_histogram(), and the operator that finds them.

namespace ooc::detail::weighing {

/// Host memory for so many bins with weights of a type: for the pass, what counting takes, the sums
/// of the total, and those of the result; for each lane, its counters and sums, which a GPU copies
/// to the host, and the values, numbers and weights of some records.
inline HostBytes memory_for(ElementType weights, std::size_t bins) {
  const HostBytes counting = binning::counting_bytes(element_type_of<std::uint32_t>(), bins);
  const std::size_t sums = bytes_of_sums(weights, bins + binning::outside_counters);
  const std::size_t some = sizeof(std::uint32_t) + 2 * sizeof(double);
  return {.fixed = counting.fixed + sums + bins * sizeof(Scalar),
          .per_lane = counting.per_lane + sums + pairs::records_at_once(DeviceKind::cpu) * some};
}

/// The sums of weights in bins, wherever the weights come from.
class WeightSums {
 public:
  struct Partial {
    OpaquePartial counted{};
    BinSums sums{};
  };
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = "ooc.weighted_histogram/1";

  /// `types`: of the values and of the weights.
  WeightSums(const std::array<ElementType, 2>& types, binning::Bins bins)
      : types_(types), bins_(std::make_shared<const binning::Bins>(std::move(bins))) {}

  void merge(Partial& total, Partial& part) const {
    binning::merge_counts(total.counted, part.counted, bins_->counters());
    if (records_in(total) > most_weights) {
      throw Error(ErrorKind::bad_input, "saved histograms are of more weights than data have");
    }
    total.sums.merge(weight_type(), part.sums);
  }

  WeightedHistogram result(Partial total) const {
    const auto sum = [&](std::size_t counter) { return total.sums.sum(weight_type(), counter); };
    const std::size_t bins = bins_->size();
    WeightedHistogram found{.histogram = binning::histogram_of(*bins_, std::move(total.counted)),
                            .sums = std::vector<Scalar>(bins),
                            .sum_below = sum(bins),
                            .sum_above = sum(bins + 1),
                            .sum_nan = sum(bins + 2)};
    for (std::size_t i = 0; i < bins; ++i) found.sums[i] = sum(i);
    return found;
  }

  std::string question() const {
    return std::string(name_of(types_[0])) + " with weights " +
           std::string(name_of(weight_type())) + " in " + binning::described(*bins_);
  }
  void save(const Partial& total, std::vector<std::byte>& out) const {
    binning::save_counts(total.counted, out);
    total.sums.save(out);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    constexpr std::size_t of_nothing = sizeof(std::uint64_t);  // a number of values
    const std::size_t counters = bins_->counters();
    if (in.size() == of_nothing) return binning::load_counts(in, counters, total.counted);
    ByteReader bytes(in);
    const auto counts = bytes.take_bytes(of_nothing + counters * sizeof(std::uint64_t));
    binning::load_counts(counts, counters, total.counted);
    total.sums =
        load_sums(bytes.take_bytes(bytes.left()), weight_type(), binning::counts_in(total.counted));
  }
  std::uint64_t records_in(const Partial& total) const {
    return binning::elements_of(total.counted);
  }

 protected:
  const binning::Bins& bins() const { return *bins_; }
  ElementType weight_type() const { return types_[1]; }

 private:
  std::array<ElementType, 2> types_;
  std::shared_ptr<const binning::Bins> bins_;  // shared by all copies
};

/// Adds weights in bins. A pair is a value and its weight.
template <std::size_t inputs>
class SumWeights : public pairs::OfPairs<inputs>, public WeightSums {
  using typename pairs::OfPairs<inputs>::Chunk;

 public:
  struct Lane {
    pairs::NumberReader values;
    std::unique_ptr<binning::BinFinder> finder;
    Buffer numbers;  // of the counters of some values
    pairs::NumberReader weights;
    std::unique_ptr<WeightAdder> adder;
  };
  struct Partial : WeightSums::Partial {
    std::unique_ptr<Lane> lane{};
  };

  SumWeights(const pairs::Pairs& pairs, WeightSums sums)
      : pairs::OfPairs<inputs>(pairs), WeightSums(std::move(sums)) {}

  Partial make_partial(Stream& stream) const {
    const auto& [values, weights] = std::pair{this->places_[0], this->places_[1]};
    const ElementType type = values.value.type;
    const bool on_cpu = stream.kind() == DeviceKind::cpu;
    const std::size_t counters = bins().counters();
    const binning::NumberedBins numbered(counters);
    auto lane = std::make_unique<Lane>(
        Lane{.values = {values, stream},
             .finder = on_cpu ? binning::make_cpu_bin_finder(type, bins(), best_simd())
                              : binning::make_cuda_bin_finder(type, bins(), stream),
             .numbers = Buffer(stream.temporaries(),
                               pairs::records_at_once(stream.kind()) * sizeof(std::uint32_t)),
             .weights = {weights, stream},
             .adder = on_cpu ? make_cpu_weight_adder(weight_type(), counters, best_simd())
                             : make_cuda_weight_adder(weight_type(), counters, stream)});
    return {
        {.counted = binning::counted_by(on_cpu ? binning::make_cpu_counter(numbered, best_simd())
                                               : binning::make_cuda_counter(numbered, stream))},
        std::move(lane)};
  }

  void consume(Stream& stream, Chunk both, Partial& partial) const {
    consume(stream, both, both, partial);
  }
  void consume(Stream& stream, Chunk values, Chunk weights, Partial& partial) const {
    Lane& lane = *partial.lane;
    auto* const numbers = lane.numbers.template as<std::uint32_t>();
    pairs::for_some_records(stream, values.size, [&](std::size_t first, std::size_t count) {
      lane.finder->find(stream, lane.values.read(stream, values.data, first, count), numbers);
      lane.adder->add(stream, numbers, lane.weights.read(stream, weights.data, first, count));
      binning::count_in(
          partial.counted, stream,
          {reinterpret_cast<const std::byte*>(numbers), count * sizeof(std::uint32_t)}, count);
    });
  }

  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      binning::finish_counts(stream, {&partial.counted, 1});
      partial.sums = partial.lane->adder->take(stream);
      partial.lane.reset();
    }
  }

  /// Returns the partial of WeightSums, which does not depend on the inputs.
  WeightSums::Partial result(Partial total) const { return total; }

  /// Returns the places of the numbers, too, because a checkpoint is of these.
  std::string question() const { return this->numbers() + binning::described(bins()); }
  HostBytes host_bytes() const { return memory_for(weight_type(), bins().size()); }
};

}  // namespace ooc::detail::weighing

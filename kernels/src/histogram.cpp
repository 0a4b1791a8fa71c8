#include <ooc/kernels/histogram.hpp>

#include <ooc/io/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>

#include "histogram_count.hpp"

namespace ooc {

namespace {

using binning::Bins;
using binning::Extremes;

template <class T>
DeviceSpan<const std::byte> bytes_of(DeviceSpan<const T> values) {
  return {reinterpret_cast<const std::byte*>(values.data), values.size * sizeof(T)};
}

/// Finds the range of the data.
template <class T>
struct FindExtremes {
  using Input = T;
  struct Partial {
    std::unique_ptr<binning::ExtremesFinder> finder{};
    Extremes extremes{};
  };

  Partial make_partial(Stream& stream) const {
    constexpr ElementType type = element_type_of<T>();
    if (stream.kind() == DeviceKind::cpu) return {binning::make_cpu_finder(type, best_simd())};
    return {binning::make_cuda_finder(type, stream)};
  }
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    partial.finder->look(stream, bytes_of<T>(in));
  }
  void finish(Stream& stream, Partial& partial) const {
    partial.extremes = partial.finder->finish(stream);
  }
  void merge(Partial& total, const Partial& part) const { total.extremes.merge(part.extremes); }
};

/// Counts the data in bins.
template <class T>
struct CountBins {
  using Input = T;
  struct Partial {
    std::unique_ptr<binning::BinCounter> counter{};
    std::uint64_t elements = 0;
    std::vector<std::uint64_t> counts{};  // empty before finish()
  };

  const Bins& bins;

  Partial make_partial(Stream& stream) const {
    constexpr ElementType type = element_type_of<T>();
    if (stream.kind() == DeviceKind::cpu) {
      return {binning::make_cpu_counter(type, bins, best_simd())};
    }
    return {binning::make_cuda_counter(type, bins, stream)};
  }
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    partial.counter->count(stream, bytes_of<T>(in));
    partial.elements += in.size;
  }
  void finish(Stream& stream, Partial& partial) const {
    partial.counts = partial.counter->finish(stream);
  }
  void merge(Partial& total, const Partial& part) const {
    total.elements += part.elements;
    if (part.counts.empty()) return;
    total.counts.resize(part.counts.size());
    std::transform(part.counts.begin(), part.counts.end(), total.counts.begin(),
                   total.counts.begin(), std::plus<>());
  }
};

/// Both passes as one: what they took together, the choices as they were made at first.
Stats both_passes(const Stats& first, Stats second) {
  const auto add = [](StageTimes& total, const StageTimes& times) {
    total.busy += times.busy;
    total.waits_in += times.waits_in;
    total.waits_out += times.waits_out;
  };
  add(second.disk, first.disk);
  add(second.h2d, first.h2d);
  add(second.kernel, first.kernel);
  second.checksum_seconds += first.checksum_seconds;
  second.passes = first.passes + second.passes;
  second.seconds += first.seconds;
  second.startup_seconds += first.startup_seconds;
  second.device_seconds += first.device_seconds;
  second.pool_bytes = std::max(first.pool_bytes, second.pool_bytes);
  second.device_bytes = std::max(first.device_bytes, second.device_bytes);
  second.page_cache_fraction = first.page_cache_fraction;
  for (std::string& reason : second.reasons) {
    if (std::ranges::find(first.reasons, reason) != first.reasons.end()) reason.clear();
  }
  std::erase(second.reasons, "");
  second.reasons.insert(second.reasons.begin(), first.reasons.begin(), first.reasons.end());
  return second;
}

ErrorDetails details_of(const Source& source, std::string why, std::string hint = {}) {
  return {.path = source.files().empty() ? "" : source.files().front().path(),
          .why = std::move(why),
          .hint = std::move(hint)};
}

/// All elements must have been counted once, whatever else went wrong.
void check_sum(const Histogram& histogram, std::uint64_t elements) {
  const std::uint64_t inside =
      std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
  const std::uint64_t sum = inside + histogram.below + histogram.above + histogram.nan;
  if (sum == histogram.count && histogram.count == elements) return;
  throw Error(Cause::internal,
              "the bins hold " + std::to_string(sum) + " elements of " + std::to_string(elements));
}

/// Outside of a range that was found in the data there can only be what was not finite then.
void check_unchanged(const Source& source, const Histogram& histogram, const Extremes& extremes,
                     bool partial) {
  const auto differs = [partial](std::uint64_t now, std::uint64_t before) {
    return partial ? now > before : now != before;
  };
  if (!differs(histogram.below, extremes.negative_infinities) &&
      !differs(histogram.above, extremes.positive_infinities) &&
      !differs(histogram.nan, extremes.nan)) {
    return;
  }
  throw Error(Cause::input_changed, "the input changed while it was read",
              details_of(source, "the second pass found values that the first did not",
                         "count when nobody writes to it, or give a range (--range LOWER:UPPER)"));
}

/// Without a checksum of both passes there is nothing to compare: nobody wanted one, or the second
/// was stopped.
void check_same(const Source& source, const Stats& first, const Stats& second) {
  if (!first.checksum || !second.checksum || first.checksum == second.checksum) return;
  throw Error(Cause::input_changed, "the input changed while it was read",
              details_of(source,
                         "its checksum was " + *first.checksum + " in the first pass and " +
                             *second.checksum + " in the second",
                         "if nobody wrote to it, memory or a disk is failing: compare both with "
                         "what `xxh128sum` finds"));
}

template <class T>
Result<Histogram> count(Coordinator& coordinator, const Source& source, Bins bins) {
  auto [total, stats] = fold(coordinator, CountBins<T>{bins}, source);
  total.counts.resize(bins.counters());
  Histogram histogram;
  histogram.count = total.elements;
  histogram.below = total.counts[bins.size()];
  histogram.above = total.counts[bins.size() + 1];
  histogram.nan = total.counts[bins.size() + 2];
  total.counts.resize(bins.size());
  histogram.counts = std::move(total.counts);
  histogram.edges = std::move(bins.edges);
  check_sum(histogram, stats.bytes / sizeof(T));
  return {std::move(histogram), std::move(stats)};
}

template <class T>
Result<Histogram> count_in_found_range(Coordinator& coordinator, const Source& source,
                                       const HistogramOptions& options) {
  auto [found, first] = fold(coordinator, FindExtremes<T>{}, source);
  if (first.partial) {  // not even the range is known
    first.bytes = 0;
    return {Histogram{}, std::move(first)};
  }
  const Extremes& extremes = found.extremes;
  if (!extremes.any_finite()) {
    throw Error(
        Cause::bad_input, "the data has no finite value to find the range of bins by",
        details_of(source, "all values are NaN or infinite",
                   "check the element type (--dtype), or give a range (--range LOWER:UPPER)"));
  }
  Bins bins = binning::make_bins(options, {extremes.lowest, extremes.highest}, Cause::bad_input);
  Result<Histogram> result = count<T>(coordinator, source, std::move(bins));
  check_same(source, first, result.stats);
  check_unchanged(source, result.value, extremes, result.stats.partial);
  result.stats = both_passes(first, std::move(result.stats));
  return result;
}

ElementType type_of(const Source& source) {
  return source.type() ? source.type()->element : ElementType::u1;
}

/// The range that was asked for, or that of a type that has few values: all of them. Empty if it is
/// to be found in the data.
std::optional<HistogramOptions::Range> range_of(const Source& source,
                                                const HistogramOptions& options) {
  using Range = HistogramOptions::Range;
  constexpr Range any{1, 2};
  const ElementType type = type_of(source);
  if (options.range) return options.range;
  if (type == ElementType::u1 && !options.logarithmic) return Range{0, 256};
  if (type == ElementType::i1 && !options.logarithmic) return Range{-128, 128};
  if (source.bytes() == 0 || !options.edges.empty()) return any;
  return {};
}

}  // namespace

std::size_t histogram_passes(const Source& source, const HistogramOptions& options) {
  return range_of(source, options) ? 1 : 2;
}

Stats plan_histogram(const Options& wanted, DeviceKind device, const Source& source,
                     const HistogramOptions& options) {
  binning::check(options);
  Stats stats = plan_pass(wanted, device, source, size_of(type_of(source)));
  stats.passes = histogram_passes(source, options);
  return stats;
}

Result<Histogram> histogram(Coordinator& coordinator, const Source& source,
                            const HistogramOptions& options) {
  binning::check(options);
  return visit(type_of(source), [&]<class T>(std::type_identity<T>) -> Result<Histogram> {
    const auto range = range_of(source, options);
    if (!range) return count_in_found_range<T>(coordinator, source, options);
    Bins bins = binning::make_bins(options, *range, Cause::usage);
    Result<Histogram> result = count<T>(coordinator, source, std::move(bins));
    if (source.bytes() == 0) result.value = {};
    return result;
  });
}

}  // namespace ooc

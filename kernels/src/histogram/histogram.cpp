#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/device/resident_room.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/error.hpp>
#include <ooc/resident.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "histogram/bin_rule.hpp"
#include "histogram/count.hpp"
#include "histogram/find_bins.hpp"

namespace ooc {

using namespace detail;

namespace {

using binning::Bins;

struct Counted final : OpaqueState {
  std::unique_ptr<binning::BinCounter> counter;  // of a lane
  std::uint64_t elements = 0;
  std::vector<std::uint64_t> counts;  // of a total, or of a loaded partial
};

Counted& counted_in(const OpaquePartial& partial) {
  return static_cast<Counted&>(*partial);
}

Bins bins_of(ElementType type, const HistogramOptions& options) {
  if (auto bins = binning::known_bins(type, options)) return *std::move(bins);
  throw Error(ErrorKind::usage, "to count in bins together with others takes their range",
              {.hint = "give a range, or call histogram(), which looks for it first"});
}

/// Throws Error(internal) unless every element is in one of the counters.
void check_sum(const Histogram& histogram) {
  const std::uint64_t inside =
      std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
  const std::uint64_t sum = inside + histogram.below + histogram.above + histogram.nan;
  if (sum == histogram.count) return;
  throw Error(ErrorKind::internal, "the bins hold " + std::to_string(sum) + " elements of " +
                                       std::to_string(histogram.count));
}

/// Returns the shortest text that is this number and no other.
std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace

template <IsElement T>
CountBins<T>::CountBins(const HistogramOptions& options)
    : bins_(std::make_shared<const Bins>(bins_of(element_type_of<T>(), options))) {}

template <IsElement T>
OpaquePartial CountBins<T>::make_partial(Stream& stream) const {
  constexpr ElementType type = element_type_of<T>();
  auto counted = std::make_unique<Counted>();
  counted->counter = stream.kind() == DeviceKind::cpu
                         ? binning::make_cpu_counter(type, *bins_, best_simd())
                         : binning::make_cuda_counter(type, *bins_, stream);
  return counted;
}

template <IsElement T>
void CountBins<T>::consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
  Counted& counted = counted_in(partial);
  counted.counter->count(stream,
                         {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)});
  counted.elements += in.size;
}

template <IsElement T>
void CountBins<T>::finish(Stream& stream, std::span<Partial> partials) const {
  for (Partial& partial : partials) counted_in(partial).counter->finish(stream);
}

template <IsElement T>
void CountBins<T>::merge(Partial& total, Partial& part) const {
  if (!part) return;
  if (!total) total = std::make_unique<Counted>();
  Counted& all = counted_in(total);
  Counted& counted = counted_in(part);
  all.elements += counted.elements;
  if (!counted.counter && counted.counts.empty()) return;
  all.counts.resize(bins_->counters());
  if (counted.counter) counted.counter->add_to(all.counts);
  std::transform(counted.counts.begin(), counted.counts.end(), all.counts.begin(),
                 all.counts.begin(), std::plus<>());
  part.reset();  // frees its memory, which is large
}

template <IsElement T>
Histogram CountBins<T>::result(Partial total) const {
  const std::size_t bins = bins_->size();
  Histogram histogram;
  histogram.edges = bins_->edges;
  if (total) {
    histogram.count = counted_in(total).elements;
    histogram.counts = std::move(counted_in(total).counts);
  }
  histogram.counts.resize(bins_->counters());
  histogram.below = histogram.counts[bins];
  histogram.above = histogram.counts[bins + 1];
  histogram.nan = histogram.counts[bins + 2];
  histogram.counts.resize(bins);
  check_sum(histogram);
  return histogram;
}

template <IsElement T>
std::string CountBins<T>::question() const {
  const std::vector<double>& edges = bins_->edges;
  return std::string(name_of(element_type_of<T>())) + " in " + std::to_string(bins_->size()) +
         (bins_->size() == 1 ? " bin from " : " bins from ") + shortest(edges.front()) + " to " +
         shortest(edges.back()) + " with edges of hash " +
         std::to_string(xxh3_64(std::as_bytes(std::span(edges))));
}

template <IsElement T>
void CountBins<T>::save(const Partial& total, std::vector<std::byte>& out) const {
  static const Counted nothing;
  const Counted& counted = total ? counted_in(total) : nothing;
  append_bytes(out, counted.elements);
  append_span(out, std::as_bytes(std::span(counted.counts)));
}

template <IsElement T>
void CountBins<T>::load(std::span<const std::byte> in, Partial& total) const {
  ByteReader bytes(in);
  auto counted = std::make_unique<Counted>();
  counted->elements = bytes.take<std::uint64_t>();
  const std::span<const std::byte> counts = bytes.take_bytes(bytes.left());
  const bool has_all = counts.size() == bins_->counters() * sizeof(std::uint64_t);
  counted->counts.resize(has_all ? bins_->counters() : 0);
  if (has_all) std::memcpy(counted->counts.data(), counts.data(), counts.size());
  const int128 sum = std::accumulate(counted->counts.begin(), counted->counts.end(), int128{0});
  if (sum != counted->elements || !(has_all || counts.empty())) {
    throw Error(ErrorKind::bad_input, "a saved histogram has other counts than its bins");
  }
  total = std::move(counted);
}

template <IsElement T>
HostBytes CountBins<T>::host_bytes() const {
  return binning::counting_bytes(element_type_of<T>(), bins_->size());
}

template <IsElement T>
std::uint64_t CountBins<T>::records_in(const Partial& total) const {
  return total ? counted_in(total).elements : 0;
}

template class CountBins<std::uint8_t>;
template class CountBins<std::uint16_t>;
template class CountBins<std::uint32_t>;
template class CountBins<std::uint64_t>;
template class CountBins<std::int8_t>;
template class CountBins<std::int16_t>;
template class CountBins<std::int32_t>;
template class CountBins<std::int64_t>;
template class CountBins<Float16>;
template class CountBins<float>;
template class CountBins<double>;
template class CountBins<BFloat16>;

namespace {

/// Returns the bytes of a source that a GPU without other users keeps for the second pass.
std::uint64_t resident_bytes_expected(const Options& machine, const Source& source,
                                      const Stats& pass) {
  const std::vector<GpuFacts> gpus = cuda_facts().gpus;
  std::uint64_t free = gpus.empty() ? 0 : gpus.front().memory_bytes;
  if (machine.device_bytes != 0) free = std::min<std::uint64_t>(free, machine.device_bytes);
  return std::min(source.bytes(), detail::room_for_resident(free, pass.layout.device_bytes));
}

}  // namespace

std::size_t histogram_passes(ElementType type, const HistogramOptions& options) {
  return binning::known_bins(type, options) ? 1 : 2;
}

std::size_t histogram_passes(const Source& source, const HistogramOptions& options) {
  const std::size_t passes = histogram_passes(source.element(), options);
  return source.is_empty() ? 1 : passes;
}

Stats dry_run_histogram(const Options& machine, DeviceKind device, const Source& source,
                        const HistogramOptions& options, const PassOptions& wanted) {
  const std::size_t passes = histogram_passes(source, options);
  if (passes > 1 && source.is_produced()) throw binning::read_once(source, options);
  const ElementType type = source.element();
  const std::size_t bins = binning::likely_bins(options, type, source.elements());
  Stats stats = dry_run_pass(machine, device, detail::stored_input(source, size_of(type)), {},
                             wanted, binning::counting_bytes(type, bins));
  stats.outcome.passes = passes;
  const bool keeps = !wanted.checksum && !wanted.checkpoint;
  if (passes > 1 && keeps && device == DeviceKind::cuda) {
    stats.outcome.resident_bytes = resident_bytes_expected(machine, source, stats);
    if (stats.outcome.resident_bytes != 0) {
      stats.layout.reasons.push_back(
          {ReasonKind::resident_input, {}, {stats.outcome.resident_bytes, source.bytes()}});
    }
  }
  return stats;
}

Result<Histogram> histogram(Coordinator& coordinator, const Source& source,
                            const HistogramOptions& options, const PassOptions& wanted) {
  return detail::or_fail_together(coordinator.ranks(), [&] {
    return visit(source.element(), [&]<class T>(std::type_identity<T>) -> Result<Histogram> {
      auto [found, stats] = binning::count_beside<T>(coordinator, source, options, wanted);
      if (!found) return {{}, std::move(stats)};
      return {std::get<0>(*std::move(found)), std::move(stats)};
    });
  });
}

Result<PartialResult<Histogram>> collect_histogram(Coordinator& coordinator, const Source& section,
                                                   const HistogramOptions& options,
                                                   const PassOptions& wanted) {
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    return collect(coordinator, CountBins<T>(options), section, wanted);
  });
}

PartialResult<Histogram> load_histogram(ElementType type, const HistogramOptions& options,
                                        std::span<const std::byte> saved) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(CountBins<T>(options), saved);
  });
}

}  // namespace ooc

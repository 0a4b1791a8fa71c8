#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/histogram.hpp>
#include <ooc/reduce.hpp>

#include <ooc/error.hpp>

#include <array>
#include <charconv>
#include <string>
#include <type_traits>
#include <utility>

#include "base/dry_run_passes.hpp"
#include "histogram/bin_rule.hpp"
#include "histogram/counted.hpp"
#include "histogram/find_bins.hpp"

namespace ooc {

using namespace detail;

namespace {

using binning::Bins;

Bins bins_of(ElementType type, const HistogramOptions& options) {
  if (auto bins = binning::known_bins(type, options)) return *std::move(bins);
  throw Error(ErrorKind::usage, "to count in bins together with others takes their range",
              {.hint = "give a range, or call histogram(), which looks for it first"});
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
  return binning::counted_by(stream.kind() == DeviceKind::cpu
                                 ? binning::make_cpu_counter(type, *bins_, best_simd())
                                 : binning::make_cuda_counter(type, *bins_, stream));
}

template <IsElement T>
void CountBins<T>::consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
  binning::count_in(partial, stream,
                    {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)}, in.size);
}

template <IsElement T>
void CountBins<T>::finish(Stream& stream, std::span<Partial> partials) const {
  binning::finish_counts(stream, partials);
}

template <IsElement T>
void CountBins<T>::merge(Partial& total, Partial& part) const {
  binning::merge_counts(total, part, bins_->counters());
}

template <IsElement T>
Histogram CountBins<T>::result(Partial total) const {
  return binning::histogram_of(*bins_, std::move(total));
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
  binning::save_counts(total, out);
}

template <IsElement T>
void CountBins<T>::load(std::span<const std::byte> in, Partial& total) const {
  binning::load_counts(in, bins_->counters(), total);
}

template <IsElement T>
HostBytes CountBins<T>::host_bytes() const {
  return binning::counting_bytes(element_type_of<T>(), bins_->size());
}

template <IsElement T>
std::uint64_t CountBins<T>::records_in(const Partial& total) const {
  return binning::elements_of(total);
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

std::size_t histogram_passes(ElementType type, const HistogramOptions& options) {
  if (binning::known_bins(type, options)) return 1;
  return 1 + (binning::needs_quartiles(options) ? quantile_passes(type, binning::quartiles()) : 1);
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
  return dry_run_passes(machine, device, source, wanted, passes,
                        binning::counting_bytes(type, bins));
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

#include "histogram/counted.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace ooc::detail::binning {

namespace {

struct Counted final : OpaqueState {
  std::unique_ptr<BinCounter> counter{};  // of a lane
  std::uint64_t elements = 0;
  std::vector<std::uint64_t> counts{};  // of a total, or of a loaded partial
};

Counted& counted_in(const OpaquePartial& partial) {
  return static_cast<Counted&>(*partial);
}

}  // namespace

OpaquePartial counted_by(std::unique_ptr<BinCounter> counter) {
  auto counted = std::make_unique<Counted>();
  counted->counter = std::move(counter);
  return counted;
}

void count_in(OpaquePartial& partial, Stream& stream, DeviceSpan<const std::byte> data,
              std::size_t elements) {
  Counted& counted = counted_in(partial);
  counted.counter->count(stream, data);
  counted.elements += elements;
}

void finish_counts(Stream& stream, std::span<OpaquePartial> partials) {
  for (OpaquePartial& partial : partials) counted_in(partial).counter->finish(stream);
}

void merge_counts(OpaquePartial& total, OpaquePartial& part, std::size_t counters) {
  if (!part) return;
  if (!total && !counted_in(part).counter) {
    total = std::move(part);
    return;
  }
  if (!total) total = std::make_unique<Counted>();
  Counted& all = counted_in(total);
  Counted& counted = counted_in(part);
  all.elements += counted.elements;
  if (!counted.counter && counted.counts.empty()) return;
  all.counts.resize(counters);
  if (counted.counter) counted.counter->add_to(all.counts);
  std::transform(counted.counts.begin(), counted.counts.end(), all.counts.begin(),
                 all.counts.begin(), std::plus<>());
  part.reset();  // frees its memory, which is large
}

std::vector<std::uint64_t> counts_of(OpaquePartial total, std::size_t counters) {
  std::vector<std::uint64_t> counts;
  if (total) counts = std::move(counted_in(total).counts);
  counts.resize(counters);
  return counts;
}

std::span<const std::uint64_t> counts_in(const OpaquePartial& total) {
  if (!total) return {};
  return counted_in(total).counts;
}

Histogram histogram_of(const Bins& bins, OpaquePartial total) {
  const std::size_t size = bins.size();
  Histogram histogram;
  histogram.edges = bins.edges;
  histogram.count = elements_of(total);
  histogram.counts = counts_of(std::move(total), bins.counters());
  histogram.below = histogram.counts[size];
  histogram.above = histogram.counts[size + 1];
  histogram.nan = histogram.counts[size + 2];
  const auto sum =
      std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
  if (sum != histogram.count) {
    throw Error(ErrorKind::internal, "the bins hold " + std::to_string(sum) + " elements of " +
                                         std::to_string(histogram.count));
  }
  histogram.counts.resize(size);
  return histogram;
}

std::uint64_t elements_of(const OpaquePartial& total) {
  return total ? counted_in(total).elements : 0;
}

void save_counts(const OpaquePartial& total, std::vector<std::byte>& out) {
  static const Counted nothing;
  const Counted& counted = total ? counted_in(total) : nothing;
  append_bytes(out, counted.elements);
  append_span(out, std::as_bytes(std::span(counted.counts)));
}

void load_counts(std::span<const std::byte> in, std::size_t counters, OpaquePartial& total) {
  ByteReader bytes(in);
  auto counted = std::make_unique<Counted>();
  counted->elements = bytes.take<std::uint64_t>();
  const std::span<const std::byte> counts = bytes.take_bytes(bytes.left());
  const bool has_all = counts.size() == counters * sizeof(std::uint64_t);
  counted->counts.resize(has_all ? counters : 0);
  if (has_all) std::memcpy(counted->counts.data(), counts.data(), counts.size());
  const int128 sum = std::accumulate(counted->counts.begin(), counted->counts.end(), int128{0});
  if (sum != counted->elements || !(has_all || counts.empty())) {
    throw Error(ErrorKind::bad_input, "a saved histogram has other counts than its bins");
  }
  total = std::move(counted);
}

std::string described(const Bins& bins) {
  return std::to_string(bins.size()) + " bins with edges of hash " +
         std::to_string(xxh3_64(std::as_bytes(std::span(bins.edges))));
}

}  // namespace ooc::detail::binning

#include "histogram/range_pass.hpp"

#include <ooc/error.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace ooc::binning {

namespace {

using Range = HistogramOptions::Range;

/// The operator that finds the range of the data.
template <class T>
struct FindExtremes {
  using Input = T;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr bool same_bits_everywhere = true;

  struct Partial {
    std::unique_ptr<ExtremesFinder> finder{};
    Extremes extremes{};
  };

  HostBytes counting{};  // of the pass that follows

  /// The same as that pass needs, so that it is this one that does not begin.
  HostBytes host_bytes() const { return counting; }
  Partial make_partial(Stream& stream) const {
    constexpr ElementType type = element_type_of<T>();
    if (stream.kind() == DeviceKind::cpu) return {make_cpu_finder(type, best_simd())};
    return {make_cuda_finder(type, stream)};
  }
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    partial.finder->look(stream,
                         {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)});
  }
  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) partial.extremes = partial.finder->finish(stream);
  }
  void merge(Partial& total, const Partial& part) const { total.extremes.merge(part.extremes); }
  Extremes result(Partial total) const { return total.extremes; }

  static constexpr std::string_view partial_name = "ooc.extremes/1";
  std::string question() const { return std::string(name_of(element_type_of<T>())); }
  void save(const Partial& total, std::vector<std::byte>& out) const {
    append_bytes(out, total.extremes);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    ByteReader bytes(in);
    total.extremes = bytes.take<Extremes>();
    bytes.require_end();
  }
};

ErrorDetails details_of(const Source& source, std::string why, std::string hint,
                        std::vector<Remedy> remedies = {}) {
  return {.path = source.files().empty() ? "" : source.files().front().path(),
          .why = std::move(why),
          .hint = std::move(hint),
          .remedies = std::move(remedies)};
}

/// Throws if the second pass found other values outside of the range than infinities and NaN that
/// the first pass counted.
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
  throw Error(
      ErrorKind::input_changed, "the input changed while it was read",
      details_of(source, "the second pass found values that the first did not",
                 "count when no program writes to it", {{Change::set, "HistogramOptions::range"}}));
}

/// Compares the checksums of both passes. There is none if it was not asked for, or if the second
/// pass was stopped.
void check_same(const Source& source, const Stats& first, const Stats& second) {
  if (!first.outcome.checksum || !second.outcome.checksum ||
      first.outcome.checksum == second.outcome.checksum)
    return;
  throw Error(
      ErrorKind::input_changed, "the input changed while it was read",
      details_of(source,
                 "its checksum was " + *first.outcome.checksum + " in the first pass and " +
                     *second.outcome.checksum + " in the second",
                 "if no program wrote to it, memory or a disk is failing: compare both with "
                 "what `xxh128sum` finds"));
}

/// Throws Error(internal) unless every element was counted once.
void check_count(const Histogram& histogram, std::uint64_t elements) {
  if (histogram.count == elements) return;
  throw Error(ErrorKind::internal, std::to_string(histogram.count) + " elements of " +
                                       std::to_string(elements) + " were counted");
}

Bins bins_over(const Source& source, const Extremes& extremes, const HistogramOptions& options) {
  if (!extremes.any_finite()) {
    throw Error(
        ErrorKind::bad_input, "the data has no finite value to find the range of bins by",
        details_of(source, "all values are NaN or infinite; the element type may be another", "",
                   {{Change::set, "Format::type"}, {Change::set, "HistogramOptions::range"}}));
  }
  return make_bins(options, {extremes.lowest, extremes.highest}, ErrorKind::bad_input);
}

template <class From>
Result<Extremes> find_extremes(Coordinator& coordinator, ElementType type, const From& from,
                               const PassOptions& wanted, HostBytes counting) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) {
    return fold(coordinator, FindExtremes<T>{counting}, from, wanted);
  });
}

/// The same for a job with a checkpoint, in whose file the range is then.
Result<Extremes> find_extremes(Coordinator& coordinator, const Source& source,
                               const PassOptions& wanted, HostBytes counting,
                               detail::CheckpointFile& file) {
  Extremes found;
  Stats stats;
  if (const std::vector<std::byte> kept = file.kept(); !kept.empty()) {
    ByteReader bytes(kept);
    found = bytes.take<Extremes>();
    bytes.require_end();
    stats.outcome.bytes = stats.outcome.resumed_bytes = source.bytes();
    // The report of a pass that an earlier run has done.
    const std::uint64_t all = source.bytes();
    if (wanted.progress) wanted.progress({.bytes = all, .total_bytes = all, .resumed_bytes = all});
  } else {
    ooc::visit(source.element(), [&]<class T>(std::type_identity<T>) {
      auto result = detail::fold_divided(coordinator, std::tuple(FindExtremes<T>{counting}),
                                         detail::inputs_of<T>(source), wanted, file);
      found = std::get<0>(result.value);
      stats = std::move(result.stats);
    });
    file.end();
  }
  std::vector<std::byte> kept;
  append_bytes(kept, found);
  file.keep(kept);
  return {found, std::move(stats)};
}

/// Returns the default range of types with few values: all of them.
std::optional<Range> range_of_type(ElementType type, const HistogramOptions& options) {
  if (options.logarithmic) return {};
  if (type == ElementType::u1) return Range{0, 256};
  if (type == ElementType::i1) return Range{-128, 128};
  return {};
}

/// Returns the statistics of both passes together.
Stats check_passes(const Source& source, const FoundBins& found, const Histogram& histogram,
                   const Stats& counting) {
  check_count(histogram, counting.outcome.bytes / size_of(source.element()));
  if (!found.pass) return counting;
  const auto& [extremes, first] = *found.pass;
  check_same(source, first, counting);
  check_unchanged(source, histogram, extremes, counting.outcome.partial);
  Stats both = first;
  // A pass that an earlier run has done has no layout.
  if (first.outcome.resumed_bytes == first.outcome.bytes) both.layout = counting.layout;
  return both += counting;
}

/// Returns the histogram of no elements.
Histogram empty_histogram(ElementType type, const HistogramOptions& options) {
  const auto bins = known_bins(type, options);  // throws for invalid options
  const bool given = options.range || !options.edges.empty();
  if (!given) return {};
  return {.edges = bins->edges, .counts = std::vector<std::uint64_t>(bins->size())};
}

}  // namespace

std::optional<Bins> known_bins(ElementType type, const HistogramOptions& options) {
  check(options);
  const auto range = options.range ? options.range : range_of_type(type, options);
  if (!range && options.edges.empty()) return {};
  return make_bins(options, range.value_or(Range{}), ErrorKind::usage);
}

Error read_once(const Source& source) {
  return {ErrorKind::usage,
          source.name() + ": a histogram without a range reads it twice",
          {.why = "it can be read once; the first pass looks for the range",
           .remedies = {{Change::set, "HistogramOptions::range"}}}};
}

FoundBins find_bins(Coordinator& coordinator, const Source& source, const HistogramOptions& options,
                    const PassOptions& wanted) {
  const auto share = [](Bins bins) { return std::make_shared<const Bins>(std::move(bins)); };
  const ElementType type = source.element();
  FoundBins found;
  if (wanted.checkpoint) found.file.emplace(wanted.checkpoint, coordinator.ranks());
  if (auto known = known_bins(type, options)) {
    found.bins = share(*std::move(known));
    return found;
  }
  if (source.is_empty()) {  // bins are needed, but stay empty
    found.bins = share({.edges = {0, 1}});
    return found;
  }
  if (source.is_produced()) throw read_once(source);
  // Both passes of a checksum read the files, and what stays on the device is gone after a crash.
  // Several devices and ranks share both passes instead.
  const bool is_shared = coordinator.devices().size() > 1 || coordinator.ranks() != nullptr;
  const bool keeps = !wanted.checksum && !wanted.checkpoint && !is_shared;
  if (keeps) found.kept.emplace(coordinator, source);
  const HostBytes bytes = counting_bytes(type, number_of_bins(options));
  found.pass = found.file   ? find_extremes(coordinator, source, wanted, bytes, *found.file)
               : found.kept ? find_extremes(coordinator, type, *found.kept, wanted, bytes)
                            : find_extremes(coordinator, type, source, wanted, bytes);
  if (found.pass->stats.outcome.partial) {  // so there are no bins either
    found.pass->stats.outcome.bytes = 0;
    return found;
  }
  found.bins = share(bins_over(source, found.pass->value, options));
  return found;
}

Stats complete(Histogram& histogram, const Source& source, const HistogramOptions& options,
               const FoundBins& found, const Stats& counting) {
  Stats stats = check_passes(source, found, histogram, counting);
  if (stats.outcome.bytes == 0 && !stats.outcome.partial) {
    histogram = empty_histogram(source.element(), options);
  }
  return stats;
}

}  // namespace ooc::binning

#include "histogram/range_pass.hpp"

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "histogram/bin_rule.hpp"

namespace ooc::detail::binning {

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

  HostBytes counting{};  // host memory of the counting pass

  /// Requests as much memory as the counting pass, so that too little memory fails the first pass.
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
  return {.path = path_of(source),
          .why = std::move(why),
          .hint = std::move(hint),
          .remedies = std::move(remedies)};
}

/// Throws Error(input_changed) if the second pass found other numbers of NaN, of values below the
/// first edge or above the last than the first pass found of NaN and infinities.
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
  throw Error(ErrorKind::input_changed, "the input changed while it was read",
              details_of(source, "the second pass found values that the first did not",
                         "count when no program writes to it",
                         {{RemedyAction::set, "HistogramOptions::range"}}));
}

/// Throws Error(input_changed) if the checksums of both passes differ. There is no checksum if it
/// was not requested or if the second pass was stopped.
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

/// True if the rule for the number of bins needs the standard deviation.
bool needs_deviation(const HistogramOptions& options) {
  return options.bins.rule() == BinRule::scott;
}

/// Throws Error(bad_input) unless there is the standard deviation that a rule needs.
void require_deviation(const Source& source, const Survey& survey) {
  if (survey.stddev && std::isfinite(*survey.stddev)) return;
  const auto& [lowest, highest, nan, below, above] = survey.extremes;
  const std::uint64_t infinite = below + above;
  throw Error(
      ErrorKind::bad_input,
      "the rule scott needs the standard deviation, which the data does not have",
      details_of(source,
                 infinite == 0 ? "the squares of values overflow double precision"
                               : std::to_string(infinite) +
                                     (infinite == 1 ? " value is" : " values are") + " infinite",
                 "", {{RemedyAction::set, "HistogramOptions::bins"}}));
}

/// Returns the requested number of bins, or that of a rule. Throws Error(bad_input) if the rule
/// gives none.
std::size_t number_of_bins(const Source& source, const Survey& survey, BinCount wanted) {
  if (!wanted.rule()) return wanted.number();
  if (*wanted.rule() == BinRule::scott) require_deviation(source, survey);
  const auto& [lowest, highest, nan, below, above] = survey.extremes;
  const std::uint64_t finite = source.elements() - nan - below - above;
  const double bins = bins_by(*wanted.rule(), {.count = finite,
                                               .lowest = lowest,
                                               .highest = highest,
                                               .stddev = survey.stddev.value_or(0),
                                               .of_integers = are_integers(source.element())});
  if (bins <= max_bins) return static_cast<std::size_t>(bins);
  throw Error(ErrorKind::bad_input,
              "the rule " + std::string(name_of(*wanted.rule())) + " gives " +
                  to_string(Scalar{static_cast<int128>(bins)}) + " bins",
              details_of(source, "a histogram has at most " + std::to_string(max_bins), "",
                         {{RemedyAction::set, "HistogramOptions::bins"}}));
}

Bins bins_over(const Source& source, const Survey& survey, HistogramOptions options) {
  const Extremes& extremes = survey.extremes;
  if (!extremes.any_finite()) {
    ErrorDetails details =
        details_of(source, "all values are NaN or infinite; the element type may be another",
                   options.bins.rule() ? "give a range and a number of bins" : "",
                   {{RemedyAction::set, "Format::type"}});
    if (!options.bins.rule())
      details.remedies.push_back({RemedyAction::set, "HistogramOptions::range"});
    throw Error(ErrorKind::bad_input, "the data has no finite value to find the range of bins by",
                std::move(details));
  }
  options.bins = number_of_bins(source, survey, options.bins);
  return make_bins(options, {extremes.lowest, extremes.highest}, ErrorKind::bad_input);
}

/// Finds the extremes, and the standard deviation if a rule needs it, in one pass.
Result<Survey> survey(Coordinator& coordinator, const Source& source,
                      const HistogramOptions& options, FoundBins& found,
                      const PassOptions& wanted) {
  const ElementType type = source.element();
  const HostBytes counting = counting_bytes(type, likely_bins(options, type, source.elements()));
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) -> Result<Survey> {
    const FindExtremes<T> extremes{counting};
    if (!needs_deviation(options)) {
      auto [all, stats] = fold_found(coordinator, std::tuple(extremes), source, found, wanted);
      return {{std::get<0>(all)}, std::move(stats)};
    }
    const Reduction<T> statistics({.nan = NanPolicy::omit});
    auto [all, stats] =
        fold_found(coordinator, std::tuple(extremes, statistics), source, found, wanted);
    return {{std::get<0>(all), std::get<1>(all).stddev}, std::move(stats)};
  });
}

/// Returns the survey that an earlier run has saved in its checkpoint, if it is sufficient for this
/// run. If that run had other bins, the counting pass refuses the file.
std::optional<Survey> kept_survey(const CheckpointFile& file, const HistogramOptions& options) {
  const std::vector<std::byte> kept = file.kept();
  if (kept.empty()) return {};
  ByteReader bytes(kept);
  Survey found{bytes.take<Extremes>()};
  if (bytes.left() != 0) found.stddev = bytes.take<double>();
  bytes.require_end();
  if (needs_deviation(options) && !found.stddev) return {};
  return found;
}

/// Like survey(), for a job with a checkpoint, and saves the result in the checkpoint's file.
Result<Survey> survey_and_keep(Coordinator& coordinator, const Source& source,
                               const HistogramOptions& options, FoundBins& found,
                               const PassOptions& wanted) {
  Result<Survey> result{};
  if (const auto known = kept_survey(*found.file, options)) {
    result.value = *known;
    const std::uint64_t all = source.bytes();
    result.stats.outcome.records = source.elements();
    result.stats.outcome.bytes = result.stats.outcome.resumed_bytes = all;
    // Report the progress of a pass that an earlier run has completed.
    if (wanted.progress) wanted.progress({.bytes = all, .total_bytes = all, .resumed_bytes = all});
  } else {
    result = survey(coordinator, source, options, found, wanted);
    found.file->end();
  }
  std::vector<std::byte> kept;
  append_bytes(kept, result.value.extremes);
  if (result.value.stddev) append_bytes(kept, *result.value.stddev);
  found.file->keep(kept);
  return result;
}

/// Returns the default range of a type with few values, which contains all of them.
std::optional<Range> range_of_type(ElementType type, const HistogramOptions& options) {
  if (options.logarithmic || options.bins.rule()) return {};
  if (type == ElementType::u1) return Range{0, 256};
  if (type == ElementType::i1) return Range{-128, 128};
  return {};
}

/// Returns the statistics of both passes together.
Stats check_passes(const Source& source, const FoundBins& found, const Histogram& histogram,
                   const Stats& counting) {
  check_count(histogram, counting.outcome.records);
  if (!found.pass) return counting;
  const auto& [seen, first] = *found.pass;
  check_same(source, first, counting);
  check_unchanged(source, histogram, seen.extremes, counting.outcome.partial);
  Stats both = first;
  // The statistics of a pass that an earlier run has completed have no layout.
  if (first.layout.chunks == 0) both.layout = counting.layout;
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

Error read_once(const Source& source, const HistogramOptions& options) {
  if (options.bins.rule()) {
    return {ErrorKind::usage,
            source.name() + ": a histogram whose bins follow a rule reads it twice",
            {.why = "it can be read once; the first pass looks at all values for the rule",
             .hint = "give a range and a number of bins"}};
  }
  return {ErrorKind::usage,
          source.name() + ": a histogram without a range reads it twice",
          {.why = "it can be read once; the first pass looks for the range",
           .remedies = {{RemedyAction::set, "HistogramOptions::range"}}}};
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
  if (source.is_empty()) {  // placeholder bins for an empty histogram
    found.bins = share({.edges = {0, 1}});
    return found;
  }
  if (source.is_produced()) throw read_once(source, options);
  // For a checksum, both passes must read the files. Resident data would be lost in a crash, so it
  // is useless with a checkpoint. Several devices or ranks share both passes instead.
  const bool is_shared = coordinator.devices().size() > 1 || coordinator.ranks() != nullptr;
  const bool keeps = !wanted.checksum && !wanted.checkpoint && !is_shared;
  if (keeps) found.kept.emplace(coordinator, source);
  found.pass = found.file ? survey_and_keep(coordinator, source, options, found, wanted)
                          : survey(coordinator, source, options, found, wanted);
  if (found.pass->stats.outcome.partial) {  // then there are no bins either
    found.pass->stats.outcome.records = found.pass->stats.outcome.bytes = 0;
    return found;
  }
  found.bins = share(bins_over(source, found.pass->value, options));
  return found;
}

Stats complete(Histogram& histogram, const Source& source, const HistogramOptions& options,
               const FoundBins& found, const Stats& counting) {
  Stats stats = check_passes(source, found, histogram, counting);
  if (stats.outcome.records == 0 && !stats.outcome.partial) {
    histogram = empty_histogram(source.element(), options);
  }
  return stats;
}

}  // namespace ooc::detail::binning

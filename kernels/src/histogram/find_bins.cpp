#include "histogram/find_bins.hpp"

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "histogram/bin_rule.hpp"
#include "histogram/count.hpp"
#include "histogram/count_keys.hpp"

namespace ooc::detail::binning {

namespace {

using Range = HistogramOptions::Range;

ErrorDetails details_of(std::filesystem::path path, std::string why, std::string hint,
                        std::vector<Remedy> remedies = {}) {
  return {.path = std::move(path),
          .why = std::move(why),
          .hint = std::move(hint),
          .remedies = std::move(remedies)};
}

/// Throws Error(input_changed) if counting found other numbers of NaN, of values below the first
/// edge or above the last than the pass before it found of NaN and infinities.
void check_unchanged(const Histogram& histogram, const ChosenBins& chosen, bool partial,
                     const std::filesystem::path& path) {
  const auto differs = [partial](std::uint64_t now, std::uint64_t before) {
    return partial ? now > before : now != before;
  };
  if (!differs(histogram.below, chosen.below) && !differs(histogram.above, chosen.above) &&
      !differs(histogram.nan, chosen.nan)) {
    return;
  }
  throw input_changed(path);
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

/// The findings of a pass about the values.
struct Survey {
  std::uint64_t elements = 0;
  Extremes extremes{};
  std::optional<double> stddev{};  // of the values that are not NaN, if a rule needs it
  std::optional<double> iqr{};     // the distance of the quartiles of these, if a rule needs it

  std::uint64_t infinite() const {
    return extremes.negative_infinities + extremes.positive_infinities;
  }
};

/// Throws Error(bad_input) unless there is the spread of values that a rule needs.
void require_spread(BinRule rule, const Survey& survey, const std::filesystem::path& path) {
  const bool is_scott = rule == BinRule::scott;
  const std::uint64_t infinite = survey.infinite();
  const auto& spread = is_scott ? survey.stddev : survey.iqr;
  if (spread && std::isfinite(*spread) && (is_scott || infinite == 0)) return;
  throw Error(
      ErrorKind::bad_input,
      "the rule " + std::string(name_of(rule)) + " needs the " +
          (is_scott ? "standard deviation" : "quartiles of finite values") +
          ", which the data does not have",
      details_of(path,
                 infinite != 0 ? std::to_string(infinite) +
                                     (infinite == 1 ? " value is" : " values are") + " infinite"
                 : is_scott ? "the squares of values overflow double precision"
                            : "their distance overflows double precision",
                 "", {{RemedyAction::set, "HistogramOptions::bins"}}));
}

/// Returns the requested number of bins, or that of a rule. Throws Error(bad_input) if the rule
/// gives none.
std::size_t number_of_bins(const Survey& survey, BinCount wanted, ElementType type,
                           const std::filesystem::path& path) {
  if (!wanted.rule()) return wanted.number();
  const bool by_spread = *wanted.rule() != BinRule::sqrt && *wanted.rule() != BinRule::sturges;
  if (by_spread) require_spread(*wanted.rule(), survey, path);
  const Extremes& extremes = survey.extremes;
  const double bins =
      bins_by(*wanted.rule(), {.count = survey.elements - extremes.nan - survey.infinite(),
                               .lowest = extremes.lowest,
                               .highest = extremes.highest,
                               .stddev = survey.stddev.value_or(0),
                               .of_integers = are_integers(type),
                               .iqr = survey.iqr.value_or(0)});
  if (bins <= max_bins) return static_cast<std::size_t>(bins);
  constexpr double most_shown = 1e30;
  throw Error(ErrorKind::bad_input,
              "the rule " + std::string(name_of(*wanted.rule())) + " gives " +
                  to_string(Scalar{static_cast<int128>(std::min(bins, most_shown))}) + " bins",
              details_of(path, "a histogram has at most " + std::to_string(max_bins), "",
                         {{RemedyAction::set, "HistogramOptions::bins"}}));
}

/// Returns the bins over the values. Throws Error(bad_input) if there are none.
ChosenBins bins_over(const Survey& survey, HistogramOptions options, ElementType type,
                     const std::filesystem::path& path) {
  const Extremes& extremes = survey.extremes;
  if (!extremes.any_finite()) {
    ErrorDetails details =
        details_of(path, "all values are NaN or infinite; the element type may be another",
                   options.bins.rule() ? "give a range and a number of bins" : "",
                   {{RemedyAction::set, "Format::type"}});
    if (!options.bins.rule())
      details.remedies.push_back({RemedyAction::set, "HistogramOptions::range"});
    throw Error(ErrorKind::bad_input, "the data has no finite value to find the range of bins by",
                std::move(details));
  }
  options.bins = number_of_bins(survey, options.bins, type, path);
  options.range = {extremes.lowest, extremes.highest};
  make_bins(options, *options.range, ErrorKind::bad_input);  // throws if they have no width
  return {.options = std::move(options),
          .below = extremes.negative_infinities,
          .above = extremes.positive_infinities,
          .nan = extremes.nan};
}

/// The operator that finds the range of the data, and the statistics that a rule needs.
template <class T>
class SurveyValues {
 public:
  using Input = T;
  static constexpr Merge merge_order = Merge::by_place;  // that of the statistics
  static constexpr std::size_t partition_records = tile_elements;
  static constexpr bool same_bits_everywhere = true;

  struct Partial {
    std::unique_ptr<ExtremesFinder> finder{};
    std::uint64_t elements = 0;
    Extremes extremes{};
    OpaquePartial statistics{};
  };

  /// `all`: number of elements of the data.
  SurveyValues(const HistogramOptions& options, std::uint64_t all)
      : options_(options), counting_(counting_bytes(type, likely_bins(options, type, all))) {
    if (needs_deviation(options)) statistics_.emplace(ReduceOptions{.nan = NanPolicy::omit});
  }

  /// Requests as much memory as the counting pass, so that too little memory fails the first pass.
  HostBytes host_bytes() const { return counting_; }
  Partial make_partial(Stream& stream) const {
    Partial partial{.finder = stream.kind() == DeviceKind::cpu ? make_cpu_finder(type, best_simd())
                                                               : make_cuda_finder(type, stream)};
    if (statistics_) partial.statistics = statistics_->make_partial(stream);
    return partial;
  }
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const {
    partial.elements += in.size;
    partial.finder->look(stream,
                         {reinterpret_cast<const std::byte*>(in.data), in.size * sizeof(T)});
    if (statistics_) statistics_->consume(stream, in, partial.statistics);
  }
  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      partial.extremes = partial.finder->finish(stream);
      if (statistics_) statistics_->finish(stream, {&partial.statistics, 1});
    }
  }
  void merge(Partial& total, Partial& part) const {
    total.elements += std::exchange(part.elements, 0);
    total.extremes.merge(part.extremes);
    if (statistics_) statistics_->merge(total.statistics, part.statistics);
  }
  Survey result(Partial total) const {
    Survey survey{total.elements, total.extremes};
    if (statistics_) survey.stddev = statistics_->result(std::move(total.statistics)).stddev;
    return survey;
  }

  static constexpr std::string_view partial_name = "ooc.bins/1";
  std::string question() const {
    const auto rule = options_.bins.rule();
    return std::string(ooc::name_of(type)) + ", " +
           (rule ? "bins by " + std::string(binning::name_of(*rule))
                 : std::to_string(options_.bins.number()) + " bins") +
           (options_.logarithmic ? ", logarithmic" : "");
  }
  void save(const Partial& total, std::vector<std::byte>& out) const {
    append_bytes(out, total.elements);
    append_bytes(out, total.extremes);
    if (statistics_) statistics_->save(total.statistics, out);
  }
  void load(std::span<const std::byte> in, Partial& total) const {
    ByteReader bytes(in);
    total.elements = bytes.take<std::uint64_t>();
    total.extremes = take_extremes(bytes, total.elements);
    if (statistics_) {
      statistics_->load(bytes.take_bytes(bytes.left()), total.statistics);
      if (statistics_->records_in(total.statistics) == total.elements) return;
      throw Error(ErrorKind::bad_input, "a saved partial result has statistics of other values");
    }
    bytes.require_end();
  }
  std::uint64_t records_in(const Partial& total) const { return total.elements; }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> nodes_in(const Partial& total) const {
    if (!statistics_) return {};
    return statistics_->nodes_in(total.statistics);
  }

 protected:
  static constexpr ElementType type = element_type_of<T>();

  HistogramOptions options_;

 private:
  HostBytes counting_;  // host memory of the counting pass
  std::optional<Reduction<T>> statistics_{};
};

/// The same operator, whose result is the bins.
template <class T>
class ChooseBins : public SurveyValues<T> {
 public:
  ChooseBins(const HistogramOptions& options, std::uint64_t all, std::filesystem::path path)
      : SurveyValues<T>(options, all), path_(std::move(path)) {}

  ChosenBins result(typename SurveyValues<T>::Partial total) const {
    return bins_over(SurveyValues<T>::result(std::move(total)), this->options_, this->type, path_);
  }

 private:
  std::filesystem::path path_;  // for errors
};

/// Looks at all values: once, and as often as the search for quartiles takes if a rule needs these.
/// Returns nothing if a pass was stopped.
template <class T>
std::optional<Survey> survey_of(Passes& passes, const Source& source,
                                const HistogramOptions& options) {
  const SurveyValues<T> values(options, source.elements());
  if (!needs_quartiles(options)) {
    const auto [survey] = passes.fold(std::tuple(values));
    return passes.is_stopped() ? std::nullopt : std::optional(survey);
  }
  quantiles::Search search(source.element(), quartiles());
  auto [survey, counts] = passes.fold(std::tuple(values, quantiles::next_pass<T>(search)));
  const auto fold = [&](const auto& operators) { return passes.fold(operators); };
  if (!quantiles::find_all<T>(search, passes, std::move(counts), fold)) return {};
  const Quantiles found = search.result();
  const Scalar &low = found.quantiles[0].value, &high = found.quantiles[1].value;
  if (low.has_value()) survey.iqr = high.value() - low.value();
  return survey;
}

/// Returns the default range of a type with few values, which contains all of them.
std::optional<Range> range_of_type(ElementType type, const HistogramOptions& options) {
  if (options.logarithmic || options.bins.rule()) return {};
  if (type == ElementType::u1) return Range{0, 256};
  if (type == ElementType::i1) return Range{-128, 128};
  return {};
}

/// Returns the histogram of no elements.
Histogram empty_histogram(ElementType type, const HistogramOptions& options) {
  const auto bins = known_bins(type, options);  // throws for invalid options
  const bool given = options.range || !options.edges.empty();
  if (!given) return {};
  return {.edges = bins->edges, .counts = std::vector<std::uint64_t>(bins->size())};
}

}  // namespace

bool are_known(ElementType type, const HistogramOptions& options) {
  check(options);
  return !options.edges.empty() || options.range || range_of_type(type, options);
}

std::optional<Bins> known_bins(ElementType type, const HistogramOptions& options) {
  if (!are_known(type, options)) return {};
  const auto range = options.range ? options.range : range_of_type(type, options);
  return make_bins(options, range.value_or(Range{}), ErrorKind::usage);
}

void require_unknown_bins(ElementType type, const HistogramOptions& options) {
  if (needs_quartiles(options)) {
    throw Error(ErrorKind::usage,
                "the rules fd and auto need quartiles, which sections do not have",
                {.why = "those of all values take further passes",
                 .hint = "give a number of bins, or another rule"});
  }
  if (!are_known(type, options)) return;
  throw Error(ErrorKind::usage, "these bins do not depend on the data",
              {.hint = "call collect_histogram()"});
}

Error read_once(const Source& source, const HistogramOptions& options) {
  if (options.bins.rule()) {
    return {ErrorKind::usage,
            source.name() + ": a histogram whose bins follow a rule reads it more than once",
            {.why = "it can be read once; the first pass looks at all values for the rule",
             .hint = "give a range and a number of bins"}};
  }
  return {ErrorKind::usage,
          source.name() + ": a histogram without a range reads it twice",
          {.why = "it can be read once; the first pass looks for the range",
           .remedies = {{RemedyAction::set, "HistogramOptions::range"}}}};
}

std::optional<ChosenBins> find_bins(Passes& passes, const Source& source,
                                    const HistogramOptions& options) {
  if (source.is_produced()) throw read_once(source, options);
  return ooc::visit(source.element(), [&]<class T>(std::type_identity<T>) {
    const std::optional<Survey> survey = survey_of<T>(passes, source, options);
    if (!survey) return std::optional<ChosenBins>{};
    return std::optional(bins_over(*survey, options, source.element(), path_of(source)));
  });
}

Extremes take_extremes(ByteReader& bytes, std::uint64_t elements) {
  const auto extremes = bytes.take<Extremes>();
  const auto& [lowest, highest, nan, below, above] = extremes;
  const bool has_others =
      nan <= elements && below <= elements - nan && above <= elements - nan - below;
  const bool any_finite = has_others && nan + below + above != elements;
  const bool is_finite = std::isfinite(lowest) && std::isfinite(highest) && lowest <= highest;
  if (has_others && any_finite == is_finite) return extremes;
  throw Error(ErrorKind::bad_input, "a saved partial result has extremes of no values");
}

ChosenBins bins_over(const Extremes& extremes, const HistogramOptions& options, ElementType type,
                     const std::filesystem::path& path) {
  return bins_over(Survey{.extremes = extremes}, options, type, path);
}

Error input_changed(const std::filesystem::path& path) {
  return {ErrorKind::input_changed, "the input changed while it was read",
          details_of(path, "the last pass found values that the first did not",
                     "count when no program writes to it",
                     {{RemedyAction::set, "HistogramOptions::range"}})};
}

Stats without_results(Stats stats) {
  stats.outcome.records = stats.outcome.bytes = 0;
  return stats;
}

void complete(Histogram& histogram, const Source& source, const HistogramOptions& options,
              const std::optional<ChosenBins>& chosen, const Stats& stats) {
  check_count(histogram, stats.outcome.records);
  const bool partial = stats.outcome.partial;
  if (chosen) check_unchanged(histogram, *chosen, partial, path_of(source));
  if (stats.outcome.records == 0 && !partial) {
    histogram = empty_histogram(source.element(), options);
  }
}

}  // namespace ooc::detail::binning

namespace ooc {

using namespace detail;

Result<PartialResult<ChosenBins>> collect_bins(Coordinator& coordinator, const Source& section,
                                               const HistogramOptions& options,
                                               const PassOptions& wanted) {
  binning::require_unknown_bins(section.element(), options);
  return visit(section.element(), [&]<class T>(std::type_identity<T>) {
    const std::uint64_t all = section.whole_bytes() / section.element_bytes();
    return collect(coordinator, binning::ChooseBins<T>(options, all, path_of(section)), section,
                   wanted);
  });
}

PartialResult<ChosenBins> load_bins(ElementType type, const HistogramOptions& options,
                                    std::span<const std::byte> saved) {
  binning::require_unknown_bins(type, options);
  return visit(type, [&]<class T>(std::type_identity<T>) {
    return load_part(binning::ChooseBins<T>(options, 0, {}), saved);
  });
}

void require_unchanged(const ChosenBins& chosen, const Histogram& histogram) {
  binning::check_unchanged(histogram, chosen, false, {});
}

}  // namespace ooc

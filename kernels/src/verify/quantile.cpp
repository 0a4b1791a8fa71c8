#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "verify/plain_check.hpp"

// Check of quantile(). An element has a rank if fewer elements than that are below it, and more are
// below it or equal to it. So one pass over the data proves all elements of a result.

namespace ooc {

using namespace detail;

namespace {

using plain::require_same;

/// The order of values: that of numbers, with -0 before +0.
template <class Value>
bool comes_before(Value one, Value other) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (one == 0 && other == 0) return std::signbit(one) && !std::signbit(other);
  }
  return one < other;
}

template <class Value>
Value value_in(const Scalar& scalar) {
  if constexpr (std::is_floating_point_v<Value>)
    return std::get<double>(scalar);
  else
    return static_cast<Value>(std::get<int128>(scalar));
}

/// Counts of elements that are below, and equal to, each of some values.
template <class Value>
struct Counts {
  const std::vector<Value>* values = nullptr;  // in their order, each once
  std::vector<std::uint64_t> between{};        // elements below each value, and not below another
  std::vector<std::uint64_t> equal{};
  std::uint64_t count = 0, nan = 0;

  explicit Counts(const std::vector<Value>& all)
      : values(&all), between(all.size() + 1), equal(all.size()) {}

  std::size_t bytes() const { return (between.size() + equal.size()) * sizeof(std::uint64_t); }

  template <class T>
  void take(std::span<const T> elements, std::uint64_t /*first*/) {
    count += elements.size();
    for (const T element : elements) {
      const Value value = plain::value_of(element);
      if (value != value) {
        ++nan;
        continue;
      }
      const auto found =
          std::lower_bound(values->begin(), values->end(), value, comes_before<Value>);
      const auto index = static_cast<std::size_t>(found - values->begin());
      const bool is_equal = found != values->end() && !comes_before(value, *found);
      ++(is_equal ? equal : between)[index];
    }
  }

  void merge(const Counts& other) {
    count += other.count;
    nan += other.nan;
    for (std::size_t i = 0; i < between.size(); ++i) between[i] += other.between[i];
    for (std::size_t i = 0; i < equal.size(); ++i) equal[i] += other.equal[i];
  }

  /// Returns the lowest rank of a value, and the first rank behind it.
  std::pair<std::uint64_t, std::uint64_t> ranks_of(Value value) const {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < values->size(); ++i) {
      below += between[i];
      if (!comes_before((*values)[i], value)) return {below, below + equal[i]};
      below += equal[i];
    }
    return {below, below};
  }
};

/// Where NumPy looks for a quantile, as a rank that may have a fraction.
double place_of(QuantileMethod method, double q, double n) {
  const auto by_parameters = [&](double alpha, double beta) {
    const double shift = alpha + q * (1 - alpha - beta);
    return n * q + shift - 1;
  };
  const double place = (n - 1) * q;
  switch (method) {
    case QuantileMethod::linear: return place;
    case QuantileMethod::lower: return std::floor(place);
    case QuantileMethod::higher: return std::ceil(place);
    case QuantileMethod::nearest: return std::rint(place);
    case QuantileMethod::midpoint: return 0.5 * (std::floor(place) + std::ceil(place));
    case QuantileMethod::inverted_cdf: return std::ceil(n * q - 1);
    case QuantileMethod::averaged_inverted_cdf: return n * q - 1;
    case QuantileMethod::interpolated_inverted_cdf: return by_parameters(0, 1);
    case QuantileMethod::hazen: return by_parameters(0.5, 0.5);
    case QuantileMethod::weibull: return by_parameters(0, 0);
    case QuantileMethod::median_unbiased: return by_parameters(1.0 / 3, 1.0 / 3);
    case QuantileMethod::normal_unbiased: return by_parameters(0.375, 0.375);
  }
  __builtin_unreachable();
}

bool is_element(QuantileMethod method) {
  return method == QuantileMethod::lower || method == QuantileMethod::higher ||
         method == QuantileMethod::nearest || method == QuantileMethod::inverted_cdf;
}

/// Returns the value between the elements that were found, as NumPy computes it.
double value_between(QuantileMethod method, double place, double n, double low, double high) {
  double base = std::floor(place);
  if (place >= n - 1) base = -1;
  if (place < 0) base = 0;
  double part = place - base;
  if (method == QuantileMethod::midpoint) part = std::fmod(place, 1) == 0 ? 0 : 0.5;
  if (method == QuantileMethod::averaged_inverted_cdf) part = part == 0 ? 0.5 : 1;
  const double width = high - low;
  return part < 0.5 ? low + width * part : high - width * (1 - part);
}

template <class Value>
void check_rank(const Source& source, const Counts<Value>& seen, const Scalar& element,
                std::uint64_t rank) {
  const auto [first, end] = seen.ranks_of(value_in<Value>(element));
  const std::string name = to_string(element);
  if (first == end) {
    throw plain::difference(source, "the number of elements " + name, int128{1}, int128{0},
                            "a quantile depends on elements of the data only");
  }
  const std::uint64_t nearest = std::clamp(rank, first, end - 1);
  require_same(source, "the rank of " + name, int128{nearest}, int128{rank});
}

template <class Value>
void check_quantile(const Source& source, const QuantileOptions& options, const Quantile& found,
                    const Counts<Value>& seen) {
  const std::uint64_t values = seen.count - seen.nan;
  const auto n = static_cast<double>(values);
  const double place = place_of(options.method, found.q, n);
  const double inside = std::clamp(place, 0.0, n - 1);
  const auto lower = std::min(static_cast<std::uint64_t>(inside), values - 1);
  const bool at_one = is_element(options.method) || place < 0 || place >= n - 1;
  check_rank(source, seen, found.lower, lower);
  check_rank(source, seen, found.upper, at_one ? lower : std::min(lower + 1, values - 1));
  const Scalar value = is_element(options.method)
                           ? found.lower
                           : Scalar{value_between(options.method, place, n, found.lower.value(),
                                                  found.upper.value())};
  require_same(source, "the quantile " + to_string(Scalar{found.q}), found.value, value);
}

/// Throws unless no element was found, in data that have no quantiles.
void check_nothing(const Source& source, const Quantiles& found, const Scalar& nothing) {
  for (const Quantile& each : found.quantiles) {
    for (const Scalar& value : {each.value, each.lower, each.upper}) {
      require_same(source, "the quantile " + to_string(Scalar{each.q}), value, nothing);
    }
  }
}

/// Returns the elements of a result in their order, each once.
template <class Value>
std::vector<Value> elements_in(const Quantiles& found) {
  std::vector<Value> values;
  for (const Quantile& each : found.quantiles) {
    for (const Scalar& element : {each.lower, each.upper}) {
      if (element.has_value()) values.push_back(value_in<Value>(element));
    }
  }
  std::erase_if(values, [](Value value) { return value != value; });
  std::sort(values.begin(), values.end(), comes_before<Value>);
  const auto same = [](Value one, Value other) { return !comes_before(one, other); };
  values.erase(std::unique(values.begin(), values.end(), same), values.end());
  return values;
}

template <class T>
void verify(Coordinator& coordinator, const Source& source, const QuantileOptions& options,
            const Quantiles& found, const PassOptions& wanted) {
  using Value = decltype(plain::value_of(T{}));
  const std::vector<Value> elements = elements_in<Value>(found);
  const auto seen =
      plain::look_at_all<T>(coordinator.options(), wanted, source, Counts<Value>(elements));
  require_same(source, "count", int128{found.count}, int128{seen.count});
  require_same(source, "nan", int128{found.nan}, int128{seen.nan});
  require_same(source, "the number of quantiles", int128{found.quantiles.size()},
               int128{options.q.size()});
  if (seen.nan != 0 && options.nan == NanPolicy::propagate)
    return check_nothing(source, found, std::numeric_limits<double>::quiet_NaN());
  if (seen.nan == seen.count) return check_nothing(source, found, {});
  for (std::size_t i = 0; i < options.q.size(); ++i) {
    require_same(source, "q", found.quantiles[i].q, options.q[i]);
    check_quantile(source, options, found.quantiles[i], seen);
  }
}

}  // namespace

void verify_quantile(Coordinator& coordinator, const Source& source, const QuantileOptions& options,
                     const Quantiles& found, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  visit(source.element(), [&]<class T>(std::type_identity<T>) {
    verify<T>(coordinator, source, options, found, wanted);
  });
}

}  // namespace ooc

#include "verify/plain_check.hpp"

#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/gram.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

// Freivalds' check: for a vector v of random signs, X^T (X v) must be what the matrix times v is,
// within rounding. With X, the distances from the exact means are meant if the matrix has
// covariances. An error of an element (i, j) is at most a multiple of S_i S_j, where S_i is the
// norm of column i of X (the inequality of Cauchy and Schwarz), and so is that of this check. A
// large column would hide the errors of others, so each is divided by about its largest value, by a
// power of two.

namespace ooc {

using namespace detail;

namespace {

constexpr std::size_t vectors = 8;
using Signs = std::array<double, vectors>;
constexpr long double too_large = std::numeric_limits<double>::max() / 8;

/// The facts about a column. The sum of its values is `sum + lost`.
struct GramColumn {
  bool is_finite = true;
  long double sum = 0, lost = 0;  // and the roundings of its additions
  long double first_sum = 0;      // of the rows that the centers are found in
  long double magnitude = 0;      // sum of absolute values
  long double first = 0;          // its value in the first row
  long double largest = 0;        // of the absolute values; of a covariance, distances from `first`
  long double mean = 0;           // 0 for a gram matrix
  long double mean_error = 0;     // a bound
  long double to_center = 0;      // distance of the mean from the center
  long double squares = 0;        // of distances from the mean
  long double norm = 0;           // of the distances from the center, at most
  double scale = 1;               // power of two, by which values are multiplied for the check
  Signs signs{};                  // 0 if the column takes no part
  Signs products{};               // element of X^T (X v), scaled as all that follow
  Signs found{};                  // of the matrix times v
  Signs found_transposed{};       // of its transpose times v
  bool may_overflow = false;      // sums of its squares may be infinite

  bool takes_part() const { return is_finite && !may_overflow; }

  void add(long double value, std::uint64_t row, bool is_first, bool from_first) {
    if (!std::isfinite(value)) is_finite = false;
    if (row == 0 && from_first) first = value;
    largest = std::max(largest, std::abs(value - first));
    const long double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
    magnitude += std::abs(value);
    if (is_first) first_sum += value;
  }
};

/// Returns a bound on (1 + u)^n - 1, for the roundings of doubles.
long double gamma_of(long double n) {
  return std::expm1(n * 0x1p-53L);
}

/// Element `index` of a random sequence: SplitMix64 of Steele, Lea and Flood.
std::uint64_t random_word_of(std::uint64_t index) {
  std::uint64_t word = (index + 1) * 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

/// Returns a power of two that makes a value about 1; 1 for 0.
double scale_for(long double value) {
  constexpr int most = 1000;
  if (value == 0) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(value), -most, most));
}

/// The check of one matrix. Used by one thread.
class GramCheck {
 public:
  GramCheck(const Source& source, const Source& found, const GramOptions& options,
            const PassOptions& wanted)
      : source_(source),
        found_(found),
        options_(options),
        wanted_(wanted),
        size_(source.columns().value_or(0)),
        rows_(size_ == 0 ? 0 : source.elements() / size_),
        columns_(size_) {
    if (found.element() != ElementType::f8 || found.elements() != size_ * size_) {
      throw Error(ErrorKind::usage, found.name() + ": is no matrix of doubles of " +
                                        std::to_string(size_) + " columns");
    }
  }

  void run() {
    look_at_columns();
    multiply();
    Totals totals;
    for (const GramColumn& column : columns_) {
      if (!column.takes_part()) continue;
      totals.norms += column.norm * column.scale;
      totals.mean_errors += column.mean_error * column.scale;
      totals.scales += column.scale;
    }
    for (std::size_t row = 0; row < size_; ++row) read_found(row);
    for (std::size_t row = 0; row < size_; ++row) compare(row, totals);
  }

 private:
  /// Sums over the columns that take part, scaled.
  struct Totals {
    long double norms = 0, mean_errors = 0, scales = 0;
  };

  using LookAtRow = std::function<void(std::span<const long double> row, std::uint64_t index)>;

  /// Calls look() for each row of the source, in order.
  void for_each_row(const LookAtRow& look) const {
    std::vector<long double> row;
    std::uint64_t index = 0;
    constexpr std::size_t one_thread = 1;
    plain::read_all(wanted_, source_, one_thread,
                    [&](std::size_t, std::span<const std::byte> elements, std::uint64_t /*first*/) {
                      visit(source_.element(), [&]<class T>(std::type_identity<T>) {
                        const auto* const values = reinterpret_cast<const T*>(elements.data());
                        for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) {
                          row.push_back(plain::value_of(values[i]));
                          if (row.size() < size_) continue;
                          look(row, index++);
                          row.clear();
                        }
                      });
                    });
  }

  /// Finds the means, and the columns that are not finite.
  void look_at_columns() {
    const std::uint64_t first_rows =
        std::min<std::uint64_t>(column_tile_rows(size_ * size_of(source_.element())), rows_);
    for_each_row([&](std::span<const long double> row, std::uint64_t index) {
      for (std::size_t c = 0; c < size_; ++c) {
        columns_[c].add(row[c], index, index < first_rows, options_.covariance);
      }
    });
    const auto rows = static_cast<long double>(rows_);
    for (std::size_t c = 0; c < size_; ++c) {
      GramColumn& column = columns_[c];
      if (!column.is_finite) continue;
      // A distance from the mean is at most twice that from any value.
      const long double reach = options_.covariance ? 2 * column.largest : column.largest;
      column.may_overflow = column.magnitude >= too_large || rows * reach * reach >= too_large;
      if (column.may_overflow) continue;
      column.scale = scale_for(column.largest);
      const std::uint64_t bits = random_word_of(c + (rows_ << 16));
      for (std::size_t k = 0; k < vectors; ++k) column.signs[k] = (bits >> k & 1) != 0 ? 1 : -1;
      if (!options_.covariance) continue;
      column.mean = (column.sum + column.lost) / rows;
      column.mean_error = column.magnitude / rows * 0x1p-60L;
      column.to_center = column.mean - column.first_sum / static_cast<long double>(first_rows);
    }
  }

  /// Computes X^T (X v), and the norms of the columns.
  void multiply() {
    std::vector<double> distances(size_);
    for_each_row([&](std::span<const long double> row, std::uint64_t /*index*/) {
      Signs sums{};
      for (std::size_t c = 0; c < size_; ++c) {
        GramColumn& column = columns_[c];
        if (!column.takes_part()) continue;
        const auto distance = static_cast<double>(row[c] - column.mean);
        distances[c] = distance * column.scale;
        column.squares += static_cast<long double>(distance) * distance;
        for (std::size_t k = 0; k < vectors; ++k) sums[k] += distances[c] * column.signs[k];
      }
      for (std::size_t c = 0; c < size_; ++c) {
        for (std::size_t k = 0; k < vectors; ++k) columns_[c].products[k] += distances[c] * sums[k];
      }
    });
    const auto rows = static_cast<long double>(rows_);
    for (GramColumn& column : columns_) {
      column.norm = std::sqrt(column.squares + rows * column.to_center * column.to_center);
    }
  }

  /// Reads a row of the matrix, and multiplies it.
  void read_found(std::size_t row) {
    if (wanted_.stop.stop_requested()) {
      throw Error(ErrorKind::interrupted, "interrupted before the result was verified");
    }
    found_row_.resize(size_);
    const auto bytes = std::as_writable_bytes(std::span(found_row_));
    plain::read_elements(found_, row * size_, sizeof(double), bytes);
    plain::decode(found_.type().value_or(DType{ElementType::f8}), bytes);
    GramColumn& own = columns_[row];
    for (std::size_t c = 0; c < size_; ++c) {
      GramColumn& other = columns_[c];
      const double value = found_row_[c];
      if (!own.is_finite || !other.is_finite) {
        const bool is_right = options_.covariance ? std::isnan(value) : !std::isfinite(value);
        if (!is_right) refuse(row, c, value, "one of the columns has NaN or infinity");
        continue;
      }
      if (!own.takes_part() || !other.takes_part()) continue;
      if (!std::isfinite(value)) {
        refuse(row, c, value, "the columns have neither NaN nor infinity");
      }
      const double scaled = value * own.scale * other.scale;
      for (std::size_t k = 0; k < vectors; ++k) {
        own.found[k] += scaled * other.signs[k];
        other.found_transposed[k] += scaled * own.signs[k];
      }
    }
    if (own.takes_part()) compare_diagonal(row);
  }

  /// Returns the divisor of the sums of products.
  double divisor() const { return options_.covariance ? static_cast<double>(rows_) - 1 : 1; }

  /// Returns the bound on the errors of an element and of this check, relative to the norms.
  long double relative_bound() const {
    const auto rows = static_cast<long double>(rows_), size = static_cast<long double>(size_);
    constexpr long double of_element = 72, of_check = 16;
    const int sums = options_.covariance ? 3 : 1;
    return sums * gamma_of(rows + of_element) + gamma_of(rows + 2 * size + of_check);
  }

  void compare_diagonal(std::size_t row) const {
    const GramColumn& column = columns_[row];
    const auto rows = static_cast<long double>(rows_);
    const long double expected = column.squares / divisor();
    const long double bound = relative_bound() * column.norm * column.norm +
                              rows * column.mean_error * column.mean_error +
                              rows * std::numeric_limits<double>::min();
    if (std::abs(found_row_[row] - expected) * divisor() <= bound) return;
    throw plain::difference(found_, name_of_element(row, row), found_row_[row],
                            static_cast<double>(expected), why(bound / divisor()));
  }

  void compare(std::size_t row, const Totals& totals) const {
    const GramColumn& column = columns_[row];
    if (!column.takes_part()) return;
    const auto rows = static_cast<long double>(rows_);
    const long double of_underflow = static_cast<long double>(size_) + column.scale * totals.scales;
    const long double bound = relative_bound() * column.norm * column.scale * totals.norms +
                              rows * column.mean_error * column.scale * totals.mean_errors +
                              rows * of_underflow * std::numeric_limits<double>::min();
    for (std::size_t k = 0; k < vectors; ++k) {
      for (const double found : {column.found[k], column.found_transposed[k]}) {
        const long double difference =
            static_cast<long double>(found) * divisor() - column.products[k];
        if (std::abs(difference) <= bound) continue;
        throw plain::difference(
            found_, "the product of row " + std::to_string(row) + ", scaled, with random signs",
            found, column.products[k] / divisor(), why(bound / divisor()));
      }
    }
  }

  static std::string why(long double bound) {
    return "rounding explains " + to_string(Scalar{static_cast<double>(bound)}) + " at most";
  }

  static std::string name_of_element(std::size_t row, std::size_t column) {
    return "the element in row " + std::to_string(row) + " and column " + std::to_string(column);
  }

  [[noreturn]] void refuse(std::size_t row, std::size_t column, double value,
                           const std::string& reason) const {
    throw Error(
        ErrorKind::verify,
        found_.name() + ": " + name_of_element(row, column) + " is " + to_string(Scalar{value}),
        {.why = reason});
  }

  const Source& source_;
  const Source& found_;
  GramOptions options_;
  const PassOptions& wanted_;
  std::size_t size_;
  std::uint64_t rows_;
  std::vector<GramColumn> columns_;
  std::vector<double> found_row_{};
};

}  // namespace

void verify_gram(Coordinator& coordinator, const Source& source, const Source& found,
                 const GramOptions& options, const PassOptions& wanted) {
  const Reservation reservation = reserve(coordinator);
  GramCheck(source, found, options, wanted).run();
  found.check_unchanged();
}

}  // namespace ooc

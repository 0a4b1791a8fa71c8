#include "base/least_limit.hpp"
#include "verify/row_sums.hpp"

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/matmul.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

// For a vector x of random signs, A (B x) and C x must agree within rounding. If one element of a
// row of C is wrong by more, then for at least one of any two vectors that differ only in its sign
// the results disagree. The rounding error of element j in row i of C is bounded by
//
//     |C - A B|_ij <= product * (|A||B|)_ij
//
// x is independent of these errors, so their sum over j, with the signs of x, is at most
//
//     product * min(the sum of (|A||B|)_ij, deviations * its Euclidean norm over j).
//
// The sum is |A| (|B| 1). The norm is at most |A| r, where r_k is the norm of row k of |B|. Without
// the norm, the bound would grow with the number of columns, but the real error grows only with its
// square root. The rounding of the check itself is added.

namespace ooc {

using namespace detail;
namespace {

using freivalds::Factors;
using freivalds::RowPass;
using freivalds::RowSums;
using freivalds::vector_count;

constexpr double infinity = std::numeric_limits<double>::infinity();

// By Hoeffding's inequality, a sum of terms with random signs exceeds 10 times its norm with a
// probability of at most 2 exp(-50). No file has so many rows that this would occur.
constexpr double deviations = 10;

/// The floating format of an element type or of a precision.
struct FloatFormat {
  int bits;              // of the significand
  double largest;        // finite value
  double rounds_beyond;  // values from here on round to infinity
};

constexpr FloatFormat bf16_format{8, 0x1.fep127, 0x1.ffp127};
constexpr FloatFormat f2_format{11, 0x1.ffcp15, 0x1.ffep15};
constexpr FloatFormat tf32_format{11, 0x1.fffffep127, 0x1.ffffffp127};
constexpr FloatFormat f4_format{24, 0x1.fffffep127, 0x1.ffffffp127};
constexpr FloatFormat f8_format{53, std::numeric_limits<double>::max(), infinity};

FloatFormat format_of(ElementType element) {
  switch (element) {
    case ElementType::bf16: return bf16_format;
    case ElementType::f2: return f2_format;
    case ElementType::f4: return f4_format;
    default: return f8_format;
  }
}

FloatFormat format_of(Precision precision) {
  switch (precision) {
    case Precision::bf16: return bf16_format;
    case Precision::tf32: return tf32_format;
    case Precision::f32: return f4_format;
    case Precision::f64: return f8_format;
  }
  __builtin_unreachable();
}

/// Returns the largest relative error of rounding to so many bits.
double unit_of(int bits) {
  return std::ldexp(1.0, -bits);
}

struct ProductShape {
  std::uint64_t rows, columns, inner;
};

/// Bounds on the effects of rounding in a product.
struct ErrorBounds {
  double product;        // error of an element, relative to |A||B|
  double check;          // error of the check, relative to |A||B| 1
  double smallest;       // smaller values have the absolute rounding error of this one
  double operand_limit;  // operands of this size or more become infinite
  double product_limit;  // sums of this size or more may become infinite
};

/// Computes the bounds on (1 + u)^n - 1 as exp(n u) - 1, which holds for any n and any rounding
/// mode. Once this is no longer small, the check detects little: for f4 from some 2^24 terms on.
ErrorBounds bounds_of(Precision precision, ElementType operand, ElementType product,
                      const ProductShape& sizes) {
  const FloatFormat computed = format_of(precision);
  const FloatFormat sum = precision == Precision::f64 ? f8_format : f4_format;
  const FloatFormat stored = format_of(product);
  const int file_bits = format_of(operand).bits;
  double operand_unit = file_bits > computed.bits ? unit_of(computed.bits) : 0;
  if (file_bits > sum.bits) operand_unit += unit_of(sum.bits);  // may be converted to f4 in between
  // Tensor cores truncate instead of rounding. They may be used whenever all operands fit.
  const bool cuts = sum.bits == f4_format.bits && std::min(file_bits, computed.bits) < sum.bits;
  const double sum_unit = unit_of(cuts ? sum.bits - 1 : sum.bits);
  const double stored_unit = stored.bits < sum.bits ? unit_of(stored.bits) : 0;
  // One rounding for each multiplication and addition on the longest path of a term, and one for
  // sums that are combined from parts.
  const double sum_roundings = static_cast<double>(sizes.inner) + 2;
  // For B x, C x and A (B x). Twice, since C x is rounded relative to |C| 1, and the bound is
  // rounded too.
  const double check_roundings =
      2 * (2 * freivalds::roundings(sizes.columns) + freivalds::roundings(sizes.inner));

  return {.product = std::expm1(2 * operand_unit + sum_roundings * sum_unit + stored_unit),
          .check = std::expm1(check_roundings * unit_of(f8_format.bits)),
          .smallest = precision == Precision::f64 ? std::numeric_limits<double>::min()
                                                  : double{std::numeric_limits<float>::min()},
          .operand_limit = computed.rounds_beyond,
          .product_limit = std::min(sum.largest, stored.largest)};
}

ProductShape sizes_of(const Source& a, const Source& b, const Source& c) {
  for (const Source* matrix : {&a, &b, &c}) {
    if (matrix->shape().size() != 2 || !matrix->type()) {
      throw Error(ErrorKind::bad_input, "a matrix without a type or a shape of rows and columns",
                  {.path = path_of(*matrix)});
    }
  }
  const ProductShape sizes{c.shape()[0], c.shape()[1], a.shape()[1]};
  if (a.shape()[0] != sizes.rows || b.shape()[0] != sizes.inner || b.shape()[1] != sizes.columns) {
    const auto shape = [](const Source& matrix) {
      return std::to_string(matrix.shape()[0]) + " x " + std::to_string(matrix.shape()[1]);
    };
    throw Error(ErrorKind::bad_input,
                "a product of " + shape(a) + " and " + shape(b) + " cannot be " + shape(c));
  }
  return sizes;
}

/// Returns the peak memory of the vectors and of the sums of rows, which cannot be reduced. It is
/// as much as a few rows and columns, and so small beside large matrices.
std::uint64_t check_bytes(const ProductShape& sizes) {
  const auto [rows, columns, inner] = sizes;
  const std::uint64_t b_pass = freivalds::pass_bytes(inner, columns);
  const std::uint64_t a_pass = inner * sizeof(Factors) + freivalds::pass_bytes(rows, inner);
  const std::uint64_t c_pass = rows * sizeof(RowSums) + freivalds::pass_bytes(rows, columns);
  return columns * sizeof(Factors) + std::max({b_pass, a_pass, c_pass});
}

/// Element `index` of a random sequence: SplitMix64 of Steele, Lea and Flood.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t word = seed + (index + 1) * 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

/// Returns `count` of the random vectors, beginning with vector `first`. Columns marked in
/// `left_out` (if it is not empty) have factors of 0.
std::vector<Factors> random_signs(std::uint64_t columns, std::size_t first, std::size_t count,
                                  const std::vector<std::uint8_t>& left_out) {
  // The seed is fixed, so that a check of the same files always has the same result.
  const std::uint64_t seed = random_word(0, first);
  std::vector<Factors> factors(columns);
  for (std::uint64_t j = 0; j < columns; ++j) {
    if (!left_out.empty() && left_out[j] != 0) continue;
    const std::uint64_t bits = random_word(seed, j);
    for (std::size_t i = 0; i < count; ++i) factors[j].vectors[i] = (bits >> i & 1) != 0 ? 1 : -1;
    factors[j].magnitude = 1;
  }
  return factors;
}

/// Runs the check, one matrix after another, on a CPU coordinator with the options of the caller's
/// coordinator. Used by one thread.
class ProductCheck {
 public:
  ProductCheck(const Coordinator& caller, const Source& a, const Source& b, const Source& c,
               Precision precision, std::size_t rounds, const PassOptions& wanted)
      : a_(a),
        b_(b),
        c_(c),
        sizes_(sizes_of(a, b, c)),
        bounds_(bounds_of(precision, a.type()->element, c.type()->element, sizes_)),
        total_bytes_(rounds * (a.bytes() + b.bytes() + c.bytes())),
        coordinator_(make_device(DeviceKind::cpu), options_for(caller.options())),
        wanted_{.stop = wanted.stop, .progress = as_one(wanted.progress)} {}

  /// Checks with `count` random vectors, beginning with vector `first`.
  void run(std::size_t first, std::size_t count, Verification& result);

 private:
  std::optional<Options> options_beside_vectors(Options options) const;
  Options options_for(Options options) const;
  std::function<void(const Progress&)> as_one(std::function<void(const Progress&)> report) const;
  RowPass pass(const Source& matrix, std::uint64_t rows, std::uint64_t columns,
               const std::vector<Factors>& factors, double limit);
  std::vector<Factors> factors_of(const std::vector<RowSums>& rows_of_b) const;
  double ratio_of(const RowSums& expected, const RowSums& found, const Factors& underflow,
                  std::uint64_t left_out) const;

  const Source& a_;
  const Source& b_;
  const Source& c_;
  ProductShape sizes_;
  ErrorBounds bounds_;
  std::uint64_t total_bytes_;  // of all passes
  std::uint64_t bytes_done_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Coordinator coordinator_;
  PassOptions wanted_;
};

/// Returns options with a memory limit that leaves room for the vectors. Empty if a pass does not
/// fit within that limit.
std::optional<Options> ProductCheck::options_beside_vectors(Options options) const {
  const std::uint64_t needed = check_bytes(sizes_);
  if (needed >= options.memory_bytes) return {};
  options.memory_bytes -= needed;
  try {
    for (const Source* matrix : {&a_, &b_, &c_}) {
      dry_run_pass(options, DeviceKind::cpu, {*matrix, size_of(matrix->type()->element)});
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return {};
  }
  return options;
}

/// Returns options with a memory limit that leaves room for the vectors. Throws Error(memory).
Options ProductCheck::options_for(Options options) const {
  options.ranks = nullptr;
  if (options.memory_bytes == 0) return options;
  if (const auto beside = options_beside_vectors(options)) return *beside;
  throw with_least_limit(
      {ErrorKind::memory,
       "the check needs " + std::to_string(check_bytes(sizes_)) +
           " bytes for its vectors and room for a chunk beside them, the limit is " +
           std::to_string(options.memory_bytes),
       {.remedies = {{RemedyAction::raise, "Options::memory_bytes"}}}},
      options, [&](const Options& raised) { return options_beside_vectors(raised).has_value(); });
}

/// Reports the progress of all passes as if they were one.
std::function<void(const Progress&)> ProductCheck::as_one(
    std::function<void(const Progress&)> report) const {
  if (!report) return {};
  return [this, report = std::move(report)](const Progress& progress) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    report({bytes_done_ + progress.bytes, total_bytes_, elapsed.count()});
  };
}

RowPass ProductCheck::pass(const Source& matrix, std::uint64_t rows, std::uint64_t columns,
                           const std::vector<Factors>& factors, double limit) {
  RowPass result =
      freivalds::sum_rows(coordinator_, matrix, rows, columns, factors, limit, wanted_);
  bytes_done_ += matrix.bytes();
  return result;
}

/// Returns B x, and bounds on |B|. The bounds include the error of values below the smallest normal
/// number.
std::vector<Factors> ProductCheck::factors_of(const std::vector<RowSums>& rows_of_b) const {
  const auto columns = static_cast<double>(sizes_.columns);
  std::vector<Factors> factors(rows_of_b.size());
  std::ranges::transform(rows_of_b, factors.begin(), [&](const RowSums& row) {
    Factors result = row.sums;
    // From the sum and the largest element, since squares might overflow.
    result.norm = std::sqrt(row.largest) * std::sqrt(row.sums.magnitude) +
                  std::sqrt(columns) * bounds_.smallest;
    result.magnitude += columns * bounds_.smallest;
    return result;
  });
  return factors;
}

constexpr double wrong = infinity;
constexpr double unknown = -1;

/// Returns the largest ratio of a difference in a row of C to its rounding bound; or `wrong`, or
/// `unknown`.
double ProductCheck::ratio_of(const RowSums& expected, const RowSums& found,
                              const Factors& underflow, std::uint64_t left_out) const {
  // NaN or infinity in A must make its whole row of C not finite, and in B its whole column, since
  // neither becomes finite again. Which values exactly they become is not checked.
  const std::uint64_t in_left_out = found.nonfinite - found.nonfinite_used;
  if (in_left_out != left_out) return wrong;
  if (expected.nonfinite != 0) return found.nonfinite == sizes_.columns ? unknown : wrong;

  const double norm = expected.sums.norm + underflow.norm;
  const bool overflows = !(norm * (1 + bounds_.product) < bounds_.product_limit);
  if (found.nonfinite_used != 0) return overflows ? unknown : wrong;

  const double magnitude = expected.sums.magnitude + underflow.magnitude;
  const double bound =
      bounds_.product * std::min(magnitude, deviations * norm) + bounds_.check * magnitude;
  if (!(bound < infinity)) return unknown;
  double largest = 0;
  for (std::size_t i = 0; i < vector_count; ++i) {
    const double difference = std::abs(expected.sums.vectors[i] - found.sums.vectors[i]);
    if (!(difference < infinity)) return wrong;
    largest = std::max(largest, difference);
  }
  return largest == 0 ? 0 : largest / bound;
}

void ProductCheck::run(std::size_t first, std::size_t count, Verification& result) {
  const auto [rows, columns, inner] = sizes_;
  std::vector<Factors> x = random_signs(columns, first, count, {});
  RowPass b = pass(b_, inner, columns, x, bounds_.operand_limit);
  std::uint64_t left_out = 0;
  // Columns of C that depend on them can hold anything, so read B again without them.
  if (!b.nonfinite_columns.empty()) {
    x = random_signs(columns, first, count, b.nonfinite_columns);
    left_out = static_cast<std::uint64_t>(std::ranges::count(b.nonfinite_columns, 1));
    total_bytes_ += b_.bytes();
    b = pass(b_, inner, columns, x, bounds_.operand_limit);
  }
  const std::vector<Factors> y = factors_of(std::exchange(b, {}).rows);
  const std::vector<RowSums> expected = pass(a_, rows, inner, y, bounds_.operand_limit).rows;
  const std::vector<RowSums> found = pass(c_, rows, columns, x, infinity).rows;

  // Bounds the error of terms from elements of A below the smallest normal number, and of terms
  // that are themselves below it.
  Factors underflow{.magnitude = static_cast<double>(columns), .norm = std::sqrt(columns)};
  underflow.magnitude *= static_cast<double>(inner);
  underflow.norm *= static_cast<double>(inner);
  for (const Factors& row : y) {
    underflow.magnitude += row.magnitude;
    underflow.norm += row.norm;
  }
  underflow.magnitude *= bounds_.smallest;
  underflow.norm *= bounds_.smallest;

  result.unchecked_rows = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const double ratio = ratio_of(expected[row], found[row], underflow, left_out);
    if (ratio == unknown) ++result.unchecked_rows;
    if (ratio <= result.largest_ratio) continue;
    result.largest_ratio = ratio;
    result.worst_row = row;
  }
}

}  // namespace

Verification verify_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                           const Source& c, Precision precision, std::size_t vectors,
                           const PassOptions& wanted) {
  if (vectors == 0) throw Error(ErrorKind::usage, "a check needs at least one random vector");
  ProductCheck check(coordinator, a, b, c, precision, (vectors + vector_count - 1) / vector_count,
                     wanted);
  Verification result;
  result.vectors = vectors;
  for (std::size_t first = 0; first < vectors; first += vector_count) {
    check.run(first, std::min(vectors - first, vector_count), result);
  }
  result.passed = result.largest_ratio <= 1;
  return result;
}

}  // namespace ooc

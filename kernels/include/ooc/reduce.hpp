#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ooc {

/// An integer of 128 bits, in which sums of integers are exact.
__extension__ using int128 = __int128;

/// A value of a dataset, or a sum of values: an exact integer for integer types, a double for
/// floating types, empty if there is no such value (for example the minimum of no elements).
///
///     const ooc::Statistics found = ooc::reduce(coordinator, source).value;
///     if (found.max.has_value()) std::cout << found.max.value() << '\n';  // as a double
///     std::cout << to_string(found.sum) << '\n';                         // all digits
///
/// It is a std::variant: std::get<ooc::int128>() returns an integer exactly.
class OOC_API Scalar : public std::variant<std::monostate, int128, double> {
 public:
  using variant::variant;

  /// True unless there is no value.
  bool has_value() const noexcept { return !std::holds_alternative<std::monostate>(*this); }
  /// True if the value is an exact integer.
  bool is_integer() const noexcept { return std::holds_alternative<int128>(*this); }

  /// Returns the nearest double. Throws Error(usage) if there is none.
  double value() const;
};

/// Returns all digits, in base ten.
OOC_API std::string to_string(int128 value);

/// Returns the shortest text that reads back as the same value; "nothing" if there is none.
OOC_API std::string to_string(const Scalar& number);

/// How NaN is treated. `propagate`: one NaN makes all statistics NaN, as in NumPy's functions.
/// `omit`: NaN is skipped, as in NumPy's nan-functions.
enum class NanPolicy { propagate, omit };

/// Options of reduce().
struct ReduceOptions {
  NanPolicy nan = NanPolicy::propagate;  ///< the treatment of NaN

  /// Round sum and mean once, from their exact values, to the nearest double, ties to even. Slower:
  /// every element is also added to exact counters.
  bool exact = false;
};

/// Statistics of all elements. Without elements the sum is 0 and the other values are empty.
struct Statistics {
  std::uint64_t count = 0;  ///< all elements, including NaN and infinities
  std::uint64_t nan = 0;    ///< elements that are NaN
  std::uint64_t inf = 0;    ///< elements that are infinite, of either sign
  Scalar sum;               ///< of all elements
  Scalar min;               ///< the element at argmin
  Scalar max;               ///< the element at argmax

  std::optional<std::uint64_t> argmin;  ///< first index of the minimum; -0 equals +0
  std::optional<std::uint64_t> argmax;  ///< first index of the maximum; -0 equals +0

  std::optional<double> mean;      ///< sum / count
  std::optional<double> variance;  ///< of the population: the mean of the squared deviations
  std::optional<double> stddev;    ///< the square root of the variance
};

/// Elements of a tile, the unit from which floating-point results are built up.
inline constexpr std::size_t tile_elements = 65536;

/// Computes all statistics of a source in one pass, on the coordinator's device. A source without a
/// type is taken as bytes (u1). Integer sums are exact (128 bits). Floating sums, mean and variance
/// are computed in double precision and have the same bits for any chunk size, number of streams,
/// engine and device: each tile has 256 interleaved sums and a second loop for the squared
/// deviations, and tiles are merged in a binary tree by the formula of Chan, Golub and LeVeque
/// (1979).
///
///     const auto [found, stats] = ooc::reduce(coordinator, source);
///     std::cout << to_string(found.sum) << '\n';
///
/// With ReduceOptions::exact, the sum is infinite only if it is beyond the largest double or if an
/// element is infinite. The mean of finite elements is always finite. Variance is never exact.
///
/// Data in Fortran order (Format::by_columns) are read in the order of the file. Only argmin and
/// argmax depend on the order of the indices: they count in row-major order, as NumPy's do.
///
/// Throws Error as fold() does.
[[nodiscard]] OOC_API Result<Statistics> reduce(Coordinator& coordinator, const Source& source,
                                                const ReduceOptions& options = {},
                                                const PassOptions& wanted = {});

/// reduce() as an operator, for a known element type, so that it can be folded together with other
/// operators in one pass.
template <IsElement T>
class OOC_API Reduction {
 public:
  using Input = T;                                       ///< the element type of the source
  using Partial = OpaquePartial;                         ///< the statistics of tiles
  static constexpr Merge merge_order = Merge::by_place;  ///< Partials keep their place.
  static constexpr std::size_t partition_records = tile_elements;   ///< Partitions are tiles.
  static constexpr bool same_bits_everywhere = true;                ///< See FoldOperator.
  static constexpr std::string_view partial_name = "ooc.reduce/2";  ///< See SavableFold.

  /// The options are those of reduce(). `column_major` is Source::column_major(). Without it,
  /// argmin and argmax of data in Fortran order are indices in the order of the file.
  explicit Reduction(ReduceOptions options = {}, std::vector<ColumnMajorArray> column_major = {})
      : options_(options), column_major_(std::move(column_major)) {}

  /// Makes a partial of no elements, for the stream's device.
  Partial make_partial(Stream& stream) const;
  /// Adds the elements of a chunk, which consists of whole tiles except at the end of the data.
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const;
  /// Extracts the exact sums from their counters, if ReduceOptions::exact is set.
  void finish(Stream& stream, std::span<Partial> partials) const;
  /// Moves the tiles of `part` to `total`.
  void merge(Partial& total, Partial& part) const;
  /// Returns the statistics of all tiles.
  Statistics result(Partial total) const;

  /// Returns the element type and the options, as text.
  std::string question() const;
  /// Appends the tiles of `total` to `out`, and the exact sum if there is one.
  void save(const Partial& total, std::vector<std::byte>& out) const;
  /// Restores a total that save() wrote. Throws Error(bad_input) for other bytes.
  void load(std::span<const std::byte> in, Partial& total) const;
  /// Returns the number of elements in a total.
  std::uint64_t records_in(const Partial& total) const;
  /// Returns the level and the index of each node of a total in the tree of tiles.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> nodes_in(const Partial& total) const;

 private:
  ReduceOptions options_;
  std::vector<ColumnMajorArray> column_major_;
};

/// Computes reduce() of a section of a source, or of a whole one, as a PartialResult (see
/// collect()). A section begins and ends at multiples of tile_elements, or at the end of the data.
/// Throws Error as collect() does.
[[nodiscard]] OOC_API Result<PartialResult<Statistics>> collect_reduce(
    Coordinator& coordinator, const Source& section, const ReduceOptions& options = {},
    const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<Statistics> load_reduce(ElementType type,
                                                            const ReduceOptions& options,
                                                            std::span<const std::byte> saved);

/// Verifies a result of reduce() on a whole source, given the same options. Reads the source once
/// more, through the page cache and on the CPU, one value at a time, adds exactly, and shares no
/// other code with reduce(). All statistics must be equal, except that floating sums, mean and
/// variance may differ within proven bounds on rounding (unless they are exact); if not, throws
/// Error(verify), which names the first difference. Throws also as a pass does, and
/// Error(interrupted) if it is stopped. Uses Options::streams or Options::threads threads, or by
/// default one for each core.
OOC_API void verify_reduce(Coordinator& coordinator, const Source& source,
                           const ReduceOptions& options, const Statistics& found,
                           const PassOptions& wanted = {});

/// Rows of a tile of reduce_columns(), given the size of a row (bytes): 1024 if they have at most
/// 8 MiB, else the largest power of two that has, but at least 16.
constexpr std::size_t column_tile_rows(std::size_t row_bytes) {
  constexpr std::size_t most = 1024, least = 16, most_bytes = std::size_t{8} << 20;
  return std::clamp(std::bit_floor(most_bytes / row_bytes), least, most);
}

/// Computes the statistics of each column of a source in one pass, as NumPy's functions do with
/// `axis=0`: those of all elements with the same place in their row (see Source::columns()). A
/// result has Source::columns() elements, and argmin and argmax are indices of rows.
///
///     const ooc::Source points = ooc::open("points.npy");  // of shape (1000000, 3)
///     const auto [columns, stats] = ooc::reduce_columns(coordinator, points);
///     for (const ooc::Statistics& column : columns) std::cout << *column.mean << '\n';
///
/// Results are as exact as those of reduce(), and have the same bits for any chunk size, number of
/// streams, engine and device: a tile (see column_tile_rows()) has 32 interleaved sums for each
/// column, and tiles are merged as there. A stream needs up to 450 bytes of memory for a column,
/// and the pass 200, and 90 for each doubling of the number of tiles.
///
/// Throws Error(usage) with ReduceOptions::exact; Error(bad_input) for data in Fortran order, and
/// for rows of different lengths or without elements; and as fold() does.
[[nodiscard]] OOC_API Result<std::vector<Statistics>> reduce_columns(
    Coordinator& coordinator, const Source& source, const ReduceOptions& options = {},
    const PassOptions& wanted = {});

/// Returns the plan of reduce_columns() for these arguments: how it would read and why, and the
/// number of bytes. Throws the errors that it would throw before it reads.
OOC_API Stats dry_run_reduce_columns(const Options& machine, DeviceKind device,
                                     const Source& source, const ReduceOptions& options = {},
                                     const PassOptions& wanted = {});

/// Computes reduce_columns() of a section of a source, or of a whole one, as a PartialResult (see
/// collect()). A section begins and ends at multiples of column_tile_rows() rows, or at the end of
/// the data. Throws Error as reduce_columns() and collect() do.
[[nodiscard]] OOC_API Result<PartialResult<std::vector<Statistics>>> collect_reduce_columns(
    Coordinator& coordinator, const Source& section, const ReduceOptions& options = {},
    const PassOptions& wanted = {});

/// Restores such a part from the bytes of PartialResult::save(). Throws Error as load_part() does.
[[nodiscard]] OOC_API PartialResult<std::vector<Statistics>> load_reduce_columns(
    ElementType type, std::size_t columns, const ReduceOptions& options,
    std::span<const std::byte> saved);

/// Verifies a result of reduce_columns() on a whole source, as verify_reduce() does, with
/// Source::columns() times the memory.
OOC_API void verify_reduce_columns(Coordinator& coordinator, const Source& source,
                                   const ReduceOptions& options, std::span<const Statistics> found,
                                   const PassOptions& wanted = {});

/// The results of reduce_rows(): one of the Statistics.
enum class RowValue : std::uint8_t {
  sum,
  mean,
  minimum,
  maximum,
  argmin,
  argmax,
  variance,
  stddev
};

/// Options of reduce_rows().
struct ReduceRowsOptions {
  RowValue value = RowValue::sum;        ///< what is written for each row
  NanPolicy nan = NanPolicy::propagate;  ///< the treatment of NaN
};

/// Returns the type of the results for rows of elements `type`. Sums of integers are i8, but u8 for
/// u8 (NumPy has u8 for all unsigned types, with the same values); extremes have the type of the
/// elements, their indices are i8, and all else is f8.
OOC_API ElementType row_value_type(ElementType type, RowValue value);

/// Writes a result for each row of a source, such as its mean, as NumPy's functions do with
/// `axis=1` for two dimensions. A row is all elements with the same first index, so it may have
/// several dimensions: those after the first are reduced together.
/// The source is read once. Returns the number of rows.
///
///     // images.npy has the shape (60000, 28, 28), and means.npy (60000,)
///     ooc::reduce_rows(coordinator, ooc::open("images.npy"), {"means.npy"},
///                      {.value = ooc::RowValue::mean});
///
/// A result has the bits that reduce() finds for the row alone, with these exceptions:
///
///  -  Sums of integers wrap around, as in NumPy.
///  -  An extreme is an element of the row, with its bits: the first NaN if one propagates. In a
///     row of nothing but NaN that are omitted it is NaN, and its index -1.
///
/// The target has one dimension unless it names a shape, and the type of the results in this
/// machine's byte order unless it names one. A GPU takes 10 MiB for each stream beside its buffers.
/// Throws Error as map() does, `bad_input` for structs, for arrays that are stored column by
/// column, for rows of different lengths and for those without elements, and `usage` for a target
/// of another type.
OOC_API Result<std::uint64_t> reduce_rows(Coordinator& coordinator, const Source& source,
                                          const Target& target,
                                          const ReduceRowsOptions& options = {},
                                          const PassOptions& wanted = {});

/// Returns the plan of reduce_rows() for these arguments. Checks that the target can be written,
/// and leaves no file behind. Throws the errors that reduce_rows() would throw before it reads.
OOC_API Stats dry_run_reduce_rows(const Options& machine, DeviceKind device, const Source& source,
                                  const Target& target, const ReduceRowsOptions& options = {},
                                  const PassOptions& wanted = {});

/// Checks results of reduce_rows() as verify_reduce() does those of reduce(), on one thread that
/// reads rows and results in step. Throws Error: `verify` if they differ; `input`, `input_changed`;
/// `interrupted` if stopped.
///
/// `found`: the target of reduce_rows(), opened with its type.
OOC_API void verify_reduce_rows(Coordinator& coordinator, const Source& source, const Source& found,
                                const ReduceRowsOptions& options = {},
                                const PassOptions& wanted = {});

}  // namespace ooc

#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/fold.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <vector>

namespace ooc {

inline constexpr std::size_t max_gram_columns = 32768;  ///< most columns of gram()

/// Options of gram().
struct GramOptions {
  bool covariance = false;  ///< the covariance matrix of the columns
};

/// Computes X^T X, where X is the matrix that a source holds: rows of D elements (see
/// Source::columns()) of any type. All values become doubles. Returns D x D doubles, row by row;
/// the matrix is symmetric to the bit. The source is read once; for a covariance, its first rows
/// are read before. With GramOptions::covariance, computes the covariance matrix of the columns
/// instead, as `numpy.cov(X, rowvar=False)`, which divides by the number of rows minus one.
///
///     const ooc::Source points = ooc::open("points.npy");  // of shape (1000000, 3)
///     const auto [products, stats] = ooc::gram(coordinator, points);
///     std::cout << products[0 * 3 + 1] << '\n';  // of the first and the second column
///
/// For a covariance, rows have a vector of centers c subtracted first: the means of the first
/// column_tile_rows() rows, or their value if it is the same in all of them. So a large mean costs
/// no digits, and the covariance of a constant column is 0. Integers of 64 bits are subtracted
/// exactly.
///
/// Error bound, elementwise, unless a product or a distance underflows or overflows, where v =
/// 2^-53 and gamma(n) = n v / (1 - n v):
///
///  -  gram: |error| <= gamma(rows + 64) |X|^T |X|, for values that are doubles; integers beyond
///     2^53 are rounded first.
///  -  covariance: |error| <= 3 gamma(rows + 72) sqrt(s_i s_j), where s_i is the sum of squares of
///     x_i - c_i over all rows, divided by rows - 1. That is the variance, unless the first rows
///     differ much from the others.
///
/// Rows are multiplied in blocks, by cuBLAS or OpenBLAS, and the products are added in the order of
/// the blocks. Size and order of the blocks depend on D and on the kind of the device only. So the
/// result has the same bits for any chunk size, number of streams and engine, unless another part
/// of the program sets the number of threads of OpenBLAS meanwhile. A GPU, another version of the
/// library or another processor may round differently. Where all values and sums are integers below
/// 2^53, a gram matrix is exact.
///
/// NaN and infinities propagate: a column that has one makes its row and column of X^T X NaN or
/// infinite, as in `X.T @ X`, and those of a covariance NaN, as in NumPy. Sums of products that
/// overflow become infinite; a covariance of columns whose sums of distances overflow is NaN.
///
/// Memory on the host: 8 D^2 bytes, or up to 110 MB for fewer than 2,900 columns, where several
/// matrices are added up; and for each stream a block of rows as doubles, of 2 MiB or 256 rows.
/// With a GPU, there is one matrix on the host and one in its memory, and blocks of 32 MiB or 256
/// rows there. Options::memory_bytes counts what is on the host. Only the first device of a
/// coordinator computes.
///
/// Throws Error: `bad_input` for data in Fortran order, for rows of different lengths or without
/// elements, for more than max_gram_columns columns, and for a covariance of fewer than two rows;
/// `usage` for a covariance of a producer, whose first rows are read twice, or of a section that
/// does not begin at a multiple of column_tile_rows(), with a checkpoint, and for several ranks;
/// `device` if the library is not installed; and as a pass does.
[[nodiscard]] OOC_API Result<std::vector<double>> gram(Coordinator& coordinator,
                                                       const Source& source,
                                                       const GramOptions& options = {},
                                                       const PassOptions& wanted = {});

/// Computes the covariance matrix of the columns of a source: gram() with GramOptions::covariance.
///
///     const auto [matrix, stats] = ooc::covariance(coordinator, ooc::open("points.npy"));
[[nodiscard]] inline Result<std::vector<double>> covariance(Coordinator& coordinator,
                                                            const Source& source,
                                                            const PassOptions& wanted = {}) {
  return gram(coordinator, source, {.covariance = true}, wanted);
}

/// Returns the plan of gram() for these arguments: how it would read and why, the number of bytes,
/// and the memory. Throws the errors that gram() would throw before it reads, but those of
/// checkpoints, ranks and sections.
OOC_API Stats dry_run_gram(const Options& machine, DeviceKind device, const Source& source,
                           const GramOptions& options = {}, const PassOptions& wanted = {});

/// Verifies a result of gram(), as a source of D x D doubles, without computing it again: compares
/// its products with 8 random vectors of +1 and -1 with X^T (X v) (R. Freivalds' check), after each
/// column was divided by about its largest value or, for a covariance, distance. Reads the source
/// twice, through the page cache and on one thread of the CPU, and shares no code with gram(). A
/// correct result always passes. An error that exceeds the rounding bound of its whole row is
/// missed with a probability of at most 2^-8; those of the diagonal are compared one by one. NaN
/// and infinities must be where columns have some, and nowhere else. Nothing is said of columns
/// whose squares may overflow. Memory: some 500 bytes for each column. Throws Error: `verify` if
/// the result is wrong; `usage` if it has another shape or type; `input`, `input_changed`;
/// `interrupted` if stopped.
OOC_API void verify_gram(Coordinator& coordinator, const Source& source, const Source& found,
                         const GramOptions& options = {}, const PassOptions& wanted = {});

}  // namespace ooc

#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/fold.hpp>
#include <ooc/stats.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc {

/// The precision in which products are formed and summed. f32 and f64 follow IEEE 754. tf32 and
/// bf16 use tensor cores: operands are rounded to 11 and 8 bits of significand, and products are
/// summed in f32.
enum class Precision : std::uint8_t { f32, tf32, bf16, f64 };

/// Returns "f32", "tf32", "bf16" or "f64".
OOC_API std::string_view name_of(Precision precision);

/// Options of matmul().
struct MatmulOptions {
  std::optional<Precision> precision{};  ///< default: f64 for f8 inputs, else f32
};

/// A plan for a matrix product: the tiling, and what it costs. Bytes are payload.
struct MatmulPlan {
  std::uint64_t rows = 0;     ///< of A and C
  std::uint64_t columns = 0;  ///< of B and C
  std::uint64_t inner = 0;    ///< columns of A, equal to the rows of B
  /// C is cut into a grid of blocks, one for each device of all ranks. Sizes of tiles and memory
  /// are those of one device; numbers of bytes are totals over all devices.
  std::uint64_t row_blocks = 1, column_blocks = 1;  ///< number of rows and columns of the grid
  DType type{};                                     ///< of C
  Precision precision = Precision::f32;             ///< of products and sums
  std::string resident;         ///< the matrix of which a part stays on the device: "A", "B" or "C"
  std::uint64_t tile_rows = 0;  ///< rows of a tile of C, and of a panel of A
  std::uint64_t tile_columns = 0;               ///< columns of a tile of C, and of a panel of B
  std::uint64_t tile_inner = 0;                 ///< columns of a panel of A, rows of one of B
  std::uint64_t passes = 0;                     ///< passes over the operand that is loaded most
  std::uint64_t device_bytes = 0;               ///< device memory that the product uses
  std::uint64_t cache_bytes = 0;                ///< host memory for panels that are read again
  std::uint64_t link_bytes = 0;                 ///< to the device and back
  std::uint64_t bytes_read = 0;                 ///< from the files
  std::uint64_t bytes_written = 0;              ///< to the file
  bool direct = false;                          ///< reads bypass the page cache
  std::optional<double> page_cache_fraction{};  ///< fraction of A and B in the page cache
  double flops = 0;                             ///< floating-point operations, of all products
  /// Time of the products alone, at a rate that was measured for the plan. Empty if the product is
  /// too small for a measurement.
  std::optional<double> multiplying_seconds{};
  std::vector<Reason> reasons;  ///< why this plan was chosen
};

/// The result of a matrix product.
struct MatrixProduct {
  MatmulPlan plan;                  ///< as dry_run_matmul() returns it
  std::string library;              ///< "cuBLAS 13.0.2"
  std::uint64_t link_bytes = 0;     ///< moved to the device and back, as counted
  std::uint64_t bytes_read = 0;     ///< from the files, as counted
  std::uint64_t bytes_written = 0;  ///< to the file, as counted
};

/// Plans C = A B. Both matrices have a shape of two lengths (Source::shape: rows, columns) and the
/// same element type: f2, bf16, f4 or f8. If a target is given, checks that it can be written,
/// throws the errors of matmul() if not, and leaves no file behind. Throws Error: `bad_input` if
/// shapes or types do not match; `memory` if the limits are too low for one panel; `device` as
/// matmul() does.
OOC_API MatmulPlan dry_run_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                                  const MatmulOptions& options = {},
                                  const std::optional<Target>& target = {});

/// Returns the element type of a product whose first operand is `a`: f8 if it is computed in f64,
/// else f4. Throws Error(bad_input) if `a` has no element type.
OOC_API ElementType product_type(const Source& a, const MatmulOptions& options = {});

/// Computes C = A B. All three are in files, which may be far larger than the memory of device and
/// host. C has the type product_type(), in the byte order of `target.type`, which may be
/// empty; `target.shape` is ignored.
///
///     const ooc::Source a = ooc::open("a.npy"), b = ooc::open("b.npy");
///     ooc::matmul(coordinator, a, b, {.path = "c.npy"});
///
/// Error bound, elementwise: |C - AB| <= (2 u + gamma(inner + panels)) |A||B|, where u is the
/// rounding of the operands to the precision, gamma(n) = n v / (1 - n v), and v is the unit
/// roundoff of the sums. Where all sums are integers that the precision holds exactly, C has the
/// same bits for any limit and device.
///
/// Traffic: at most twice the lower bound of T. M. Smith and others (arXiv 1702.02017), plus
/// writing C once.
///
/// Several GPUs of a coordinator share a product, and so do several ranks (see Ranks): C is cut
/// into a block for each device. A device reads its rows of A and its columns of B, and writes its
/// block. If there are both GPUs and CPUs, only the GPUs multiply.
///
/// With a Checkpoint, a product continues after the tiles of C that an earlier run has written,
/// with the same blocks and tiling, on any number of devices. Unfinished tiles are computed again.
/// (If Checkpoint::every_seconds is 0, each tile is saved.)
///
/// Throws Error as dry_run_matmul() and as a pass does; `memory` if the tiles of an earlier run do
/// not fit.
OOC_API Result<MatrixProduct> matmul(Coordinator& coordinator, const Source& a, const Source& b,
                                     const Target& target, const MatmulOptions& options = {},
                                     const PassOptions& wanted = {});

/// The result of Freivalds' check.
struct Verification {
  std::size_t vectors = 0;  ///< number of random vectors of +1 and -1
  /// The largest ratio of difference to rounding bound, over all rows; at most 1 to pass.
  double largest_ratio = 0;
  std::uint64_t worst_row = 0;       ///< row with that ratio
  std::uint64_t unchecked_rows = 0;  ///< rows not checked because of NaN, infinity or overflow
  bool passed = false;               ///< C is A B, as far as the check can tell
};

/// Verifies C = A B without computing the product again: compares A (B x) with C x for random
/// vectors x (R. Freivalds' check), on the CPU in double precision. Reads each file once for every
/// eight vectors. `precision` is the one that C was computed in.
///
/// A correct product always passes. An error that exceeds the rounding bound of its whole row,
/// which is some 10 sqrt(columns) times the bound of one element, is missed with a probability of
/// at most 2^-vectors. NaN and infinity in A and B must appear in the rows and columns of C that
/// depend on them, and in no others unless a sum overflows.
///
/// Throws Error: `usage` if `vectors` is 0; `bad_input` if shapes or types do not fit; `memory` if
/// the limit is too low for the vectors, which take about 300 bytes for each row and column;
/// `interrupted` if stopped; and as a pass does.
[[nodiscard]] OOC_API Verification verify_matmul(Coordinator& coordinator, const Source& a,
                                                 const Source& b, const Source& c,
                                                 Precision precision, std::size_t vectors = 8,
                                                 const PassOptions& wanted = {});

}  // namespace ooc

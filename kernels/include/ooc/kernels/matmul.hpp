#pragma once

#include <ooc/fold.hpp>
#include <ooc/io/target.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc {

/// In what precision products are formed and summed: f32 and f64 as IEEE has them, tf32 and bf16
/// on tensor cores, whose operands are rounded to 11 and 8 bits and summed up in f32.
enum class Precision : std::uint8_t { f32, tf32, bf16, f64 };

/// "f32", "tf32", "bf16", "f64".
std::string_view name_of(Precision precision);

struct MatmulOptions {
  std::optional<Precision> precision{};  // default: the inputs' own, f64 for f8 and else f32
};

/// What a matrix product will do: what stays where, and what that costs. Bytes are payload.
struct MatmulPlan {
  std::uint64_t rows = 0, columns = 0, inner = 0;  // of C, of C, and what is summed over
  DType type{};                                    // of C
  Precision precision = Precision::f32;
  std::string resident;                                           // "A", "B" or "C"
  std::uint64_t tile_rows = 0, tile_columns = 0, tile_inner = 0;  // of one product on the device
  std::uint64_t passes = 0;                     // over the operand that is read most often
  std::uint64_t device_bytes = 0;               // that are needed, of those that may be used
  std::uint64_t cache_bytes = 0;                // host memory for panels that are read again
  std::uint64_t link_bytes = 0;                 // to the device and back
  std::uint64_t bytes_read = 0;                 // from the files
  std::uint64_t bytes_written = 0;              // to the file
  bool direct = false;                          // past the page cache, of which
  std::optional<double> page_cache_fraction{};  // this part of both operands lies in it
  double flops = 0;
  /// That the products will take by themselves, at a rate that was measured for the plan. Empty if
  /// there are too few to measure one.
  std::optional<double> multiplying_seconds{};
  std::vector<std::string> reasons;  // sentences: why it is done this way
};

/// What a product did.
struct Product {
  MatmulPlan plan;
  std::string library;           // "cuBLAS 13.0.2"
  std::uint64_t link_bytes = 0;  // as counted; so are the next two
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};

/// Plans C = A B for two matrices whose shapes are set (Source::shape, rows and columns) and whose
/// types are the same: f2, bf16, f4 or f8. Throws Error: `bad_input` if they do not fit together,
/// `memory` if the limits are too low for one panel. Tries whether the target could be written, if
/// there is one: throws what matmul() would, and leaves nothing of it.
MatmulPlan dry_run_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                          const MatmulOptions& options = {},
                          const std::optional<Target>& target = {});

/// The element type of a product whose first operand is `a`: f8 if it is computed in f64, else f4.
/// Throws Error(bad_input) if `a` has none, being plain bytes.
ElementType product_type(const Source& a, const MatmulOptions& options = {});

/// C = A B, all three in files that may be far larger than the device's memory and than the host's.
/// Sums of integers that stay exact in the precision have the same bits for any limit and device;
/// otherwise |C - AB| <= (2 u + gamma(inner + panels)) |A||B| elementwise, where u is the rounding
/// of the operands to `compute` and gamma has the unit of the sums. C is of
/// product_type(); `target.type` may ask for the other byte order, and `target.shape` is set here.
/// Moves at most twice the bytes of the bound of T. M. Smith and others, arXiv 1702.02017, and C.
/// Throws Error as dry_run_matmul, and as a pass does.
Result<Product> matmul(Coordinator& coordinator, const Source& a, const Source& b,
                       const Target& target, const MatmulOptions& options = {},
                       const PassOptions& wanted = {});

/// How a product stood up to Freivalds' check.
struct Verification {
  std::size_t vectors = 0;           // random ones, of +1 and -1
  double largest_ratio = 0;          // of a difference to what rounding explains; at most 1 to pass
  std::uint64_t worst_row = 0;       // where it is that large
  std::uint64_t unchecked_rows = 0;  // for NaN, infinity or overflow
  bool passed = false;
};

/// Checks C = A B without recomputing it: A (B x) against C x for random vectors x, on the CPU, in
/// double precision, reading each file once for every eight vectors. `compute`: the precision that
/// C was made with. A right product passes. An element that is further off than rounding explains
/// for its row as a whole, some 10 sqrt(columns) times what it explains for an element, goes
/// unnoticed with a probability of at most 2^-vectors. NaN and infinity in A and B must spoil their
/// rows and columns of C, and nothing else may be spoilt, unless by overflow. Throws Error:
/// `bad_input` if shapes or types do not fit, `memory` if the limit is too low for the vectors,
/// about 300 bytes a row or column, `interrupted` if stopped, and as a pass does.
Verification verify_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                           const Source& c, Precision precision, std::size_t vectors = 8,
                           const PassOptions& wanted = {});

}  // namespace ooc

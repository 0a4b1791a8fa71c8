#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/dtype.hpp>
#include <ooc/fold.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <cstdint>

namespace ooc {

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
/// u8; extremes have the type of the elements, their indices are i8, and all else is f8.
OOC_API ElementType row_value_type(ElementType type, RowValue value);

/// Writes a result for each row of a source, such as its mean, as NumPy's functions do with
/// `axis=1`. A row is all elements with the same first index, so it may have several dimensions.
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

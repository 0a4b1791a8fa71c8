#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/fold.hpp>
#include <ooc/target.hpp>

#include <cstdint>

namespace ooc {

/// Options of convert().
struct ConvertOptions {
  bool strict = false;  ///< fail, without an output file, if any value would change
  bool clip = false;    ///< values out of range become the largest or smallest finite value
};

/// The result of a conversion.
struct Conversion {
  std::uint64_t count = 0;       ///< elements converted
  std::uint64_t inexact = 0;     ///< elements whose value changed: the sum of the next three
  std::uint64_t rounded = 0;     ///< elements that became another value nearby
  std::uint64_t overflowed = 0;  ///< elements out of range: now infinite, or another integer
  std::uint64_t clipped = 0;     ///< elements out of range that ConvertOptions::clip has changed
};

/// Converts all elements of a source to `target.type`, or to the type of the source if that is
/// empty, and writes them to `target`. Any element type
/// converts to any other, in either byte order, from raw or .npy to raw or .npy. A source without a
/// type is taken as bytes (u1). The result has the same bits on every device:
///
///  -  to a float: rounded once, to nearest even; values that are too large become infinite;
///  -  a float to an integer: truncated, as by NumPy's astype. A value out of range becomes the
///     nearest value of the type, and NaN becomes 0 (NumPy defines neither);
///  -  an integer to an integer: modulo 2^bits, as by NumPy's astype.
///
/// With `options.clip`, finite values that are too large become the largest finite value of their
/// sign, and integers the nearest one of the type. Infinities remain infinite in a floating type.
///
///     ooc::convert(coordinator, source, {.path = "small.npy", .type = {ooc::ElementType::f2}});
///
/// The output has the source's shape unless `target.shape` is set. Throws Error as map() does, and
/// `bad_input` if `options.strict` and a value would change. Then no output file is left behind,
/// except with a Checkpoint: the same conversion can continue from it without `strict`.
OOC_API Result<Conversion> convert(Coordinator& coordinator, const Source& source,
                                   const Target& target, const ConvertOptions& options = {},
                                   const PassOptions& wanted = {});

/// Returns the plan of convert() for these arguments: how it would read and why, and the number of
/// bytes. Checks that the target can be written, and leaves no file behind. Throws the errors that
/// convert() would throw before it reads.
OOC_API Stats dry_run_convert(const Options& options, DeviceKind device, const Source& source,
                              const Target& target, const PassOptions& wanted = {});

}  // namespace ooc

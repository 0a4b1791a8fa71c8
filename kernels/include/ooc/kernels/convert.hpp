#pragma once

#include <ooc/fold.hpp>
#include <ooc/io/target.hpp>

#include <cstdint>

namespace ooc {

struct ConvertOptions {
  bool strict = false;  // refuse to write a file in which some value is not what it was
};

/// What a conversion did.
struct Conversion {
  std::uint64_t count = 0;    // elements
  std::uint64_t inexact = 0;  // whose value is not the same afterwards
};

/// Writes the elements of a source as `target.type`: any type to any other, in either byte order,
/// raw to .npy and back. A source without a type is bytes. The result has the same bits on every
/// device:
///
///  -  to a float: rounded once, to nearest even; what is too large becomes infinite;
///  -  a float to an integer: truncated as NumPy's astype does, or the nearest the type has to what
///     it cannot hold; NaN becomes 0 (NumPy defines neither);
///  -  an integer to an integer: modulo 2^bits, as NumPy's astype does.
///
/// The source's shape is kept unless `target.shape` says otherwise. Throws Error as map() does, and
/// `bad_input` if `strict` and a value would change.
Result<Conversion> convert(Coordinator& coordinator, const Source& source, const Target& target,
                           const ConvertOptions& options = {}, const PassOptions& wanted = {});

/// What convert() would say of its pass, as dry_run_pass(). Tries whether the target can be
/// written, and leaves nothing there. Throws what convert() would throw before it reads.
Stats dry_run_convert(const Options& options, DeviceKind device, const Source& source,
                      const Target& target);

}  // namespace ooc

#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/dtype.hpp>
#include <ooc/fold.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <cstdint>

namespace ooc {

/// The results of running().
enum class RunningValue : std::uint8_t { sum, minimum, maximum };

/// Options of running().
struct RunningOptions {
  RunningValue value = RunningValue::sum;  ///< what is written for each element
  bool exclusive = false;                  ///< of the elements before each one: a sum begins with 0
};

/// Returns the type of the results for a source of elements `type`. Sums of integers are i8, but u8
/// for u8, and sums of floats f8. Extremes have the type of the elements.
OOC_API ElementType running_type(ElementType type, RunningValue value);

/// Writes, for each element of a source, the sum of all elements up to it, their minimum or their
/// maximum, in the order of the file: as `numpy.cumsum(x)`, of int64 for
/// integers and float64 for floats, and `numpy.minimum.accumulate(x.ravel())`. The source is read
/// once. Returns the number of elements written.
///
///     ooc::running(coordinator, ooc::open("counts.npy"), {"sums.npy"});
///
/// Results have the same bits for all sizes of chunks, numbers of streams, and devices:
///
///  -  Sums of integers wrap around, as in NumPy.
///  -  Sums of floats are added in an order that depends on places in the file only. With S the sum
///     of the absolute values of the elements so far, the error is at most 2^-53 * (|sum| + 512 S),
///     for any number of elements. It is that of one tile of 65,536 elements: what comes before it
///     is a sum of two doubles. No result is -0, and all NaN have the bits 0x7ff8000000000000.
///  -  An extreme is an element of the source, with its bits: the first NaN if there is one, else
///     the first of the smallest or largest ones, where -0 equals +0.
///
/// The target has one dimension unless it names a shape, and the type of the results in this
/// machine's byte order unless it names one. Throws Error as scan() does, `bad_input` for structs
/// and for arrays that are stored column by column, and `usage` for exclusive extremes, since there
/// is no extreme of no elements, and for a target of another type.
OOC_API Result<std::uint64_t> running(Coordinator& coordinator, const Source& source,
                                      const Target& target, const RunningOptions& options = {},
                                      const PassOptions& wanted = {});

/// Returns the plan of running() for these arguments. Checks that the target can be written, and
/// leaves no file behind. Throws the errors that running() would throw before it reads.
OOC_API Stats dry_run_running(const Options& machine, DeviceKind device, const Source& source,
                              const Target& target, const RunningOptions& options = {},
                              const PassOptions& wanted = {});

/// Checks results of running() by simple code that shares nothing with it: reads source and results
/// in step, on one thread, and computes each result again. Sums of floats are also compared with a
/// sum that is nearly exact, within the bound of running(). Throws Error: `verify` if they differ;
/// `input`, `input_changed`; `interrupted` if stopped.
///
/// `found`: the target of running(), opened with its type.
OOC_API void verify_running(Coordinator& coordinator, const Source& source, const Source& found,
                            const RunningOptions& options = {}, const PassOptions& wanted = {});

}  // namespace ooc

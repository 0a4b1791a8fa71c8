#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/fold.hpp>
#include <ooc/reduce.hpp>
#include <ooc/target.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace ooc {

/// Elements go to an output by their value, as numpy.digitize numbers bins: values below the first
/// edge to output 0, and those that are at least edge k, and below the next one, to output k + 1.
/// NaN goes to the last output. The edges rise strictly; there is one output more than edges.
/// Integers are compared exactly.
struct SplitByValue {
  std::vector<Scalar> edges;  ///< integers or finite doubles
};

/// Records go to the output that an integer in them names, from 0 on: a field of structs by its
/// name, or a column of rows by its number, "0" for the first one.
struct SplitByColumn {
  std::string column;  ///< of the integer
};

/// Each record goes to a pseudo-random output, which depends on the seed, the index of the record
/// and the number of outputs only.
struct SplitAtRandom {
  std::uint64_t seed = 0;  ///< equal seeds give equal outputs
};

/// How split_by() chooses an output for each record.
using SplitRule = std::variant<SplitByValue, SplitByColumn, SplitAtRandom>;

/// Divides the records of a source among targets by a rule: see split(). For SplitByValue, records
/// are elements; else they are structs, or rows if the source has more than one dimension. The
/// targets have the type of the source unless they name it. Returns the number of records of each
/// target.
///
///     std::vector<ooc::Target> targets{{"train.npy"}, {"test.npy"}};
///     const auto [counts, stats] =
///         ooc::split_by(coordinator, ooc::SplitAtRandom{7}, images, targets);
///
/// Throws Error as split() does; `usage` for edges that do not rise, or whose number does not fit
/// that of the targets, or if there is no such column; `bad_input` if the source has other records,
/// or a column names an output that does not exist.
OOC_API Result<std::vector<std::uint64_t>> split_by(Coordinator& coordinator, const SplitRule& rule,
                                                    const Source& source,
                                                    std::span<const Target> targets,
                                                    const PassOptions& wanted = {});

/// Returns the plan of split_by() for these arguments. Checks that the targets can be written, and
/// leaves no file behind. Throws the errors that split_by() would throw before it reads.
OOC_API Stats dry_run_split_by(const Options& options, DeviceKind device, const SplitRule& rule,
                               const Source& source, std::span<const Target> targets,
                               const PassOptions& wanted = {});

}  // namespace ooc

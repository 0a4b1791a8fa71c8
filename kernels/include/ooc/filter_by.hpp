#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/filter.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <optional>
#include <string>
#include <variant>

namespace ooc {

/// An end of a range of values.
struct RangeEnd {
  Scalar value;  ///< an integer of 64 bits, which is compared exactly, or a double other than NaN
  bool is_included = true;  ///< the value itself is in the range
};

/// Records fit if their value is in a range. NaN is in none, not even in one without ends.
struct FilterByRange {
  std::optional<RangeEnd> lower{};  ///< the lower end; empty: -infinity, included
  std::optional<RangeEnd> upper{};  ///< the upper end; empty: infinity, included

  /// Where the value is: a field of structs by its name, or a column of rows by its number, "0" for
  /// the first one. Whole structs and rows are kept then. Empty: the elements themselves are kept.
  std::string column{};
};

/// Records fit if a mask is not 0 there, as in NumPy, where NaN is not 0 either. The mask has any
/// type of element, and the shape of the source, or one dimension and an element for each row.
struct FilterByMask {
  const Source* mask;  ///< not null; outlives the call
};

/// How filter_by() finds the records to keep.
using FilterRule = std::variant<FilterByRange, FilterByMask>;

/// Outputs of filter_by(). Without a type, they have that of the source.
struct FilterTargets {
  Target kept;                   ///< of the records that fit
  std::optional<Target> rest{};  ///< of all others; empty: they are left out

  /// Write the index of each record in the source (int64) instead of the record, as
  /// numpy.flatnonzero() does.
  bool indices = false;
};

/// Writes the records of a source that fit a rule to a target, and perhaps all others to another
/// one, both in the order of the source: like boolean indexing in NumPy. Returns the numbers of
/// records seen and kept. The source is read once. See split() for disk space, and for the way in
/// which files appear. The result has the same bits on every device.
///
///     const ooc::FilterByRange high{.lower = ooc::RangeEnd{0.5, false}};
///     const auto [found, stats] = ooc::filter_by(coordinator, high, prices, {{"high.npy"}});
///     std::cout << found.kept << " of " << found.seen << '\n';
///
/// Throws Error as filter() does; `usage` for an end that is NaN or no number, for a range that
/// ends below its beginning, and if there is no such column, or none of single numbers; `bad_input`
/// for structs without a column, a mask of another shape, and arrays that are stored column by
/// column.
OOC_API Result<Selection> filter_by(Coordinator& coordinator, const FilterRule& rule,
                                    const Source& source, const FilterTargets& targets,
                                    const PassOptions& wanted = {});

/// Returns the plan of filter_by() for these arguments. Checks that the targets can be written, and
/// leaves no file behind. Throws the errors that filter_by() would throw before it reads.
OOC_API Stats dry_run_filter_by(const Options& options, DeviceKind device, const FilterRule& rule,
                                const Source& source, const FilterTargets& targets,
                                const PassOptions& wanted = {});

/// Verifies the files that filter_by() has written, given the same arguments and its result. Reads
/// the source once more and the files beside it, through the page cache and on one thread, and
/// shares no code with filter_by(). Throws Error(verify), which names the first difference; also as
/// a pass does, and Error(interrupted) if it is stopped.
OOC_API void verify_filter_by(Coordinator& coordinator, const FilterRule& rule,
                              const Source& source, const FilterTargets& targets,
                              const Selection& found, const PassOptions& wanted = {});

}  // namespace ooc

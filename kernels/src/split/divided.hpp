#pragma once

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/operators/outputs.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/memory.hpp>
#include <ooc/source.hpp>
#include <ooc/stats.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "split/choice.hpp"

// Shared by split_by() and filter_by().

namespace ooc::detail::splitting {

/// The operator of a rule. It knows no type: its records are bytes.
struct Assigning {
  using Input = std::byte;
  static constexpr std::string_view partial_name = "ooc.split/1";

  Choice choice;
  std::string text;  // of the rule
  std::string source;
  std::size_t outputs;
  bool drops = false;    // records of other outputs are left out
  bool indices = false;  // outputs get the index of each record instead of the record

  std::string question() const { return indices ? "indices of " + text : text; }

  /// The last input has the values that the rule looks at.
  void assign(Stream& stream, const StepRecords& in, DeviceSpan<std::uint16_t> numbers) const;
  Buffer made(Stream& stream, const StepRecords& in) const;
  void refuse(std::uint64_t record) const;
};

/// A source as records that a rule divides.
struct Divided {
  std::vector<PassInput> inputs;  // the source, and perhaps a mask
  MadeRecords made;
  std::vector<Target> targets;  // with a type
};

/// Returns the records of a source: its elements, or its rows. Throws Error(bad_input) if it is
/// stored column by column, and `usage` if it does not consist of whole records.
Divided divide(const Source& source, bool by_rows, std::span<const Target> targets);

/// Returns the plan of a split. Checks that the targets can be written, and leaves no file behind.
Stats dry_run(const Options& options, DeviceKind device, const Assigning& op,
              const Divided& divided, const PassOptions& wanted);

}  // namespace ooc::detail::splitting

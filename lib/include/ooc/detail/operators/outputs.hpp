#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/detail/inputs/signature.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/records.hpp>
#include <ooc/target.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {

/// The targets of an operator, or of a type that is meant to be one.
template <class Op>
struct AnyTargets : TargetsFor<void> {};
template <HasOutput Op>
struct AnyTargets<Op> : TargetsFor<typename Op::Output> {};

inline std::span<const Target> all_of(const Target& target) {
  return {&target, 1};
}
template <std::size_t count>
std::span<const Target> all_of(const std::array<Target, count>& targets) {
  return targets;
}

/// The records that an operator makes for one of its outputs.
struct MadeRecords {
  std::size_t element_bytes;
  std::optional<DType> type;               // unless it is a struct that does not declare its fields
  std::optional<std::size_t> columns;      // of rows
  std::vector<std::uint64_t> row_shape{};  // of a file that is appended to, if not one of columns

  std::size_t bytes() const { return element_bytes * columns.value_or(1); }
};

OOC_API Error rows_differ(std::size_t columns, std::size_t others);
OOC_API Error no_columns();

template <class Tuple>
inline constexpr bool has_rows = false;
template <class... Records>
inline constexpr bool has_rows<std::tuple<Records...>> = (is_row<Records> || ...);

/// Returns the number of elements of the rows among the inputs of an operator; nothing if there are
/// none. Throws Error(usage) if they differ.
template <class Input, std::size_t count>
std::optional<std::size_t> columns_of(const std::array<PassInput, count>& inputs) {
  using Tuple = typename RecordsOf<Input>::Tuple;
  std::optional<std::size_t> columns;
  const auto add = [&]<class One>(std::type_identity<One>, const RecordShape& record) {
    if constexpr (is_row<One>) {
      const std::size_t found = record.bytes / sizeof(typename RecordView<One>::Element);
      if (columns.value_or(found) != found) throw rows_differ(*columns, found);
      columns = found;
    }
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (add(std::type_identity<std::tuple_element_t<i, Tuple>>{}, inputs[i].record), ...);
  }
  (std::make_index_sequence<count>{});
  return columns;
}

template <class Op>
inline constexpr std::size_t outputs_of =
    std::tuple_size_v<typename RecordsOf<typename Op::Output>::Tuple>;

/// True if an input of the operator has rows.
template <class Op>
inline constexpr bool reads_rows = false;
template <class Op>
requires requires {
  typename Op::Input;
}
inline constexpr bool reads_rows<Op> = has_rows<typename RecordsOf<typename Op::Input>::Tuple>;

/// Returns the lengths of the rows that an operator makes, for each output. `columns`: of its
/// inputs, if they have rows.
template <class Op>
std::array<std::size_t, outputs_of<Op>> made_columns(const Op& op,
                                                     std::optional<std::size_t> columns) {
  constexpr bool says = requires {
    op.output_columns(std::size_t{});
  };
  static_assert(
      says || !requires(Op & any) { any.output_columns(std::size_t{}); },
      "output_columns() of an operator must be const");
  static_assert(says || reads_rows<Op>,
                "an Output of rows without an Input of rows needs `std::size_t "
                "output_columns(std::size_t) const`");
  const std::size_t length = columns.value_or(1);
  std::array<std::size_t, outputs_of<Op>> made;
  made.fill(length);
  if constexpr (says && outputs_of<Op> == 1) {
    made.front() = op.output_columns(length);
  } else if constexpr (says) {
    made = op.output_columns(length);
  }
  return made;
}

/// Returns the records of an output of an operator. `length`: of the rows, if it makes rows.
template <class Output>
MadeRecords made_as(std::size_t length) {
  using Element = typename RecordView<Output>::Element;
  MadeRecords made{sizeof(Element), {}, {}};
  if constexpr (IsElement<Element> || HasFields<Element>) made.type = type_of<Element>();
  if constexpr (is_row<Output>) made.columns = length;
  if (made.columns == std::size_t{0}) throw no_columns();
  return made;
}

/// Returns the records that an operator makes. `columns`: of its inputs, if they have rows.
template <class Op>
std::array<MadeRecords, outputs_of<Op>> made_with(const Op& op,
                                                  std::optional<std::size_t> columns) {
  using Outputs = typename RecordsOf<typename Op::Output>::Tuple;
  std::array<std::size_t, outputs_of<Op>> lengths{};
  if constexpr (has_rows<Outputs>) lengths = made_columns(op, columns);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{made_as<std::tuple_element_t<i, Outputs>>(lengths[i])...};
  }
  (std::make_index_sequence<outputs_of<Op>>{});
}

template <class Op, std::size_t count>
std::array<MadeRecords, outputs_of<Op>> made_by(const Op& op,
                                                const std::array<PassInput, count>& inputs) {
  std::optional<std::size_t> columns;
  if constexpr (has_rows<typename RecordsOf<typename Op::Output>::Tuple>) {
    columns = columns_of<typename Op::Input>(inputs);
  }
  return made_with(op, columns);
}

/// Returns the targets. Those without a type get the type of the records that the operator makes.
inline std::vector<Target> known_targets(std::span<const Target> targets,
                                         std::span<const MadeRecords> made) {
  std::vector<Target> known(targets.begin(), targets.end());
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i].type) known[i].type = made[i].type;
  }
  return known;
}

/// Size of a record of all inputs, or of all outputs if that is more (bytes).
inline std::size_t widest_record(std::span<const PassInput> in, std::span<const MadeRecords> made) {
  std::size_t bytes = 0;
  for (const MadeRecords& output : made) bytes += output.bytes();
  return std::max(record_bytes_of(in), bytes);
}

/// Returns room for the results of a part of a step, in one of the outputs.
template <class Output>
DeviceOutput<Output> output_in(const StepRecords& step, DeviceSpan<std::byte> out,
                               const StepPart& part) {
  using View = RecordView<Output>;
  using Element = typename View::Element;
  const std::size_t columns = out.size / step.count / sizeof(Element);
  return View::output(reinterpret_cast<Element*>(out.data) + part.offset * columns,
                      step.first + part.offset, part.count, columns);
}

/// Calls `call` with room for a part of a step in all outputs.
template <class Op, class Call>
void call_with_outputs(const StepRecords& step, const StepResults& out, const StepPart& part,
                       Call&& call) {
  using Tuple = typename RecordsOf<typename Op::Output>::Tuple;
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    call(output_in<std::tuple_element_t<i, Tuple>>(step, out.outputs[i], part)...);
  }
  (std::make_index_sequence<outputs_of<Op>>{});
}

/// Calls `call` with the records of a part of a step: those of all inputs, then room in all
/// outputs.
template <class Op, class Call>
void call_with_records(const StepRecords& step, const StepResults& out, const StepPart& part,
                       Call&& call) {
  call_with_inputs<typename Op::Input>(step, part, [&](auto... in) {
    call_with_outputs<Op>(step, out, part, [&](auto... room) { call(in..., room...); });
  });
}

/// The files that a pass writes. When all of them are on the disk, they are moved into place, one
/// after another; if one cannot be moved, those before it stay.
class OOC_API OutputFiles {
 public:
  /// Opens a file for each target, with one record for each record of the inputs or, with
  /// Purpose::append or an input from a producer, with as many as the pass makes. Throws
  /// Error(usage) if a target does not hold elements of that size or, unless the Output is a struct
  /// that does not declare its fields, of that type; as TargetFile.
  ///
  /// With `kept`, one for each target, the files are kept for a later run, and continue those that
  /// an earlier run has kept. Outputs that it has moved into place stay there.
  OutputFiles(std::span<const PassInput> inputs, std::span<const Target> targets,
              std::span<const MadeRecords> made, Purpose purpose = Purpose::write,
              std::span<const SavedOutput> kept = {});

  /// Opens the files of a job that makes `records` records, from `sources` or without any.
  OutputFiles(std::uint64_t records, std::span<const Target> targets,
              std::span<const MadeRecords> made, std::span<const Source* const> sources = {},
              Purpose purpose = Purpose::write, std::span<const SavedOutput> kept = {});

  std::span<const Output> outputs() const noexcept { return outputs_; }

  /// Number of records that all passes have appended to an output.
  std::uint64_t appended(std::size_t output) const;

  /// Sets the record at which the next pass begins to write.
  void go_to(std::uint64_t record);

  /// Makes the records written so far durable; from now on the files stay even if they are not
  /// committed. Throws Error(output).
  void keep();

  /// Returns the names of the files that are kept.
  std::vector<std::string> kept_names() const;

  /// Returns the entries of the files in a checkpoint. `are_whole`: they are complete and durable.
  std::vector<SavedOutput> saved(bool are_whole) const;

  /// Makes all files durable, calls `before_moving`, and moves them into place. Adds the time that
  /// this takes. Throws Error(output).
  void commit(Stats& stats, const std::function<void()>& before_moving = {});

 private:
  void open(std::uint64_t records, std::span<const Target> targets,
            std::span<const MadeRecords> made, std::span<const Source* const> sources);
  template <class Do>
  void for_each_to_move(const Do& act) const;

  Purpose purpose_;
  std::vector<std::vector<std::uint64_t>> row_shapes_;  // of files that are appended to
  std::vector<SavedOutput> kept_;
  std::vector<bool> is_in_place_;  // an earlier run has moved it
  std::vector<std::unique_ptr<TargetFile>> files_;
  std::vector<Output> outputs_;
};

}  // namespace detail
}  // namespace ooc

#pragma once

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/records.hpp>
#include <ooc/resident.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ooc {

namespace detail {

/// The Input or Output of an operator as a tuple of the types of its records.
template <class Records>
struct RecordsOf {
  using Tuple = std::tuple<Records>;
};
template <class... Records>
struct RecordsOf<std::tuple<Records...>> {
  using Tuple = std::tuple<Records...>;
};

/// Returns the inputs of a pass for an operator. Throws as input_of().
template <class Input>
std::array<PassInput, 1> inputs_of(const Source& source) {
  static_assert(std::tuple_size_v<typename RecordsOf<Input>::Tuple> == 1,
                "the operator takes several inputs: give it ooc::zip(first, second)");
  std::array<PassInput, 1> inputs{
      input_of<std::tuple_element_t<0, typename RecordsOf<Input>::Tuple>>(source)};
  use_device_memory(inputs);
  return inputs;
}

template <class Input, std::size_t count>
std::array<PassInput, count> inputs_of(const Zipped<count>& zipped) {
  using Tuple = typename RecordsOf<Input>::Tuple;
  static_assert(std::tuple_size_v<Tuple> == count,
                "the operator's Input is a std::tuple of one type for each source");
  auto inputs = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{input_of<std::tuple_element_t<i, Tuple>>(zipped[i])...};
  }
  (std::make_index_sequence<count>{});
  use_device_memory(inputs);
  return inputs;
}

/// Throws Error(usage) unless `kept` holds `count` sources.
OOC_API void require_sources(const Resident& kept, std::size_t count);

template <class Input>
auto inputs_of(const Resident& kept) {
  using Tuple = typename RecordsOf<Input>::Tuple;
  constexpr std::size_t count = std::tuple_size_v<Tuple>;
  require_sources(kept, count);
  auto inputs = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{input_of<std::tuple_element_t<i, Tuple>>(kept.source(i))...};
  }
  (std::make_index_sequence<count>{});
  for (PassInput& input : inputs) input.resident = memory_of(kept);
  return inputs;
}

template <class T>
inline constexpr bool is_zipped = false;
template <std::size_t count>
inline constexpr bool is_zipped<Zipped<count>> = true;

/// A source, several that are zipped, or one that stays on the device.
template <class T>
concept PassSource = std::same_as<T, Source> || is_zipped<T> || std::same_as<T, Resident>;

/// Rejects a pass over anything other than data.
template <class From>
constexpr void explain_source() {
  constexpr bool is_source = PassSource<From>;  // so that no compiler explains the concept
  static_assert(is_source,
                "a pass reads an ooc::Source, as ooc::open(path) returns it, several of them: "
                "ooc::zip(first, second), or an ooc::Resident");
}

/// Size of a record of all inputs, as it is stored (bytes).
inline std::size_t stored_bytes_of(std::span<const PassInput> inputs) {
  std::size_t bytes = 0;
  for (const PassInput& input : inputs) bytes += input.record.bytes;
  return bytes;
}

/// Like stored_bytes_of(), with the decoded size of an input if that is larger. Partitions use it.
inline std::size_t record_bytes_of(std::span<const PassInput> inputs) {
  std::size_t bytes = 0;
  for (const PassInput& input : inputs)
    bytes += std::max(input.record.bytes, input.decoded_bytes());
  return bytes;
}

/// A part of the records of a step, and the neighbours that an operator wants.
struct StepPart {
  std::size_t offset, count;
  Margin margin{};
};

/// Returns `call(op)`; 0 if the operator has no such function.
template <class Op, class Call>
std::size_t neighbours(const Op& op, const Call& call) {
  if constexpr (std::is_invocable_v<Call, const Op&>) {
    static_assert(std::unsigned_integral<std::invoke_result_t<Call, const Op&>>,
                  "before() and after() of an operator return std::size_t");
    return call(op);
  } else {
    static_assert(!std::is_invocable_v<Call, Op&>,
                  "before() and after() of an operator must be const");
    return 0;
  }
}

/// Returns the neighbours that an operator wants: before() and after(), if it has them.
template <class Op>
Margin margin_of(const Op& op) {
  static_assert(
      requires { op.before(); } || !requires { op.before; },
      "before is a function: `std::size_t before() const`");
  static_assert(
      requires { op.after(); } || !requires { op.after; },
      "after is a function: `std::size_t after() const`");
  return {neighbours(op, [](auto& any) -> decltype(any.before()) { return any.before(); }),
          neighbours(op, [](auto& any) -> decltype(any.after()) { return any.after(); })};
}

/// The records of one input in a part of a step.
template <class Input>
DeviceInput<Input> input_in(const StepRecords& step, std::size_t index, const StepPart& part) {
  using View = RecordView<Input>;
  using Element = typename View::Element;
  const DeviceSpan<const std::byte> data = step.inputs[index];
  const std::size_t columns = data.size / step.count_with_margin() / sizeof(Element);
  const auto* const elements = reinterpret_cast<const Element*>(data.data);
  const std::size_t before = std::min(part.margin.before, step.margin.before + part.offset);
  const std::size_t after =
      std::min(part.margin.after, step.count - part.offset - part.count + step.margin.after);
  return View::input(elements + (step.margin.before + part.offset) * columns,
                     step.first + part.offset, part.count, columns, before, after);
}

/// Calls `call` with the records of all inputs in a part of a step.
template <class Input, class Call>
void call_with_inputs(const StepRecords& step, const StepPart& part, Call&& call) {
  using Tuple = typename RecordsOf<Input>::Tuple;
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    call(input_in<std::tuple_element_t<i, Tuple>>(step, i, part)...);
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
}

}  // namespace detail
}  // namespace ooc

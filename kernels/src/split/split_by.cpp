#include <ooc/split_by.hpp>

#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/split.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "split/choice.hpp"
#include "split/rules.hpp"

namespace ooc {

using namespace detail;
using namespace detail::splitting;
namespace {

/// The operator of a rule. It knows no type: its records are bytes.
struct Assigning {
  using Input = std::byte;
  static constexpr std::string_view partial_name = "ooc.split/1";

  Choice choice;
  std::string text;  // of the rule
  std::string source;
  std::size_t outputs;

  std::string question() const { return text; }

  void assign(Stream& stream, const StepRecords& in, DeviceSpan<std::uint16_t> numbers) const {
    const auto [data, bytes] = in.inputs.front();
    const ChosenRecords records{data, bytes / in.count, in.first, in.count};
    if (stream.kind() == DeviceKind::cuda) {
      assign_cuda(stream, choice, records, numbers.data);
    } else {
      assign_cpu(choice, records, numbers.data);
    }
  }

  Error no_such_output(std::uint64_t record) const {
    return {ErrorKind::bad_input,
            source + ": record " + group_digits(std::to_string(record)) + " goes to no output",
            {.path = source, .why = text + " is not between 0 and " + std::to_string(outputs - 1)}};
  }
};

/// A source as the records that a rule divides.
struct Divided {
  PassInput input;
  MadeRecords made;
  std::vector<Target> targets;  // with a type
};

/// Returns the type of the records that a source holds.
DType type_in(const Source& source) {
  DType type = source.type().value_or(DType{});
  if (!type.is_struct()) type.swapped = false;
  return type;
}

/// True if the records are rows. A value, or the field of a struct, is that of a single element.
bool divides_rows(const Source& source, const SplitRule& rule, const DType& type) {
  const bool by_value = std::holds_alternative<SplitByValue>(rule);
  const bool by_field = std::holds_alternative<SplitByColumn>(rule) && type.is_struct();
  return !by_value && !by_field && source.columns() != 1u;
}

Divided divide(const Source& source, const SplitRule& rule, std::span<const Target> targets) {
  const DType type = type_in(source);
  const std::size_t bytes = size_of(type);
  if (source.by_columns()) {
    throw Error(ErrorKind::bad_input, source.name() + ": is stored column by column",
                {.why = "its records would be taken in the order of the file",
                 .hint = "save it row by row"});
  }
  const bool has_rows = divides_rows(source, rule, type);
  const std::size_t record_bytes = has_rows ? row_bytes_of(source, bytes) : bytes;
  if (source.bytes() % record_bytes != 0) {
    throw Error(ErrorKind::usage, source.name() + ": does not consist of whole rows",
                {.why = "each has " + std::to_string(record_bytes / bytes) + " elements",
                 .hint = "leave out, or use, a multiple of that"});
  }
  const std::size_t alignment = type.is_struct() ? 1 : bytes;
  MadeRecords made{.element_bytes = bytes, .type = type, .columns = {}};
  if (has_rows) {
    made.columns = record_bytes / bytes;
    made.row_shape.assign(source.row_shape().begin(), source.row_shape().end());
  }
  Divided divided{stored_input(source, {record_bytes, alignment}),
                  std::move(made),
                  {targets.begin(), targets.end()}};
  for (Target& target : divided.targets) {
    if (!target.type) target.type = source.type().value_or(DType{});
  }
  return divided;
}

}  // namespace

Result<std::vector<std::uint64_t>> split_by(Coordinator& coordinator, const SplitRule& rule,
                                            const Source& source, std::span<const Target> targets,
                                            const PassOptions& wanted) {
  const Choice choice = choice_of(rule, source, targets.size());
  const Divided divided = divide(source, rule, targets);
  const Assigning op{choice, words_of(rule, targets.size()), source.name(), targets.size()};
  return split_inputs(coordinator, op, {&divided.input, 1}, divided.made, divided.targets, wanted);
}

Stats dry_run_split_by(const Options& options, DeviceKind device, const SplitRule& rule,
                       const Source& source, std::span<const Target> targets,
                       const PassOptions& wanted) {
  const Choice choice = choice_of(rule, source, targets.size());
  const Divided divided = divide(source, rule, targets);
  std::unique_ptr<TargetFile> first;
  for (const Target& target : divided.targets) {
    // There is to be space for all records: they may all go to the first target.
    auto file = std::make_unique<TargetFile>(target, first ? 0 : source.elements(),
                                             std::array{&source}, Purpose::dry_run);
    if (!first) first = std::move(file);
  }
  const std::size_t bytes = divided.made.bytes();
  const bool swapped = divided.targets.front().known_type().swapped;
  const Output output{*first, bytes, swapped ? divided.made.element_bytes : 0};
  const Assigning op{choice, words_of(rule, targets.size()), source.name(), targets.size()};
  const Split<Assigning> operation(op, bytes, targets.size());
  return dry_run_pass(options, device, divided.input, {&output, 1}, wanted, {}, &operation);
}

}  // namespace ooc

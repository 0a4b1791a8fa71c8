#include "split/divided.hpp"

#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/split.hpp>

#include <memory>
#include <utility>

#include "split/rules.hpp"

namespace ooc::detail::splitting {

namespace {

/// Returns the type of the records that a source holds.
DType type_in(const Source& source) {
  DType type = source.type().value_or(DType{});
  if (!type.is_struct()) type.swapped = false;
  return type;
}

}  // namespace

void Assigning::assign(Stream& stream, const StepRecords& in,
                       DeviceSpan<std::uint16_t> numbers) const {
  const auto [data, bytes] = in.inputs.back();
  const ChosenRecords records{data, bytes / in.count, in.first, in.count};
  if (stream.kind() == DeviceKind::cuda) {
    assign_cuda(stream, choice, records, numbers.data);
  } else {
    assign_cpu(choice, records, numbers.data);
  }
}

Buffer Assigning::made(Stream& stream, const StepRecords& in) const {
  if (!indices) return {};
  Buffer numbers(stream.temporaries(), in.count * sizeof(std::int64_t));
  if (stream.kind() == DeviceKind::cuda) {
    number_cuda(stream, in.first, in.count, numbers.as<std::int64_t>());
  } else {
    number_cpu(in.first, in.count, numbers.as<std::int64_t>());
  }
  return numbers;
}

void Assigning::refuse(std::uint64_t record) const {
  if (drops) return;
  throw Error(
      ErrorKind::bad_input,
      source + ": record " + group_digits(std::to_string(record)) + " goes to no output",
      {.path = source, .why = text + " is not between 0 and " + std::to_string(outputs - 1)});
}

Divided divide(const Source& source, bool by_rows, std::span<const Target> targets) {
  const DType type = type_in(source);
  const std::size_t bytes = size_of(type);
  require_by_rows(source);
  const RecordShape record = record_shape_of(source, by_rows);
  MadeRecords made{.element_bytes = bytes, .type = type, .columns = {}};
  if (by_rows) {
    made.columns = record.bytes / bytes;
    made.row_shape.assign(source.row_shape().begin(), source.row_shape().end());
  }
  Divided divided{
      {stored_input(source, record)}, std::move(made), {targets.begin(), targets.end()}};
  for (Target& target : divided.targets) {
    if (!target.type) target.type = source.type().value_or(DType{});
  }
  return divided;
}

Stats dry_run(const Options& options, DeviceKind device, const Assigning& op,
              const Divided& divided, const PassOptions& wanted) {
  std::vector<const Source*> sources;
  for (const PassInput& input : divided.inputs) sources.push_back(&input.source);
  const std::uint64_t records =
      is_produced(divided.inputs) ? 0 : records_of(divided.inputs.front());
  const std::uint64_t elements = records * divided.made.columns.value_or(1);
  std::unique_ptr<TargetFile> first;
  for (const Target& target : divided.targets) {
    // There is to be space for all records: they may all go to the first target.
    auto file =
        std::make_unique<TargetFile>(target, first ? 0 : elements, sources, Purpose::dry_run);
    if (!first) first = std::move(file);
  }
  const std::size_t bytes = divided.made.bytes();
  const bool swapped = divided.targets.front().known_type().swapped;
  const Output output{*first, bytes, swapped ? divided.made.element_bytes : 0};
  const Split<Assigning> operation(op, widest_record(divided.inputs, {&divided.made, 1}),
                                   divided.targets.size());
  Stats stats = dry_run_pass(options, device, divided.inputs, {&output, 1}, wanted, {}, &operation);
  stats.outcome.bytes_written = records * bytes;
  return stats;
}

}  // namespace ooc::detail::splitting

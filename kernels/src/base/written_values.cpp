#include "base/written_values.hpp"

#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/error.hpp>

#include <array>
#include <cstddef>

namespace ooc::detail {

void require_numbers_in_order(const Source& source) {
  if (source.type() && source.type()->is_struct()) {
    throw Error(
        ErrorKind::bad_input, source.name() + ": holds structs " + code_of(*source.type()),
        {.why = "elements of one type are added or compared", .hint = "name a field of them"});
  }
  if (source.by_columns()) {
    throw Error(ErrorKind::bad_input, source.name() + ": is stored column by column",
                {.why = "its elements would be taken in the order of the file",
                 .hint = "save it row by row"});
  }
}

Target target_of_values(const Target& target, ElementType made, const Source& source,
                        std::uint64_t count) {
  Target shaped = target;
  if (!shaped.type) {
    shaped.type = made;
    shaped.type->is_bool = made == ElementType::u1 && source.type() && source.type()->is_bool;
  }
  if (shaped.type->is_struct() || shaped.type->element != made) {
    throw Error(ErrorKind::usage,
                target.path.string() + ": is to hold " + code_of(*shaped.type) + ", not " +
                    code_of(DType{made}),
                {.path = target.path, .why = "that is the type of the results"});
  }
  if (shaped.shape.empty() && !source.is_produced()) shaped.shape = {count};
  return shaped;
}

Stats dry_run_values(const Options& machine, DeviceKind device, const PassInput& input,
                     const Target& target, std::uint64_t count, const PassOptions& wanted,
                     const Operation* operation) {
  TargetFile file(target, count, std::array{&input.source}, Purpose::dry_run);
  const std::size_t bytes = size_of(*target.type);
  const Output output{file, bytes, target.type->swapped ? bytes : 0};
  return dry_run_pass(machine, device, input, {&output, 1}, wanted, {}, operation);
}

}  // namespace ooc::detail

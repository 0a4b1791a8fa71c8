#include <ooc/split.hpp>

#include <ooc/detail/base/group_digits.hpp>
#include <ooc/detail/base/units.hpp>

#include <bit>
#include <string>

namespace ooc::detail {

void require_split_targets(std::span<const Target> targets) {
  if (targets.empty() || targets.size() > most_groups) {
    throw Error(ErrorKind::usage, std::to_string(targets.size()) + " outputs; between 1 and " +
                                      group_digits(std::to_string(most_groups)) + " are possible");
  }
  for (const Target& target : targets) {
    if (target.type == targets.front().type) continue;
    throw Error(ErrorKind::usage,
                target.path.string() + ": has another type than " + targets.front().path.string(),
                {.path = target.path,
                 .why = "the records of a step share one room",
                 .hint = "give all targets the same type, or none"});
  }
}

std::size_t split_partition(std::size_t record_bytes, std::size_t outputs) {
  return std::bit_ceil(divide_up(outputs * page_bytes, record_bytes));
}

Error no_such_output(std::uint64_t record, std::size_t outputs) {
  return {ErrorKind::usage,
          "record " + group_digits(std::to_string(record)) + ": the operator assigns none of the " +
              std::to_string(outputs) + " outputs",
          {.why = "outputs are numbered from 0 on",
           .hint = "set a number in every call of assign(), on the stream that it is given"}};
}

}  // namespace ooc::detail

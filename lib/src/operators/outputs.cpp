#include <ooc/map.hpp>

#include <ooc/io/error.hpp>

#include <string>
#include <vector>

#include "observe/stopwatch.hpp"

namespace ooc::detail {

namespace {

Target checked(const Target& target, const MadeRecords& made, std::uint64_t records) {
  const auto& [element_bytes, element, columns] = made;
  if (element && *element != target.type.element) {
    throw Error(ErrorKind::usage,
                target.path.string() + ": the operator makes " + std::string(name_of(*element)) +
                    ", the target is to hold " + std::string(name_of(target.type.element)),
                {.path = target.path,
                 .remedies = {{Change::set, "Target::type", std::string(name_of(*element))}}});
  }
  const std::size_t held = size_of(target.type.element);
  if (held == element_bytes) {
    Target checked = target;
    if (columns && target.shape.empty()) checked.shape = {records, *columns};
    return checked;
  }
  throw Error(ErrorKind::usage,
              target.path.string() + ": the operator makes elements of " +
                  std::to_string(element_bytes) + " bytes, those of " +
                  std::string(name_of(target.type.element)) + " have " + std::to_string(held),
              {.path = target.path, .remedies = {{Change::set, "Target::type"}}});
}

std::uint64_t records_of(std::span<const PassInput> inputs) {
  return inputs.front().source.bytes() / inputs.front().record.bytes;
}

std::vector<const Source*> sources_of(std::span<const PassInput> inputs) {
  std::vector<const Source*> sources;
  for (const PassInput& input : inputs) sources.push_back(&input.source);
  return sources;
}

}  // namespace

Error rows_differ(std::size_t columns, std::size_t others) {
  return {ErrorKind::usage,
          "an input has rows of " + std::to_string(columns) + " elements, another of " +
              std::to_string(others),
          {.why = "the rows of the output are as long as those of the inputs",
           .hint = "let the operator say how long they are: `std::size_t "
                   "output_columns(std::size_t columns) const`"}};
}

Error no_columns() {
  return {ErrorKind::usage,
          "output_columns() of the operator returns 0",
          {.why = "a row has at least one element"}};
}

MapOutput::MapOutput(std::span<const PassInput> inputs, const Target& target,
                     const MadeRecords& made)
    : inputs_(inputs),
      file_(checked(target, made, records_of(inputs)),
            records_of(inputs) * made.columns.value_or(1), sources_of(inputs)),
      output_{file_, made.bytes(), target.type.swapped ? made.element_bytes : 0} {}

Stats MapOutput::run(Coordinator& coordinator, const Coordinator::Reservation& pass,
                     Operation& operation, const PassOptions& wanted) {
  return coordinator.run(pass, inputs_, operation, wanted, &output_);
}

void MapOutput::commit(Stats& stats) {
  const Stopwatch watch;
  file_.commit();
  stats.timing.commit_seconds = watch.seconds();
  stats.timing.seconds += stats.timing.commit_seconds;
}

}  // namespace ooc::detail

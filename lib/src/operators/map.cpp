#include <ooc/map.hpp>

#include <ooc/io/error.hpp>

#include <string>

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

}  // namespace

MapOutput::MapOutput(const PassInput& input, const Target& target, const MadeRecords& made)
    : input_(input),
      file_(checked(target, made, input.source.bytes() / input.record.bytes),
            input.source.bytes() / input.record.bytes * made.columns.value_or(1),
            std::array{&input.source}),
      output_{file_, made.bytes(), target.type.swapped ? made.element_bytes : 0} {}

Stats MapOutput::run(Coordinator& coordinator, const Coordinator::Reservation& pass,
                     Operation& operation, const PassOptions& wanted) {
  return coordinator.run(pass, {&input_, 1}, operation, wanted, &output_);
}

void MapOutput::commit(Stats& stats) {
  const Stopwatch watch;
  file_.commit();
  stats.timing.commit_seconds = watch.seconds();
  stats.timing.seconds += stats.timing.commit_seconds;
}

}  // namespace ooc::detail

#include <ooc/map.hpp>

#include <ooc/io/error.hpp>

#include <string>

#include "observe/stopwatch.hpp"

namespace ooc::detail {

namespace {

const Target& checked(const Target& target, std::size_t element_bytes,
                      std::optional<ElementType> element) {
  if (element && *element != target.type.element) {
    throw Error(ErrorKind::usage,
                target.path.string() + ": the operator makes " + std::string(name_of(*element)) +
                    ", the target is to hold " + std::string(name_of(target.type.element)),
                {.path = target.path,
                 .remedies = {{Change::set, "Target::type", std::string(name_of(*element))}}});
  }
  const std::size_t held = size_of(target.type.element);
  if (held == element_bytes) return target;
  throw Error(ErrorKind::usage,
              target.path.string() + ": the operator makes elements of " +
                  std::to_string(element_bytes) + " bytes, those of " +
                  std::string(name_of(target.type.element)) + " have " + std::to_string(held),
              {.path = target.path, .remedies = {{Change::set, "Target::type"}}});
}

}  // namespace

MapOutput::MapOutput(const Source& source, std::size_t input_bytes, const Target& target,
                     std::size_t element_bytes, std::optional<ElementType> element)
    : source_(source),
      input_bytes_(input_bytes),
      file_(checked(target, element_bytes, element), source.bytes() / input_bytes,
            std::array{&source}),
      output_{file_, element_bytes, target.type.swapped} {}

Stats MapOutput::run(Coordinator& coordinator, const Coordinator::Reservation& pass,
                     Operation& operation, const PassOptions& wanted) {
  return coordinator.run(pass, source_, input_bytes_, operation, wanted, &output_);
}

void MapOutput::commit(Stats& stats) {
  const Stopwatch watch;
  file_.commit();
  stats.timing.commit_seconds = watch.seconds();
  stats.timing.seconds += stats.timing.commit_seconds;
}

}  // namespace ooc::detail

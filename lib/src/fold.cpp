#include <ooc/fold.hpp>

#include <ooc/io/error.hpp>

#include <algorithm>

namespace ooc::detail {

void Together::begin(std::size_t lane, Stream& stream) {
  for (Operation* operation : operations_) operation->begin(lane, stream);
}

void Together::process(std::size_t lane, Stream& stream, DeviceSpan<const std::byte> data,
                       std::uint64_t first_byte, DeviceSpan<std::byte> out) {
  for (Operation* operation : operations_) {
    operation->process(lane, stream, data, first_byte, out);
  }
}

void Together::end(std::size_t lane, Stream& stream) {
  for (Operation* operation : operations_) operation->end(lane, stream);
}

bool Together::takes_any_chunk() const noexcept {
  return std::ranges::all_of(operations_, &Operation::takes_any_chunk);
}

void require_whole(const Source& source, std::size_t element_bytes) {
  const std::uint64_t rest = source.bytes() % element_bytes;
  if (rest == 0) return;
  throw Error(Cause::bad_input,
              std::to_string(source.bytes()) + " bytes are not a whole number of elements of " +
                  std::to_string(element_bytes) + " bytes",
              {.path = source.files().empty() ? "" : source.files().front().path(),
               .why = std::to_string(rest) + " bytes are left over"});
}

void require_type(const Source& source, ElementType wanted) {
  if (!source.type()) return require_whole(source, size_of(wanted));
  if (source.type()->element == wanted) return;
  throw Error(Cause::bad_input,
              "the source holds " + std::string(name_of(source.type()->element)) +
                  ", the operator takes " + std::string(name_of(wanted)),
              {.path = source.files().empty() ? "" : source.files().front().path()});
}

}  // namespace ooc::detail

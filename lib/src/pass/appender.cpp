#include "pass/appender.hpp"

#include <ooc/error.hpp>

#include <algorithm>
#include <string>

namespace ooc::detail {

Appender::Appender(std::span<const Output> outputs, const SequentialPlan& reads, std::size_t window)
    : outputs_(outputs), reads_(reads), extents_(window) {
  for (std::vector<Extent>& extents : extents_) extents.reserve(outputs.size());
}

std::span<const Extent> Appender::append(std::size_t chunk, std::span<const std::uint64_t> made,
                                         std::uint64_t most) {
  const auto wrong =
      std::ranges::find_if(made, [most](std::uint64_t count) { return count > most; });
  if (wrong != made.end()) {
    throw Error(ErrorKind::usage,
                *wrong >= not_said ? "the operator does not say how many records it kept"
                                   : "the operator says that it kept " + std::to_string(*wrong) +
                                         " of " + std::to_string(most) + " records",
                {.why = "`*kept` has no useful value before select() sets it",
                 .hint = "assign the number of records at the beginning of each output in every "
                         "call of select(), on the stream that it is given"});
  }
  wait(chunk);
  std::vector<Extent>& extents = extents_[chunk % extents_.size()];
  extents.clear();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const std::uint64_t bytes = made[i] * outputs_[i].record_bytes;
    if (bytes == 0) continue;
    const auto output = static_cast<std::uint32_t>(i);
    extents.push_back({.file = output,
                       .offset = outputs_[i].file.append(bytes),
                       .bytes = bytes,
                       .input = output});
  }
  turns_.finish(chunk);
  return extents;
}

std::span<const Extent> Appender::extents(std::size_t chunk, std::span<Extent> storage) const {
  const std::vector<Extent>& extents = extents_[chunk % extents_.size()];
  const auto end = std::ranges::copy(extents, storage.begin()).out;
  return storage.first(static_cast<std::size_t>(end - storage.begin()));
}

}  // namespace ooc::detail

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/file/page_reader.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ooc::detail {

std::span<const std::byte> PageReader::read(const File& file, std::uint64_t offset,
                                            std::size_t most_bytes) {
  if (file.buffered() < 0) {
    const std::uint64_t left = file.size() - std::min(offset, file.size());
    const auto memory = std::span(buffer_->bytes).first(std::min<std::uint64_t>(most_bytes, left));
    if (!memory.empty()) read_exactly(file, offset, memory);
    return memory;
  }
  auto got = file.direct() < 0 ? std::nullopt : try_read(file.direct(), offset, most_bytes);
  if (!got) got = try_read(file.buffered(), offset, most_bytes);
  if (!got) throw read_error(file, offset, errno);
  return *got;
}

std::optional<std::span<const std::byte>> PageReader::try_read(int descriptor, std::uint64_t offset,
                                                               std::size_t most_bytes) {
  const DiskCall waits;
  const ssize_t got = repeat_read([&] {
    return ::pread(descriptor, buffer_->bytes.data(), most_bytes, static_cast<off_t>(offset));
  });
  if (got < 0) return {};
  return std::span(buffer_->bytes).first(static_cast<std::size_t>(got));
}

}  // namespace ooc::detail

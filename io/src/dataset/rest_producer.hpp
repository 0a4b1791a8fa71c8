#pragma once

#include <ooc/detail/dataset/producer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc::detail {

/// Returns a producer that delivers `begun`, the bytes already read from `stream`, and then the
/// rest. `has_ended`: `stream` has no more bytes.
std::unique_ptr<Producer> rest_of(std::unique_ptr<Producer> stream, std::vector<std::byte> begun,
                                  bool has_ended);

/// Returns a producer of an array of `bytes` bytes behind a header. Its fill() throws
/// Error(bad_input) if the file ends before the array does. It reads and counts the bytes behind
/// that, so that their writer does not fail.
std::unique_ptr<Producer> array_of(std::unique_ptr<Producer> file, std::uint64_t header_bytes,
                                   std::uint64_t bytes);

}  // namespace ooc::detail

#pragma once

#include <cstddef>
#include <span>

namespace ooc::detail {

/// Undoes a shuffle of bytes: `in` has the first bytes of all elements, then the second ones, and
/// so on. Bytes behind the last whole element stay where they are. `out` is as long as `in`, and
/// elsewhere.
void unshuffle_bytes(std::span<const std::byte> in, std::size_t element_bytes,
                     std::span<std::byte> out);

/// Undoes a shuffle of bits: `in` has bit 0 of the first bytes of all elements, then bit 1, and so
/// on. Elements are shuffled if their number is a multiple of 8; else all stays where it is, as do
/// bytes behind the last whole element. `out` and `room` are as long as `in`, and elsewhere.
void unshuffle_bits(std::span<const std::byte> in, std::size_t element_bytes,
                    std::span<std::byte> out, std::span<std::byte> room);

}  // namespace ooc::detail

#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/io/element_type.hpp>
#include <ooc/io/source.hpp>
#include <ooc/kernels/number.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// What the checks of histogram() and reduce() have in common. They are there to notice what the
// pipeline or a kernel does wrong, so they use neither: blocks are read by pread() through the page
// cache, and each element is looked at by itself. Slow, and easy to believe.

namespace ooc::plain {

/// What a thread reads and looks at in one go.
inline constexpr std::size_t block_elements = 65536;

/// Called by thread `thread` of so many, for blocks ever further into the source: `elements` are in
/// this machine's byte order, `first` is the index of the first of them.
using LookAtBlock = std::function<void(std::size_t thread, std::span<const std::byte> elements,
                                       std::uint64_t first)>;

/// How many threads to look with, if what each finds takes `look_bytes`: as many as a pass out of
/// the page cache has streams, or fewer, so that they keep within the memory limit or, where there
/// is none, a quarter of what the machine can give. At least one.
std::size_t threads_for(const Options& options, std::size_t look_bytes);

/// Reads all of a source, each block once, and reports progress as a pass does. With fewer threads
/// where no more can be had. Throws Error: `input`, `input_changed`, `interrupted` if stopped,
/// `memory` if there can be no thread; and what `look` or the report of progress throws.
void read_all(const PassOptions& wanted, const Source& source, std::size_t threads,
              const LookAtBlock& look);

/// Copies of `nothing_seen`, one a thread, take all blocks of a source. Returns them as one.
template <class T, class Look>
Look look_at_all(const Options& options, const PassOptions& wanted, const Source& source,
                 const Look& nothing_seen) {
  std::vector<Look> looks(threads_for(options, nothing_seen.bytes()), nothing_seen);
  read_all(wanted, source, looks.size(),
           [&](std::size_t thread, std::span<const std::byte> elements, std::uint64_t first) {
             const auto* const values = reinterpret_cast<const T*>(elements.data());
             looks[thread].take(std::span(values, elements.size() / sizeof(T)), first);
           });
  for (const Look& look : std::span(looks).subspan(1)) looks.front().merge(look);
  return std::move(looks.front());
}

/// The value that the bits of a floating number of 16 bits stand for, by the definition.
double value_of_half(std::uint16_t bits, int exponent_bits);

/// An element as a double, or as the widest integer of its sign: exact.
template <class T>
auto value_of(T element) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(element);
  } else if constexpr (is_floating<T>) {
    return value_of_half(element.bits, std::is_same_v<T, Float16> ? 5 : 8);
  } else {
    using Widest = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<Widest>(element);
  }
}

/// What there is to say of a result that is not what the check has found.
Error difference(const Source& source, const std::string& name, const Number& found,
                 const Number& checked, const std::string& why);

/// Throws that unless both are the same: NaN is as NaN, but +0 not as -0.
void require_same(const Source& source, const std::string& name, const Number& found,
                  const Number& checked);

}  // namespace ooc::plain

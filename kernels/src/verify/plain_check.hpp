#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/dtype.hpp>
#include <ooc/reduce.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Shared by the checks of results. They must detect errors of the pipeline and of the kernels, so
// they use neither: they read blocks with pread() through the page cache, and process elements one
// by one. That is slow, but simple enough to be trusted.

namespace ooc::detail::plain {

/// Number of elements that a thread reads and processes at a time.
inline constexpr std::size_t block_elements = 65536;

/// Called by thread `thread` for each of its blocks, in increasing order. `elements` are in this
/// machine's byte order; `first` is the index of the first one.
using LookAtBlock = std::function<void(std::size_t thread, std::span<const std::byte> elements,
                                       std::uint64_t first)>;

/// Returns the number of threads to use if the findings of each take `look_bytes`: as many as the
/// streams of a pass that reads from the page cache, or fewer to stay within the memory limit
/// (without a limit, a quarter of the available memory), but at least one.
std::size_t threads_for(const Options& options, std::size_t look_bytes);

/// Reads all of a source, each block once, and reports progress as a pass does. Uses fewer threads
/// if no more can be started. Throws Error: `input`, `input_changed`; `interrupted` if stopped;
/// `memory` if no thread can be started; and whatever `look` or the progress callback throws.
void read_all(const PassOptions& wanted, const Source& source, std::size_t threads,
              const LookAtBlock& look);

/// Fills `elements` with those of a source from `first` on, as they are stored.
void read_elements(const Source& source, std::uint64_t first, std::size_t element_bytes,
                   std::span<std::byte> elements);

/// Makes stored elements those of this machine: 0 or 1 for `bool`, and in its byte order.
void decode(const DType& type, std::span<std::byte> elements);

/// Processes all blocks of a source with copies of `nothing_seen`, one per thread, and returns them
/// merged.
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

/// Decodes a floating number of 16 bits by the definition of its format.
double value_of_half(std::uint16_t bits, int exponent_bits);

/// Returns an element exactly: as a double, or as the widest integer of its signedness.
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

/// Returns the error for a result that differs from what the check has found.
Error difference(const Source& source, const std::string& name, const Scalar& found,
                 const Scalar& checked, const std::string& why);

/// Throws difference() unless both are the same. Any NaN equals NaN, but +0 differs from -0.
void require_same(const Source& source, const std::string& name, const Scalar& found,
                  const Scalar& checked);

}  // namespace ooc::detail::plain

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "convert/element.hpp"
#include "convert/values.hpp"

namespace ooc::detail::conversion {
namespace {

/// Block length, a constant so that the compiler can vectorise loops over a block.
constexpr std::size_t block_elements = 512;

/// Stores an element. Assigning a structure as a whole would prevent vectorisation.
template <class T>
[[gnu::always_inline]] inline void store(T value, T& target) {
  if constexpr (is_floating<T> && sizeof(T) == 2) {
    target.bits = value.bits;
  } else {
    target = value;
  }
}

/// Numbers of elements of a block that change, and of those that are outside the type's range.
struct Changed {
  std::uint32_t all = 0, beyond = 0;
};

/// Returns false if no element of a block is outside the range of To. This test is faster than
/// counting such elements.
template <class To, class From>
[[gnu::always_inline]] inline bool may_exceed(const From* __restrict in) {
  if constexpr (std::is_floating_point_v<From> && can_exceed<To, From>) {
    auto largest = bits_to_compare<To>(in[0]);
    for (std::size_t i = 0; i < block_elements; ++i) {
      largest = std::max(largest, bits_to_compare<To>(in[i]));
    }
    return largest >= first_beyond<To, From>();
  }
  return can_exceed<To, From>;
}

/// Converts a block. A separate loop counts the elements outside the range: few blocks need it, and
/// the main loop would be slower if it did both.
template <class From, class To>
[[gnu::always_inline]] inline Changed convert_block(const From* __restrict in, To* __restrict out) {
  Changed changed;
  std::uint32_t inexact = 0;
  for (std::size_t i = 0; i < block_elements; ++i) {
    const To converted = convert<To>(in[i]);
    store(converted, out[i]);
    inexact += is_exact(in[i], converted) ? 0u : 1u;
  }
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    changed.beyond = inexact;
  } else if (inexact != 0 && may_exceed<To>(in)) {
    std::uint32_t beyond = 0;
    for (std::size_t i = 0; i < block_elements; ++i) beyond += is_beyond<To>(in[i]) ? 1u : 0u;
    changed.beyond = beyond;
  }
  changed.all = inexact;
  return changed;
}

template <class From, class To>
Changed convert_block_sse2(const From* in, To* out) {
  return convert_block(in, out);
}

template <class From, class To>
[[gnu::target("avx2,f16c")]] Changed convert_block_avx2(const From* in, To* out) {
  return convert_block(in, out);
}

template <class From, class To>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] Changed
convert_block_avx512(const From* in, To* out) {
  return convert_block(in, out);
}

template <class From, class To>
auto converter_of_blocks(Simd simd) {
  switch (simd) {
    case Simd::sse2: return convert_block_sse2<From, To>;
    case Simd::avx2: return convert_block_avx2<From, To>;
    case Simd::avx512: return convert_block_avx512<From, To>;
  }
  __builtin_unreachable();
}

/// Clips the elements of a block that are outside the range of To, and returns their number.
template <class From, class To>
std::uint32_t clip_block(const From* in, To* out) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < block_elements; ++i) {
    if (!is_beyond<To>(in[i]) || !is_clippable(in[i])) continue;
    out[i] = clipped(in[i], out[i]);
    ++count;
  }
  return count;
}

template <class From, class To>
Losses convert_all(const From* in, To* out, std::size_t count, Beyond beyond, Simd simd) {
  const auto convert_one = converter_of_blocks<From, To>(simd);
  Losses losses;
  const auto take_block = [&](const From* from, To* to) {
    const Changed changed = convert_one(from, to);
    const bool clips = beyond == Beyond::clip && changed.beyond != 0;
    const std::uint32_t clipped = clips ? clip_block(from, to) : 0;
    losses += {changed.all - changed.beyond, changed.beyond - clipped, clipped};
  };
  const std::size_t whole = count - count % block_elements;
  for (std::size_t i = 0; i < whole; i += block_elements) take_block(in + i, out + i);
  if (whole == count) return losses;
  std::array<From, block_elements> rest{};  // zeros are exact
  std::array<To, block_elements> converted;
  std::copy(in + whole, in + count, rest.begin());
  take_block(rest.data(), converted.data());
  std::copy_n(converted.begin(), count - whole, out + whole);
  return losses;
}

}  // namespace

Losses convert_values_cpu(ElementType from, ElementType to, const std::byte* in, std::byte* out,
                          std::size_t count, Beyond beyond, Simd simd) {
  return visit(from, [&]<class From>(std::type_identity<From>) {
    return visit(to, [&]<class To>(std::type_identity<To>) -> Losses {
      if constexpr (std::is_same_v<From, To>) {
        if (count != 0) std::memcpy(out, in, count * sizeof(From));
        return {};
      } else {
        return convert_all(reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), count,
                           beyond, simd);
      }
    });
  });
}

}  // namespace ooc::detail::conversion

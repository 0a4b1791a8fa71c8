#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "convert/element.hpp"
#include "convert/values.hpp"

namespace ooc::conversion {
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

/// Converts a block and returns the number of inexact elements.
template <class From, class To>
[[gnu::always_inline]] inline std::uint32_t convert_block(const From* __restrict in,
                                                          To* __restrict out) {
  std::uint32_t inexact = 0;
  for (std::size_t i = 0; i < block_elements; ++i) {
    const To converted = convert<To>(in[i]);
    store(converted, out[i]);
    inexact += is_exact(in[i], converted) ? 0u : 1u;
  }
  return inexact;
}

template <class From, class To>
std::uint32_t convert_block_sse2(const From* in, To* out) {
  return convert_block(in, out);
}

template <class From, class To>
[[gnu::target("avx2,f16c")]] std::uint32_t convert_block_avx2(const From* in, To* out) {
  return convert_block(in, out);
}

template <class From, class To>
[[gnu::target(
    "avx2,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")]] std::uint32_t
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

template <class From, class To>
std::uint64_t convert_all(const From* in, To* out, std::size_t count, Simd simd) {
  const auto convert_one = converter_of_blocks<From, To>(simd);
  const std::size_t whole = count - count % block_elements;
  std::uint64_t inexact = 0;
  for (std::size_t i = 0; i < whole; i += block_elements) inexact += convert_one(in + i, out + i);
  if (whole == count) return inexact;
  std::array<From, block_elements> rest{};  // zeros are exact
  std::array<To, block_elements> converted;
  std::copy(in + whole, in + count, rest.begin());
  inexact += convert_one(rest.data(), converted.data());
  std::copy_n(converted.begin(), count - whole, out + whole);
  return inexact;
}

}  // namespace

std::uint64_t convert_values_cpu(ElementType from, ElementType to, const std::byte* in,
                                 std::byte* out, std::size_t count, Simd simd) {
  return visit(from, [&]<class From>(std::type_identity<From>) {
    return visit(to, [&]<class To>(std::type_identity<To>) -> std::uint64_t {
      if constexpr (std::is_same_v<From, To>) {
        if (count != 0) std::memcpy(out, in, count * sizeof(From));
        return 0;
      } else {
        return convert_all(reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), count,
                           simd);
      }
    });
  });
}

}  // namespace ooc::conversion

#pragma once

#include <ooc/dtype.hpp>
#include <ooc/source.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <type_traits>
#include <vector>

#include "support/bits.hpp"
#include "support/data_file.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

/// A file of values in a temporary directory, which tests of operators read as a source.
class ValuesFile {
 public:
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes these values to the file, after a header of `header_bytes`, and opens it. The source
  /// takes them to be in the other byte order if `swapped`.
  template <class T>
  Source source_of(const std::vector<T>& values, bool swapped = false,
                   std::size_t header_bytes = 0) const {
    write_file(path_, values, header_bytes);
    return open(path_, {.type = DType{element_type_of<T>(), swapped}, .offset = header_bytes});
  }

 private:
  TempDir dir_;
  std::filesystem::path path_ = dir_.path() / "values.bin";
};

/// Returns values with random bits, which depend only on `count`.
template <class T>
std::vector<T> random_bits(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) value = from_bits<T>(random());
  return values;
}

/// Returns values of random_bits(), but three in four are small numbers, many of which are equal.
template <class T>
std::vector<T> varied_values(std::size_t count) {
  std::vector<T> values = random_bits<T>(count);
  if constexpr (std::is_arithmetic_v<T>) {
    std::mt19937_64 random(count + 1);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 4 != 0) values[i] = static_cast<T>(static_cast<double>(random() % 1024) / 8);
    }
  }
  return values;
}

/// Values of very different size, so that any change of the order of additions shows.
inline std::vector<float> rough_numbers(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<float> values(count);
  for (float& value : values) {
    const auto fraction = static_cast<float>(random() >> 40) * 0x1p-24f - 0.5f;
    value = std::ldexp(fraction, static_cast<int>(random() % 40));
  }
  return values;
}

}  // namespace ooc::detail::test

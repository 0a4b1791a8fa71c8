#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

namespace ooc::detail::test {

/// Writes the bytes of `values` to a file, after a header of `header_bytes` bytes.
template <class T>
void write_file(const std::filesystem::path& path, std::span<const T> values,
                std::size_t header_bytes = 0) {
  std::ofstream file(path, std::ios::binary);
  const std::vector<char> header(header_bytes, 'h');
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  const auto bytes = std::as_bytes(values);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

template <class T>
void write_file(const std::filesystem::path& path, const std::vector<T>& values,
                std::size_t header_bytes = 0) {
  write_file(path, std::span<const T>(values), header_bytes);
}

}  // namespace ooc::detail::test

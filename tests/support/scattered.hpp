#pragma once

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/extent.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "support/data_file.hpp"

namespace ooc::detail::test {

/// Writes values to two files in pieces of random sizes, which may end within a value, and opens
/// them. Pieces are stored in another order than that of the values, as formats in chunks do: some
/// beside one another, others with random bytes between.
template <class T>
Source scattered(const std::filesystem::path& directory, const std::vector<T>& values, DType type,
                 std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  const auto bytes = std::as_bytes(std::span(values));
  constexpr std::uint64_t usual_pieces = 300;
  const std::uint64_t most = 2 * bytes.size() / usual_pieces + 9;
  std::vector<Extent> extents;
  for (std::uint64_t done = 0; done < bytes.size(); done += extents.back().bytes) {
    extents.push_back({0, 0, std::min(1 + random() % most, bytes.size() - done)});
  }
  // Pieces change places with those near them, so that a chunk has neighbours.
  std::vector<std::size_t> stored_order(extents.size());
  for (std::size_t i = 0; i < stored_order.size(); ++i) stored_order[i] = i;
  constexpr std::size_t near = 12;
  for (std::size_t i = 0; i < stored_order.size(); i += near) {
    const std::size_t group = std::min(near, stored_order.size() - i);
    std::ranges::shuffle(std::span(stored_order).subspan(i, group), random);
  }
  std::array<std::vector<std::byte>, 2> stored;
  for (const std::size_t i : stored_order) {
    const auto file = static_cast<std::uint32_t>(i / 40 % 2);
    const std::uint64_t gap = random() % 2 == 0 ? 0 : random() % 3000;
    for (std::uint64_t k = 0; k < gap; ++k) stored[file].push_back(std::byte(random()));
    extents[i].file = file;
    extents[i].offset = stored[file].size();
    std::uint64_t begin = 0;
    for (std::size_t k = 0; k < i; ++k) begin += extents[k].bytes;
    const auto piece = bytes.subspan(begin, extents[i].bytes);
    stored[file].insert(stored[file].end(), piece.begin(), piece.end());
  }
  std::vector<File> files;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto path = directory / ("scattered-" + std::to_string(i));
    write_file(path, stored[i]);
    files.push_back(File::open(path));
  }
  return SourceAccess::of_files(std::move(files), extents, std::move(type));
}

}  // namespace ooc::detail::test

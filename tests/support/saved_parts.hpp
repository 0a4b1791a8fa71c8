#pragma once

#include <ooc/collect.hpp>
#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "support/merge_parts.hpp"

namespace ooc::detail::test {

using Bytes = std::vector<std::byte>;

/// Restores saved parts of all records, merges them, and returns their result.
template <class Load>
auto merge_saved(const std::vector<Bytes>& saved, const Load& load, std::mt19937_64& random) {
  std::vector<decltype(load(saved.front()))> parts;
  for (const Bytes& part : saved) parts.push_back(load(part));
  return merge_parts(std::move(parts), random);
}

/// Expects an error when a part is restored.
template <class Load>
void expect_refused(ErrorKind kind, const Bytes& saved, const Load& load) {
  std::optional<ErrorKind> found;
  try {
    static_cast<void>(load(saved));
  } catch (const Error& error) {
    found = error.kind();
  }
  EXPECT_EQ(found, kind);
}

/// Returns the place of the findings in a saved part: behind the operator, its question, and the
/// records that the part covers.
inline std::size_t place_of_findings(const Bytes& saved) {
  ByteReader bytes(saved);
  take_text(bytes);
  take_text(bytes);
  bytes.take_bytes(2 * sizeof(std::uint64_t));
  bytes.take_bytes(bytes.take_count(sizeof(RecordRange)) * sizeof(RecordRange));
  bytes.take_bytes(sizeof(std::uint64_t));  // their length
  return saved.size() - bytes.left();
}

/// Returns a saved part with another value at a place.
template <class T>
Bytes with_value(Bytes saved, std::size_t place, const T& value) {
  std::memcpy(saved.data() + place, &value, sizeof value);
  return saved;
}

/// Expects that no beginning of a saved part is restored, nor one with further bytes.
template <class Load>
void expect_whole_only(const Bytes& saved, const Load& load) {
  for (std::size_t size = 0; size < saved.size(); ++size) {
    SCOPED_TRACE(size);
    expect_refused(ErrorKind::bad_input,
                   {saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(size)}, load);
  }
  Bytes longer = saved;
  longer.push_back({});
  expect_refused(ErrorKind::bad_input, longer, load);
  const std::size_t length_place = place_of_findings(saved) - sizeof(std::uint64_t);
  const std::uint64_t length = saved.size() - length_place;  // with one number more
  longer.resize(saved.size() + sizeof length);
  expect_refused(ErrorKind::bad_input, with_value(longer, length_place, length), load);
}

/// Expects that a part is not restored if a bit of these bytes of its findings is another.
template <class Load>
void expect_all_bits_count(const Bytes& saved, std::size_t first, std::size_t count,
                           const Load& load) {
  const std::size_t begin = place_of_findings(saved) + first;
  for (std::size_t i = begin; i < begin + count; ++i) {
    SCOPED_TRACE(i - begin);
    const auto bit = std::byte{1} << i % 8;
    expect_refused(ErrorKind::bad_input, with_value(saved, i, saved[i] ^ bit), load);
  }
}

}  // namespace ooc::detail::test

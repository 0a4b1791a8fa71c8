#pragma once

#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>

namespace ooc::detail::test {

/// Page-aligned memory.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : size_(bytes), data_(static_cast<std::byte*>(std::aligned_alloc(page_bytes, bytes))) {
    std::ranges::fill(span(), std::byte{0xAA});
  }
  ~Pages() { std::free(data_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::span<std::byte> span() const { return {data_, size_}; }

 private:
  std::size_t size_;
  std::byte* data_;
};

}  // namespace ooc::detail::test

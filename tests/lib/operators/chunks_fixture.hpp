#pragma once

#include <ooc/chunks.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "support/machines.hpp"
#include "support/values_file.hpp"

namespace ooc::detail::test {

/// Returns the numbers from 7 on.
inline std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 7u);
  return values;
}

/// A coordinator of a machine, a stream of the caller's, and files of rows.
class ChunksFixture : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    OOC_SKIP_WITHOUT_MACHINE(GetParam());
    used_.emplace(test::make_device(GetParam()), Options{.streams = 2});
    used_->device().bind_to_thread();
    stream_ = used_->device().make_stream();
  }

  Source rows_of(std::size_t rows, std::size_t columns) const {
    Source source = file_.source_of(numbers(rows * columns));
    source.set_shape({rows, columns});
    return source;
  }

  ValuesFile file_;
  std::optional<Coordinator> used_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace ooc::detail::test

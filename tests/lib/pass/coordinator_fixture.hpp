#pragma once

#include <ooc/coordinator.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "support/data_file.hpp"
#include "support/operators.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

class CoordinatorTest : public testing::Test {
 protected:
  std::filesystem::path make_file(const std::string& name, std::size_t bytes,
                                  std::size_t header = 0) {
    const auto values = test::random_bytes(bytes, static_cast<unsigned>(bytes));
    const auto path = dir_.path() / name;
    test::write_file(path, values, header);
    contents_.insert(contents_.end(), values.begin(), values.end());
    return path;
  }
  void expect_all(const Collect& collect) const {
    EXPECT_EQ(collect.seen, contents_.size());
    EXPECT_TRUE(test::same_bytes(collect.data, contents_));
  }

  test::TempDir dir_;
  std::vector<std::byte> contents_;
};

}  // namespace ooc::detail::test

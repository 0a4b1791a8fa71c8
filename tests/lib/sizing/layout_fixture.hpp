#pragma once

#include <ooc/io/source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "sizing/layout.hpp"
#include "support/temp_dir.hpp"

namespace ooc::test {

class LayoutTest : public testing::Test {
 protected:
  /// Creates a sparse file. Its holes are not in the page cache, so it is read directly.
  File sparse_file(const char* name, std::uint64_t bytes) {
    const auto path = dir_.path() / name;
    std::ofstream{path};
    std::filesystem::resize_file(path, bytes);
    return File::open(path);
  }
  Source sparse(std::uint64_t bytes, std::uint64_t offset = 0) {
    std::vector<File> files;
    files.push_back(sparse_file("sparse.bin", offset + bytes));
    return Source(std::move(files), {{0, offset, bytes}}, {ElementType::u1, false});
  }

  test::TempDir dir_;
  Workers workers_{.lanes = 2, .reading_lanes = 6, .readers = 4, .writers = 2};
};

}  // namespace ooc::test

#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/matmul.hpp>
#include <ooc/ranks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/data_file.hpp"
#include "support/local_ranks.hpp"
#include "support/matrices.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

/// Products that several devices or ranks share.
class SharedProduct : public testing::Test {
 protected:
  /// Integers, whose sums are exact: the bits do not depend on the tiling.
  Source matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    const auto path = dir_.path() / name;
    write_file(path, random_integers<float>(rows, columns, 1).values);
    Source source = open(path, {.type = DType{ElementType::f4}});
    source.set_shape({rows, columns});
    return source;
  }

  static std::vector<std::unique_ptr<Device>> cpus(std::size_t count) {
    std::vector<std::unique_ptr<Device>> devices;
    while (devices.size() < count) devices.push_back(make_device(DeviceKind::cpu));
    return devices;
  }

  static Options limited(Ranks* ranks = nullptr) {
    return {.threads = 2, .memory_bytes = 64 * MiB, .device_bytes = 256 * KiB, .ranks = ranks};
  }

  Target target(const std::string& name = "c.npy") const {
    return {.path = made_ / name, .type = DType{ElementType::f4, true}};
  }

  std::string expected(const Source& a, const Source& b) const {
    Coordinator alone(make_device(DeviceKind::cpu));
    Target other = target();
    other.path = dir_.path() / "expected.npy";
    other.replace = true;
    matmul(alone, a, b, other);
    return read_whole(other.path);
  }

  /// Takes the file that was made.
  std::string made() const {
    std::string bytes = read_whole(target().path);
    EXPECT_EQ(made_dir_.names(), std::vector<std::string>{"c.npy"});
    std::filesystem::remove(target().path);
    return bytes;
  }

  static void expect_none(const std::vector<std::exception_ptr>& errors) {
    for (const auto& error : errors) EXPECT_EQ(error, nullptr) << described(error).second;
  }

  TempDir dir_, made_dir_, saved_dir_;
  std::filesystem::path made_ = made_dir_.path(), saved_ = saved_dir_.path();
};

}  // namespace ooc::detail::test

#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/kernels/matmul.hpp>
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

namespace ooc::test {

/// Products that several devices or ranks share.
class SharedProduct : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(made_);
    std::filesystem::create_directory(saved_);
  }

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
    return {.path = made_ / name, .type = {ElementType::f4, true}};
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
    EXPECT_EQ(names(made_), std::vector<std::string>{"c.npy"});
    std::filesystem::remove(target().path);
    return bytes;
  }

  static std::vector<std::string> names(const std::filesystem::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  static void expect_none(const std::vector<std::exception_ptr>& errors) {
    for (const auto& error : errors) EXPECT_EQ(error, nullptr) << described(error).second;
  }

  TempDir dir_;
  std::filesystem::path made_ = dir_.path() / "made", saved_ = dir_.path() / "saved";
};

}  // namespace ooc::test

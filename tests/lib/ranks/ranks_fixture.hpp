#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/ranks.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/parts/savable_operators.hpp"
#include "support/local_ranks.hpp"
#include "support/temp_dir.hpp"
#include "support/values_file.hpp"

namespace ooc::detail::test {

/// A sum whose bits show the order of additions.
struct RankSum : NamedSum {
  static constexpr bool same_bits_everywhere = true;
};

struct OtherRankSum : RankSum {
  static constexpr std::string_view partial_name = "test.other/1";
};

/// Values that ranks read.
class RanksTest : public testing::Test {
 protected:
  static constexpr std::size_t count_ = 300 * partition + 77;
  static constexpr std::uint64_t bytes_ = count_ * sizeof(float);

  static std::vector<float> values() {
    std::vector<float> values(count_);
    for (std::size_t i = 0; i < count_; ++i) values[i] = 1.0f / static_cast<float>(i % 1000 + 1);
    return values;
  }

  /// Returns the options of a rank: small chunks, so that there are many blocks.
  static Options options(Ranks& ranks) {
    return {.chunk_bytes = 2 * partition * sizeof(float), .threads = 2, .ranks = &ranks};
  }

  static std::unique_ptr<Device> cpu() { return make_device(DeviceKind::cpu); }

  template <class Op>
  auto alone(const Op& op, const Source& source) {
    Coordinator one(cpu());
    return fold(one, op, source).value;
  }

  /// Expects that all ranks throw an error of this kind, whose text has `what`.
  static void expect_errors(const std::vector<std::exception_ptr>& errors, ErrorKind kind,
                            const std::string& what) {
    for (const auto& error : errors) {
      const auto [found, text] = described(error);
      EXPECT_EQ(found, kind) << text;
      EXPECT_NE(text.find(what), std::string::npos) << text;
    }
  }

  static void expect_none(const std::vector<std::exception_ptr>& errors) {
    for (const auto& error : errors) EXPECT_EQ(error, nullptr) << described(error).second;
  }

  ValuesFile file_;
  TempDir dir_;
};

}  // namespace ooc::detail::test

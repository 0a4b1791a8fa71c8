// Tests check(): it finds operators that break a rule, and accepts those that do not.

#include <ooc/check.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "io/expect_error.hpp"
#include "support/float_sum.hpp"

namespace ooc::detail {
namespace {

std::vector<float> counting_up(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

class CheckTest : public testing::Test {
 protected:
  template <class Op>
  void accept(const Op& op) {
    check(coordinator_, op, from_memory(values_));
  }
  template <class Op>
  void refuse(const Op& op, const std::string& rule) {
    test::expect_error(ErrorKind::verify, "the operator breaks a rule: " + rule,
                       [&] { accept(op); });
  }

  std::vector<float> values_ = counting_up(10'007);
  Coordinator coordinator_{make_device(DeviceKind::cpu), {.streams = 2}};
};

using test::FloatSum;

/// A float loses what is small beside the sum, which is no fault.
struct SumInFloat {
  using Input = float;
  using Partial = float;
  void consume(Stream&, DeviceSpan<const float> in, float& sum) const {
    for (const float value : in) sum += value;
  }
  void merge(float& total, const float& part) const { total += part; }
};

struct SumByPlace : FloatSum {
  static constexpr Merge merge_order = Merge::by_place;
  void merge(double& total, double& part) const { total += std::exchange(part, 0.0); }
};

struct Joined {
  using Input = float;
  using Partial = std::vector<float>;
  static constexpr Merge merge_order = Merge::in_order;
  void consume(Stream&, DeviceSpan<const float> in, Partial& all) const {
    all.insert(all.end(), in.begin(), in.end());
  }
  void merge(Partial& total, const Partial& part) const {
    total.insert(total.end(), part.begin(), part.end());
  }
};

struct MeanOfNeighbours {
  using Input = float;
  using Partial = std::array<double, 2>;
  std::size_t before() const { return 1; }
  void consume(Stream&, DeviceWindow<const float> in, Partial& sum) const {
    const auto size = static_cast<std::ptrdiff_t>(in.size);
    for (auto i = -static_cast<std::ptrdiff_t>(in.before); i + 1 < size; ++i) {
      sum[0] += double{in.at(i + 1)} - double{in.at(i)};
      sum[1] += 1;
    }
  }
  void merge(Partial& total, const Partial& part) const {
    total[0] += part[0];
    total[1] += part[1];
  }
  double result(const Partial& total) const { return total[0] / total[1]; }
};

TEST_F(CheckTest, AcceptsWhatIsRight) {
  accept(FloatSum{});
  accept(SumInFloat{});
  accept(SumByPlace{});
  accept(Joined{});
  accept(MeanOfNeighbours{});
  check(FloatSum{}, from_memory(values_));
}

struct Assigned : FloatSum {
  void consume(Stream&, DeviceSpan<const float> in, double& sum) const {
    sum = std::accumulate(in.begin(), in.end(), 0.0);
  }
};

TEST_F(CheckTest, FindsAPartialThatIsAssigned) {
  refuse(Assigned{}, "consume() adds to its Partial, and never assigns it");
}

struct Means : FloatSum {
  void merge(double& total, const double& part) const {
    total = total == 0 ? part : part == 0 ? total : (total + part) / 2;
  }
};
struct MeansInOrder : Means {
  static constexpr Merge merge_order = Merge::in_order;
};

TEST_F(CheckTest, FindsAMergeThatIsNotAssociative) {
  refuse(Means{}, "merge() is associative");
  refuse(MeansInOrder{}, "the result does not depend on how the data are divided");
}

struct AreAllPositive {  // false is not neutral
  using Input = float;
  using Partial = bool;
  void consume(Stream&, DeviceSpan<const float> in, bool& are) const {
    are = std::all_of(in.begin(), in.end(), [](float value) { return value > 0; });
  }
  void merge(bool& total, const bool& part) const { total = total && part; }
};
struct Smallest {
  struct Least {
    float value = std::numeric_limits<float>::infinity();
    bool operator==(const Least&) const = default;
  };
  using Input = float;
  using Partial = Least;
  void consume(Stream&, DeviceSpan<const float> in, Least& least) const {
    for (const float value : in) least.value = std::min(least.value, value);
  }
  void merge(Least& total, const Least& part) const {
    total.value = std::min(total.value, part.value);
  }
};

TEST_F(CheckTest, FindsAPartialThatIsNotNeutral) {
  refuse(AreAllPositive{}, "Partial{} is neutral");
  accept(Smallest{});
}

struct Chunked : FloatSum {
  void consume(Stream&, DeviceSpan<const float> in, double& calls) const {
    calls += in.size != 0 ? 1 : 0;
  }
};

TEST_F(CheckTest, FindsAResultThatDependsOnHowTheDataAreDivided) {
  refuse(Chunked{}, "the result does not depend on how the data are divided");
}

struct CountedAgain : FloatSum {
  static constexpr Merge merge_order = Merge::by_place;
  void merge(double& total, double& part) const { total += part; }
};

TEST_F(CheckTest, FindsAPartThatKeepsWhatWasMerged) {
  refuse(CountedAgain{}, "merge() of Merge::by_place removes from the part what it has merged");
}

struct NotReset : FloatSum {
  void reset(Stream&, double&) const {}
};
struct NotSaved : FloatSum {
  void save(const double&, std::vector<std::byte>&) const {}
  void load(std::span<const std::byte>, double&) const {}
};

TEST_F(CheckTest, FindsWrongResetsAndSaves) {
  refuse(NotReset{}, "reset() makes a partial neutral");
  refuse(NotSaved{}, "load() reads what save() has written");
}

struct SumInPartitions : FloatSum {
  static constexpr std::size_t partition_records = 1024;
  void consume(Stream& stream, DeviceChunk<const float> in, double& sum) const {
    EXPECT_EQ(in.first % 1024, 0u);
    FloatSum::consume(stream, in, sum);
  }
};

TEST_F(CheckTest, DividesAtPartitions) {
  accept(SumInPartitions{});
  values_.resize(3 * 1024 - 1);
  test::expect_error(ErrorKind::usage, "check() needs three partitions of the operator: 3072",
                     [&] { accept(SumInPartitions{}); });
}

TEST_F(CheckTest, NeedsThreeRecords) {
  values_.resize(3);
  accept(FloatSum{});
  refuse(Assigned{}, "consume() adds to its Partial, and never assigns it");
  values_.resize(2);
  test::expect_error(ErrorKind::usage, "check() needs a source of 3 records at least",
                     [&] { accept(FloatSum{}); });
}

TEST_F(CheckTest, ComparesAsItIsTold) {
  const auto never = [](double, double) { return false; };
  test::expect_error(ErrorKind::verify, "Partial{} is neutral",
                     [&] { check(coordinator_, FloatSum{}, from_memory(values_), never); });
}

}  // namespace
}  // namespace ooc::detail

#include <ooc/chunks.hpp>
#include <ooc/ranks.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/ranks/ranks_fixture.hpp"
#include "support/late_device.hpp"

// Jobs that ranks do not share, and ranks that do not belong together.

namespace ooc::detail::test {
namespace {

using RanksRefuse = RanksTest;

struct Other : RankSum {
  static constexpr std::string_view partial_name = "test.other/1";
};

struct InOrder : RankSum {
  static constexpr Merge merge_order = Merge::in_order;
};

TEST_F(RanksRefuse, OtherDataOnAnotherRankAreRefused) {
  const Source source = file_.source_of(values());
  std::vector<float> changed = values();
  changed[5] = 3;
  const ValuesFile other;
  const Source others = other.source_of(changed);
  const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    fold(coordinator, RankSum{}, ranks.rank() == 2 ? others : source);
  });
  expect_errors(errors, ErrorKind::input_changed, "rank 2 on host0 has other data than rank 0");
}

TEST_F(RanksRefuse, AFileOfAnotherSizeOnAnotherRankIsRefused) {
  const Source source = file_.source_of(values());
  const ValuesFile other;
  const Source others = other.source_of(std::vector<float>(values().size() - 1));
  const auto errors = LocalRanks(2).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    fold(coordinator, RankSum{}, ranks.rank() == 1 ? others : source);
  });
  expect_errors(errors, ErrorKind::input_changed, "rank 1 on host0 has other data than rank 0");
}

/// A sum whose partitions the library chooses.
struct AutomaticSum {
  using Input = float;
  using Partial = double;
  static constexpr std::string_view partial_name = "test.automatic/1";
  void consume(Stream& stream, DeviceChunk<const float> in, double& sum) const {
    for (const float value : on_host<const float>(stream, in)) sum += value;
  }
  void merge(double& total, const double& part) const { total += part; }
};

// A GPU has other partitions than the CPU, unless the operator says that it has the same bits.
TEST_F(RanksRefuse, OtherPartitionsOnAnotherRankAreRefusedAtOnce) {
  const Source source = file_.source_of(values());
  const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
    std::unique_ptr<Device> device = cpu();
    if (ranks.rank() == 2) device = std::make_unique<LateDevice>();
    Coordinator coordinator(std::move(device), {.threads = 2, .ranks = &ranks});
    fold(coordinator, AutomaticSum{}, source);
  });
  expect_errors(errors, ErrorKind::usage, "rank 2 on host0 has partitions of");
}

TEST_F(RanksRefuse, AnotherJobOnAnotherRankIsRefused) {
  const Source source = file_.source_of(values());
  const auto errors = LocalRanks(2).run([&](Ranks& ranks) {
    Coordinator coordinator(cpu(), options(ranks));
    if (ranks.is_first()) {
      fold(coordinator, RankSum{}, source);
    } else {
      fold(coordinator, Other{}, source);
    }
  });
  expect_errors(errors, ErrorKind::usage, "another job than rank 0");
}

TEST_F(RanksRefuse, JobsThatCannotBeDividedAreRefused) {
  const Source source = file_.source_of(values());
  const auto refuses = [&](const std::string& why, const auto& job) {
    const auto errors = LocalRanks(2).run([&](Ranks& ranks) {
      Coordinator coordinator(cpu(), options(ranks));
      try {
        job(coordinator, dir_.path() / "out.f32");
      } catch (const Error& error) {
        EXPECT_NE(error.details().why.find(why), std::string::npos) << error.details().why;
        throw;
      }
    });
    expect_errors(errors, ErrorKind::usage, "does not run on several ranks");
  };
  refuses("in the order of the data", [&](Coordinator& coordinator, const auto& /*path*/) {
    fold(coordinator, InOrder{}, source);
  });
  refuses("`partial_name`", [&](Coordinator& coordinator, const auto& /*path*/) {
    fold(coordinator, RoundedSum{}, source);
  });
  refuses("in their order", [&](Coordinator& coordinator, const auto& /*path*/) {
    fold(coordinator, RankSum{}, source, {.checksum = true});
  });
  refuses("each would do all of it", [&](Coordinator& coordinator, const auto& /*path*/) {
    Chunks chunks(coordinator, source);
    while (chunks.next()) continue;
  });
}

}  // namespace
}  // namespace ooc::detail::test

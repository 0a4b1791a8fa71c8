#include "ranks/conversation.hpp"

#include <ooc/chunks.hpp>
#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/ranks/ranks_fixture.hpp"
#include "support/late_device.hpp"

// Jobs that ranks do not share, and ranks that do not belong together.

namespace ooc::detail::test {
namespace {

using RanksRefuse = RanksTest;

struct RankSumInOrder : RankSum {
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
      fold(coordinator, OtherRankSum{}, source);
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
    fold(coordinator, RankSumInOrder{}, source);
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

/// Messages of a rank of another version, or that have been damaged.
class StrangeRank : public testing::Test {
 protected:
  using Word = detail::Word;

  static std::vector<std::byte> message(std::uint8_t word) {
    std::vector<std::byte> bytes;
    append_bytes(bytes, word);
    append_bytes(bytes, std::uint64_t{0});  // the job
    return bytes;
  }

  static std::vector<std::byte> message(Word word) {
    return message(static_cast<std::uint8_t>(word));
  }

  /// The message of a failure of rank 1.
  static std::vector<std::byte> failure(std::uint8_t kind) {
    std::vector<std::byte> bytes = message(Word::failure);
    append_bytes(bytes, std::uint64_t{1});
    append_bytes(bytes, kind);
    for (const char* const text : {"the disk is lost", "why", "hint"}) append_text(bytes, text);
    return bytes;
  }

  /// Lets rank 1 send this after its first word. Returns the error of rank 0, which waits for it.
  static std::optional<Error> error_after(std::vector<std::byte> bytes) {
    const LocalRanks local(2);
    const std::unique_ptr<Communicator> strange = local.end(1);
    std::vector<std::byte> hello = message(Word::hello);
    append_text(hello, "host1");
    append_text(hello, "all");
    strange->send(0, std::move(hello));
    detail::Conversation conversation(local.end(0));
    strange->send(0, std::move(bytes));
    try {
      conversation.await(Word::begin, 1);
    } catch (const Error& error) {
      return error;
    }
    return std::nullopt;
  }

  static void expect_not_understood(std::vector<std::byte> bytes, const std::string& why) {
    const std::optional<Error> error = error_after(std::move(bytes));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    EXPECT_STREQ(error->what(), "rank 0 on host0 does not understand a message of rank 1 on host1");
    EXPECT_EQ(error->details().why, why);
  }
};

TEST_F(StrangeRank, HasAnErrorOfEachKind) {
  for (std::uint8_t kind = 0; kind <= static_cast<std::uint8_t>(ErrorKind::internal); ++kind) {
    const std::optional<Error> error = error_after(failure(kind));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), static_cast<ErrorKind>(kind));
    EXPECT_STREQ(error->what(), "the disk is lost");
    EXPECT_EQ(error->details().why, "why");
    EXPECT_EQ(error->details().hint, "hint");
  }
}

TEST_F(StrangeRank, HasNoOtherKind) {
  for (const int kind : {11, 12, 127, 128, 255}) {
    expect_not_understood(failure(static_cast<std::uint8_t>(kind)),
                          "there is no kind of error of number " + std::to_string(kind));
  }
}

TEST_F(StrangeRank, SaysNoOtherWord) {
  expect_not_understood(message(15), "there is no word of number 15");
  expect_not_understood(message(255), "there is no word of number 255");
}

TEST_F(StrangeRank, SaysNoMessageThatIsCutOff) {
  const std::vector<std::byte> whole = failure(0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_not_understood({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)},
                          "it ends too early");
  }
}

}  // namespace
}  // namespace ooc::detail::test

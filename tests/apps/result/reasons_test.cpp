#include "result/reasons.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace ooc_run {
namespace {

using ooc::Reason;
using ooc::ReasonKind;

struct Case {
  Reason reason;
  std::string_view sentence;
};

/// Each choice at least once.
std::vector<Case> cases() {
  return {
      {{ReasonKind::buffered_reads, "tmpfs has no disk under it"},
       "reading through the page cache: tmpfs has no disk under it"},
      {{ReasonKind::cached_reads, "", {62}},
       "reading through the page cache: 62 % of the input is there"},
      {{ReasonKind::mixed_reads, "", {62}}, "62 % from page cache, rest direct"},
      {{ReasonKind::ordered_reads},
       "reading from beginning to end, as a checksum or a checkpoint needs it, not cached and "
       "uncached parts by turns"},
      {{ReasonKind::buffered_writes, "the output is smaller than a page"},
       "writing through the page cache: the output is smaller than a page"},
      {{ReasonKind::engine, "io_uring is not available"}, "io_uring is not available"},
      {{ReasonKind::queue_depth, "", {1024, 16}},
       "keeping 1024 reads in flight instead of 16, which was faster"},
      {{ReasonKind::no_read_ahead},
       "not reading ahead while the GPU starts: there is no memory for it"},
      {{ReasonKind::chunk_for_disk},
       "chunks are small: the disk is slower than the link to the GPU"},
      {{ReasonKind::chunk_for_link}, "chunks are large enough to fill the link to the GPU"},
      {{ReasonKind::chunk_for_core}, "chunks fit a core's own cache, in which they are consumed"},
      {{ReasonKind::chunk_as_asked, "", {65536}},
       "chunks are as large as --chunk says, rounded up to a multiple of 65,536 elements"},
      {{ReasonKind::chunk_at_least, "", {65536}},
       "chunks are of 65,536 elements, the fewest there can be, though --chunk says less"},
      {{ReasonKind::chunk_within_limits}, "chunks are as large as the limits of memory allow"},
      {{ReasonKind::chunk_halved, "the GPU is full", {4194304, 8388608}},
       "using chunks of 4194304 bytes instead of 8388608: the GPU is full"},
      {{ReasonKind::streams_as_asked}, "as many streams as --streams says"},
      {{ReasonKind::two_streams}, "two streams: one computes while the other is being filled"},
      {{ReasonKind::three_streams}, "three streams: one is being filled while the others compute"},
      {{ReasonKind::stream_per_core}, "a stream for each core"},
      {{ReasonKind::stream_per_thread},
       "a stream for each of --threads, which reads what it computes"},
      {{ReasonKind::stream_per_two_threads},
       "a stream for half of --threads, which compute while others read"},
      {{ReasonKind::streams_within_limits},
       "there are as many streams as the limit of memory has room for"},
      {{ReasonKind::input_not_kept},
       "reading the input in each pass: the device has no memory to keep it"},
      {{ReasonKind::resident_input, "", {500, 500}},
       "later passes find all of the input on the device, where the first left it"},
      {{ReasonKind::resident_input, "", {100, 500}},
       "later passes find 20 % of the input on the device, where the first left it"},
      {{ReasonKind::chunk_for_kernels}, "chunks are large, since nothing is loaded"},
      {{ReasonKind::product_blocks, "", {2, 1}},
       "each device computes a block of C, which is cut into 2 x 1: it reads the rows of A and the "
       "columns of B for that"},
      {{ReasonKind::resident_a, "", {1, 3}},
       "panels of A stay on the device: A is loaded once, B 3 times"},
      {{ReasonKind::resident_b, "", {2, 1}},
       "panels of B stay on the device: A is loaded 2 times, B once"},
      {{ReasonKind::resident_c, "", {4, 1, 2000, 3}},
       "a tile of C stays on the device, one of 2000 x 3: A is loaded 4 times, B once"},
      {{ReasonKind::cached_panels, "", {1200}},
       "host memory keeps 1200 panels that are needed again"},
  };
}

TEST(Reasons, AreSentences) {
  for (const auto& [reason, sentence] : cases()) EXPECT_EQ(sentence_of(reason), sentence);
}

TEST(Reasons, AreInTheirOrder) {
  EXPECT_EQ(sentences_of(
                std::vector<Reason>{{ReasonKind::stream_per_core}, {ReasonKind::engine, "none"}}),
            (std::vector<std::string>{"a stream for each core", "none"}));
  EXPECT_TRUE(sentences_of({}).empty());
}

TEST(Reasons, NameOnlyOptionsThatExist) {
  std::vector<std::string> options;
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) options.emplace_back(option.name);
  }
  int named = 0;
  for (const Case& each : cases()) {
    const std::size_t begin = each.sentence.find("--");
    if (begin == std::string_view::npos) continue;
    const std::string_view rest = each.sentence.substr(begin + 2);
    const auto end =
        std::ranges::find_if_not(rest, [](unsigned char c) { return std::isalpha(c); });
    EXPECT_NE(std::ranges::find(options, std::string(rest.begin(), end)), options.end())
        << each.sentence;
    ++named;
  }
  EXPECT_EQ(named, 5);
}

TEST(Reasons, AreRepeatedIfOnlyTheirFiguresDiffer) {
  const Reason some{ReasonKind::mixed_reads, "", {40}}, more{ReasonKind::mixed_reads, "", {60}};
  const Reason cached{ReasonKind::cached_reads, "", {60}};
  const Reason no_disk{ReasonKind::buffered_writes, "no disk"},
      small{ReasonKind::buffered_writes, "small"};
  EXPECT_EQ(without_repetitions(std::vector{some, no_disk, more, small, cached, no_disk}),
            (std::vector{some, no_disk, small, cached}));
}

TEST(Reasons, SayWhatAChunkThatWasAskedForIsRoundedTo) {
  ooc::Stats stats;
  stats.outcome.bytes = 1 << 20;
  stats.layout.chunk_bytes = 1 << 16;
  EXPECT_EQ(rounded_chunk(stats, 0), "");
  EXPECT_EQ(rounded_chunk(stats, 1 << 16), "");
  EXPECT_EQ(rounded_chunk(stats, 1 << 20), "") << "all there is fits one";
  const std::string of_product =
      "chunks are of 64 KiB, whole tiles of a matrix, though --chunk says less";
  EXPECT_EQ(rounded_chunk(stats, 100), of_product);
  EXPECT_EQ(rounded_chunk(stats, 1 << 17), "");
  stats.layout.why_chunk = Reason{ReasonKind::chunk_as_asked, "", {4096}};
  EXPECT_EQ(rounded_chunk(stats, 60'000),
            "chunks are as large as --chunk says, rounded up to a multiple of 4,096 elements");
}

TEST(Reasons, SayWhichRanksHadNoGpu) {
  ooc::Stats stats;
  EXPECT_EQ(ranks_without_gpu(stats), "");
  stats.ranks = {{.rank = 0, .device = "cuda:0 NVIDIA H200"},
                 {.rank = 1, .device = "cpu"},
                 {.rank = 2, .device = "cpu"},
                 {.rank = 3, .device = ""}};
  EXPECT_EQ(ranks_without_gpu(stats),
            "2 of 4 ranks computed on the CPU: there is a GPU for each of the others");
  stats.ranks.front().device = "cpu";
  EXPECT_EQ(ranks_without_gpu(stats), "");
}

}  // namespace
}  // namespace ooc_run

#include "result/reasons.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "cli/sizes.hpp"

namespace ooc_run {
namespace {

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (part == whole) return "all";
  return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

/// Returns the sentence of a reason that only a matrix product has.
std::string sentence_of_product(const ooc::Reason& reason) {
  const auto figure = [&](std::size_t index) { return reason.figures.at(index); };
  const auto loads = [&] {
    return fmt::format("A is loaded {}, B {}", times(figure(0)), times(figure(1)));
  };
  switch (reason.what) {
    using enum ooc::ReasonKind;
    case product_blocks:
      return fmt::format(
          "each device computes a block of C, which is cut into {} x {}: it reads "
          "the rows of A and the columns of B for that",
          figure(0), figure(1));
    case resident_a: return "panels of A stay on the device: " + loads();
    case resident_b: return "panels of B stay on the device: " + loads();
    case resident_c:
      return fmt::format("a tile of C stays on the device, one of {} x {}: {}", figure(2),
                         figure(3), loads());
    default: return fmt::format("host memory keeps {} panels that are needed again", figure(0));
  }
}

}  // namespace

std::string sentence_of(const ooc::Reason& reason) {
  const auto figure = [&](std::size_t index) { return reason.figures.at(index); };
  const auto elements = [&] { return group_digits(std::to_string(figure(0))) + " elements"; };
  switch (reason.what) {
    using enum ooc::ReasonKind;
    case produced_reads: return reason.why + " is read once, from beginning to end";
    case buffered_reads: return "reading through the page cache: " + reason.why;
    case remote_reads: return "reading from " + reason.why + ", in ranges of bytes";
    case cached_reads:
      return fmt::format("reading through the page cache: {} % of the input is there", figure(0));
    case mixed_reads: return fmt::format("{} % from page cache, rest direct", figure(0));
    case ordered_reads:
      return "reading from beginning to end, as a checksum or a checkpoint needs it, not cached "
             "and uncached parts by turns";
    case buffered_writes: return "writing through the page cache: " + reason.why;
    case engine: return reason.why;
    case queue_depth:
      return fmt::format("keeping {} reads in flight instead of {}, which was faster", figure(0),
                         figure(1));
    case no_read_ahead: return "not reading ahead while the GPU starts: there is no memory for it";
    case input_not_kept:
      return "reading the input in each pass: the device has no memory to keep it";
    case resident_input:
      return "later passes find " + share_of(figure(0), figure(1)) +
             " of the input on the device, where the first left it";
    case chunk_for_kernels: return "chunks are large, since nothing is loaded";
    case chunk_for_disk: return "chunks are small: the disk is slower than the link to the GPU";
    case chunk_for_link: return "chunks are large enough to fill the link to the GPU";
    case chunk_for_core: return "chunks fit a core's own cache, in which they are consumed";
    case chunk_for_requests:
      return "chunks are large: a server answers each request after a round trip";
    case chunk_for_pieces:
      return "chunks are as large as the pieces that are decoded, or as they may be";
    case chunk_for_margin: return "chunks are large beside the records around them, read twice";
    case chunk_as_asked:
      return "chunks are as large as --chunk says, rounded up to a multiple of " + elements();
    case chunk_at_least:
      return fmt::format("chunks are of {}, the fewest there can be, though --chunk says less",
                         elements());
    case chunk_within_limits: return "chunks are as large as the limits of memory allow";
    case chunk_halved:
      return fmt::format("using chunks of {} bytes instead of {}: {}", figure(0), figure(1),
                         reason.why);
    case streams_as_asked: return "as many streams as --streams says";
    case two_streams: return "two streams: one computes while the other is being filled";
    case three_streams: return "three streams: one is being filled while the others compute";
    case stream_per_core: return "a stream for each core";
    case stream_per_thread: return "a stream for each of --threads, which reads what it computes";
    case stream_per_two_threads:
      return "a stream for half of --threads, which compute while others read";
    case streams_within_limits:
      return "there are as many streams as the limit of memory has room for";
    case product_blocks:
    case resident_a:
    case resident_b:
    case resident_c:
    case cached_panels: return sentence_of_product(reason);
  }
  __builtin_unreachable();
}

std::vector<std::string> sentences_of(std::span<const ooc::Reason> reasons) {
  std::vector<std::string> sentences;
  std::ranges::transform(reasons, std::back_inserter(sentences), sentence_of);
  return sentences;
}

std::vector<ooc::Reason> without_repetitions(std::span<const ooc::Reason> reasons) {
  std::vector<ooc::Reason> rest;
  for (const ooc::Reason& reason : reasons) {
    const auto repeats = [&](const ooc::Reason& other) {
      return other.what == reason.what && other.why == reason.why;
    };
    if (std::ranges::none_of(rest, repeats)) rest.push_back(reason);
  }
  return rest;
}

std::string ranks_without_gpu(const ooc::Stats& stats) {
  const auto on_cpu = [](const ooc::RankShare& share) { return share.device == "cpu"; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(stats.ranks, on_cpu));
  if (count == 0 || on_cpu(stats.ranks.front())) return {};
  return fmt::format("{} of {} computed on the CPU: there is a GPU for each of the others", count,
                     format_count(stats.ranks.size(), "rank"));
}

std::string rounded_chunk(const ooc::Stats& stats, std::size_t asked) {
  const ooc::LayoutStats& layout = stats.layout;
  if (asked == 0 || asked >= stats.outcome.bytes || layout.chunk_bytes == asked) return {};
  if (layout.why_chunk) return sentence_of(*layout.why_chunk);
  if (layout.chunk_bytes < asked) return {};  // of a product: --chunk is an upper limit
  return fmt::format("chunks are of {}, whole tiles of a matrix, though --chunk says less",
                     format_binary_bytes(layout.chunk_bytes));
}

}  // namespace ooc_run

#include "lib/simulation/scenario.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/transfer/reader.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <sstream>
#include <string>

#include "support/inputs_of.hpp"
#include "support/random.hpp"

namespace ooc::detail::test {

namespace {

constexpr std::size_t files = 3;
constexpr std::size_t file_bytes = 60'000;
constexpr std::size_t most_output_bytes = 12 * files * file_bytes;
constexpr std::size_t element_sizes[] = {1, 2, 3, 4, 8, 12};

/// Appends extents of `bytes` in all.
void add_random_extents(Random& random, std::uint32_t input, std::size_t bytes,
                        std::vector<Extent>& extents) {
  constexpr std::size_t most_extents = 3;  // but for a large input
  const std::size_t end = extents.size() + most_extents;
  while (bytes > 0) {
    const std::size_t most = std::min(bytes, file_bytes);
    const bool is_last = extents.size() + 1 >= end || random.one_in(2);
    const std::size_t taken = is_last ? most : random.between(1, most);
    const std::size_t offset = random.below(file_bytes - taken + 1);
    const std::size_t aligned = random.one_in(2) ? round_down(offset, 8) : offset;
    const auto file = static_cast<std::uint32_t>(random.below(files));
    extents.push_back({.file = file, .offset = aligned, .bytes = taken, .input = input});
    bytes -= taken;
  }
}

bool is_word(std::size_t bytes) {
  return bytes == 2 || bytes == 4 || bytes == 8;
}

std::vector<std::vector<std::byte>> random_contents() {
  std::vector<std::vector<std::byte>> contents;
  for (unsigned i = 0; i < files; ++i) {
    contents.push_back(random_bytes(round_up(file_bytes, page_bytes), i));
  }
  return contents;
}

std::vector<File> open_files(const TempDir& dir, std::span<const std::vector<std::byte>> contents) {
  std::vector<File> opened;
  for (const auto& content : contents) {
    const std::string name = std::to_string(opened.size());
    opened.push_back(File::open(dir.write(name, std::span(content).first(file_bytes))));
  }
  return opened;
}

}  // namespace

Scenario::Scenario(std::uint64_t wanted) : seed(wanted) {
  Random random(seed);
  on_gpu = random.one_in(2);
  writes = random.one_in(2);
  selects = writes && random.one_in(3);
  reads_inline = !on_gpu && !writes && random.one_in(3);
  pieces = on_gpu && !writes && random.one_in(3) ? random.between(2, 4) : 1;
  direct = !reads_inline && random.one_in(2);
  observed = reads_inline || random.one_in(4);
  for (std::size_t inputs = random.one_in(3) ? 2 : 1; inputs > 0; --inputs) {
    records.emplace_back(element_sizes[random.below(std::size(element_sizes))]);
  }
  output_element_bytes = element_sizes[random.below(std::size(element_sizes))];
  swapped = random.one_in(4);
  tuned = !reads_inline && random.one_in(6);
  const std::size_t most_bytes = tuned ? 2 * file_bytes : file_bytes / 2;
  const std::size_t count = random.between(1, most_bytes / record_bytes());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    add_random_extents(random, i, count * records[i].bytes, extents);
  }
  chunk_records = divide_up(count, random.between(1, 24));
  if (!reads_inline && !tuned && !selects && pieces == 1 && random.one_in(4)) {
    cached.resize(divide_up(count, chunk_records));
    for (std::size_t i = 0; i < cached.size(); ++i) cached[i] = random.one_in(2);
  } else if (random.one_in(3)) {
    margin = {random.below(40), random.below(40)};
  }
  block_bytes = page_bytes * random.between(1, 3);
  read_depth = random.between(1, 6);
  write_depth = random.between(1, 4);
  lanes = random.between(1, 4);
  // A checksum needs the bytes of one input in order.
  checksummed = cached.empty() && records.size() == 1 && random.one_in(3);
  tuned ? choose_tuning(random) : choose_slots(random);

  for (std::size_t left = random.below(3); left > 0; --left) {
    const auto place = static_cast<Place>(random.below(places));
    const bool can_be_often = place >= Place::read_start || place == Place::process;
    troubles.push_back({place, random.below(can_be_often ? 24 : 8), random.one_in(3)});
  }
  reads_ahead = (resizes || tuned) && random.one_in(2);
  const bool may_be_shared = !selects && cached.empty() && !checksummed && !tuned;
  if (may_be_shared && random.one_in(3)) block_steps = random.between(1, 3);
}

/// Chooses the number of slots: one for each lane or chunk if lanes load their own chunks, as a
/// layout does, else any number.
void Scenario::choose_slots(Random& random) {
  slots = reads_inline ? std::min(lanes, plan().size()) : random.between(1, 9);
  resizes = !reads_inline && slots > 1 && random.one_in(2);
  first_slots = resizes ? random.between(1, slots) : slots;
  first_depth = least_depth = read_depth;
}

/// Chooses chunks of about one block, so that there are many, and few slots. A tuner then has many
/// requests to measure, and its changes matter to the reader.
void Scenario::choose_tuning(Random& random) {
  block_bytes = page_bytes;
  chunk_records =
      std::max<std::size_t>(random.between(page_bytes / 2, 2 * page_bytes) / record_bytes(), 1);
  lanes = random.between(1, 2);
  read_depth = random.between(2, 4);
  first_depth = random.between(1, read_depth);
  least_depth = random.between(1, first_depth);
  resizes = false;
  const auto in_flight = [&](std::size_t depth) {
    return divide_up(depth * block_bytes, chunk_bytes());
  };
  const std::size_t others = 2 * lanes + random.between(1, 2);
  slots = others + in_flight(read_depth);
  first_slots = others + in_flight(first_depth);
}

namespace {

std::shared_ptr<const ChunkOrder> by_turns(const std::vector<bool>& cached) {
  return std::make_shared<const ChunkOrder>(ChunkOrder::by_turns(cached));
}

}  // namespace

SequentialPlan Scenario::plan(std::shared_ptr<Share> share) const {
  std::vector<std::uint64_t> bytes;
  for (const RecordShape& record : records) bytes.push_back(record.bytes);
  return {ooc::test::inputs_of(extents, records.size()),
          {.chunk_records = chunk_records,
           .record_bytes = bytes,
           .order = cached.empty() ? nullptr : by_turns(cached),
           .share = std::move(share),
           .pieces_per_step = pieces,
           .before = margin.before,
           .after = margin.after}};
}

std::shared_ptr<Share> Scenario::share_of(Blocks& blocks) const {
  const std::uint64_t all = plan().records();
  return std::make_shared<Share>(blocks, all, blocks.begin(all, block_records()));
}

std::size_t Scenario::input_slot_bytes() const {
  const SequentialPlan input = plan();
  return round_up(input.max_bytes() + Reader::slack_bytes(input.max_runs(), direct), page_bytes);
}

SequentialPlan Scenario::output_plan(std::shared_ptr<Share> share) const {
  const StorageMap whole({{0, 0, output_bytes(plan().records())}});
  if (share && writes) {
    return {{{whole}},
            {.chunk_records = chunk_records,
             .record_bytes = {output_element_bytes},
             .share = std::move(share)}};
  }
  const std::uint64_t bytes = std::max<std::uint64_t>(output_bytes(chunk_records), 1);
  if (cached.empty() || !writes) return {whole, bytes};
  return {whole, bytes, by_turns(cached)};
}

std::size_t Scenario::record_bytes() const {
  std::size_t sum = 0;
  for (const RecordShape& record : records) sum += record.bytes;
  return sum;
}

std::size_t Scenario::swapped_bytes(std::size_t input) const {
  return swapped && is_word(records[input].bytes) ? records[input].bytes : 0;
}

std::uint64_t Scenario::output_bytes(std::uint64_t of_records) const {
  return writes ? of_records * output_element_bytes : 0;
}

std::uint64_t Scenario::made(std::size_t step) const {
  const std::uint64_t count = plan().step(step).count;
  if (!selects) return count;
  Random random(seed + 31 * step);
  return random.one_in(4) ? 0 : random.one_in(4) ? count : random.below(count + 1);
}

std::vector<RecordRange> Scenario::result_ranges() const {
  const SequentialPlan input = plan(), output = output_plan();
  std::vector<RecordRange> ranges;
  std::uint64_t end = 0;
  for (std::size_t step = 0; step < input.steps(); ++step) {
    const RecordRange step_records = input.step(step);
    if (selects) {
      ranges.push_back({end, output_bytes(made(step))});
    } else if (writes) {
      ranges.push_back(output.step(step));
    } else {
      ranges.push_back({step_records.first * record_bytes(), step_records.count * record_bytes()});
    }
    end = ranges.back().end();
  }
  return ranges;
}

QueueTuner Scenario::tuner() const {
  constexpr std::size_t request_bytes = 16;
  return {first_depth, least_depth, read_depth, request_bytes};
}

bool Scenario::gathers() const {
  return extents.size() > records.size() || std::ranges::any_of(extents, [&](const Extent& extent) {
           return extent.offset % records[extent.input].alignment != 0;
         });
}

std::string Scenario::describe() const {
  std::ostringstream text;
  text << "seed " << seed << " (OOC_SIMULATION_SEED=" << seed
       << "): " << (on_gpu ? "GPU, " : "CPU, ")
       << (selects  ? "filter"
           : writes ? "map"
                    : "fold")
       << (reads_inline ? ", lanes read" : "")
       << (pieces > 1 ? ", steps of " + std::to_string(pieces) + " pieces" : "")
       << (direct ? ", direct" : "") << (swapped ? ", swapped" : "")
       << (observed ? ", observed" : "") << (resizes ? ", resizes" : "") << (tuned ? ", tuned" : "")
       << (reads_ahead ? ", reads ahead" : "") << (checksummed ? ", checksummed" : "")
       << (cached.empty() ? "" : ", interleaved")
       << (is_shared() ? ", shared in blocks of " + std::to_string(block_steps) + " steps" : "")
       << "; " << lanes << " lanes, " << first_slots << " of " << slots << " slots, depth "
       << first_depth << " from " << least_depth << " to " << read_depth << ", and " << write_depth
       << "; records of";
  for (const RecordShape& record : records) text << " " << record.bytes;
  text << " bytes to " << output_element_bytes << ", chunks of " << chunk_records << ", "
       << margin.before << " before and " << margin.after << " after, blocks of " << block_bytes
       << " bytes; extents";
  for (const Extent& extent : extents) {
    text << " " << extent.input << "/" << extent.file << ":" << extent.offset << "+"
         << extent.bytes;
  }
  for (const Trouble& trouble : troubles) {
    text << "; " << (trouble.stops ? "stopped" : "failing") << " at place "
         << static_cast<std::size_t>(trouble.place) << ", call " << trouble.nth;
  }
  return text.str();
}

std::vector<std::byte> World::input_of(const Scenario& scenario, std::size_t input_index) const {
  std::vector<std::byte> input;
  for (const Extent& extent : scenario.extents) {
    if (extent.input != input_index) continue;
    const auto bytes = std::span(contents[extent.file]).subspan(extent.offset, extent.bytes);
    input.insert(input.end(), bytes.begin(), bytes.end());
  }
  return input;
}

std::string World::checksum_of(const Scenario& scenario, std::size_t records) const {
  std::vector<std::byte> input = input_of(scenario, 0);
  Checksum checksum;
  checksum.add({.index = 0, .segments = {input}}, 0, records * scenario.records.front().bytes);
  return checksum.text();
}

std::vector<std::byte> World::seen_of(const Scenario& scenario, std::size_t input) const {
  std::vector<std::byte> seen = input_of(scenario, input);
  const std::size_t bytes = scenario.swapped_bytes(input);
  for (std::size_t i = 0; bytes != 0 && i < seen.size(); i += bytes) {
    std::reverse(seen.data() + i, seen.data() + i + bytes);
  }
  return seen;
}

std::vector<std::byte> World::result_of(const Scenario& scenario) const {
  const std::size_t to = scenario.writes ? scenario.output_element_bytes : scenario.record_bytes();
  const std::size_t count = scenario.plan().records();
  std::vector<std::byte> result(count * to);
  std::size_t place = 0;  // of an input in a record
  for (std::size_t input = 0; input < scenario.records.size(); ++input) {
    if (scenario.writes && input > 0) break;  // a map makes its output of the first input
    const std::vector<std::byte> seen = seen_of(scenario, input);
    const std::size_t from = scenario.records[input].bytes;
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(seen.data() + i * from, std::min(from, to), result.data() + i * to + place);
    }
    place += from;
  }
  if (!scenario.selects) return result;
  std::vector<std::byte> kept;
  const SequentialPlan plan = scenario.plan();
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    const auto first = result.begin() + static_cast<std::ptrdiff_t>(plan.step(step).first * to);
    kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(scenario.made(step) * to));
  }
  return kept;
}

World::World()
    : contents(random_contents()),
      source(SourceAccess::of_files(open_files(dir, contents), {{0, 0, file_bytes}},
                                    {ElementType::u1, false})),
      target({.path = dir.path() / "target.u1", .type = {ElementType::u1}}, most_output_bytes, {}) {
}

}  // namespace ooc::detail::test

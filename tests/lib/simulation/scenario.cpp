#include "lib/simulation/scenario.hpp"

#include <ooc/io/units.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <sstream>
#include <string>

#include "sizing/layout.hpp"
#include "support/random.hpp"

namespace ooc::test {

namespace {

constexpr std::size_t files = 3;
constexpr std::size_t file_bytes = 60'000;
constexpr std::size_t most_output_bytes = 12 * files * file_bytes;
constexpr std::size_t element_sizes[] = {1, 2, 3, 4, 8, 12};

std::vector<Extent> random_extents(Random& random, std::size_t element_bytes,
                                   std::size_t most_bytes) {
  std::vector<Extent> extents;
  std::size_t sum = 0;
  for (std::size_t left = random.one_in(2) ? 1 : random.between(2, 3); left > 0; --left) {
    std::size_t bytes = random.between(element_bytes, most_bytes);
    if (left == 1) bytes = round_up(sum + bytes, element_bytes) - sum;  // whole elements
    const std::size_t offset = random.below(file_bytes - bytes + 1);
    const std::size_t aligned = random.one_in(2) ? round_down(offset, 8) : offset;
    extents.push_back({static_cast<std::uint32_t>(random.below(files)), aligned, bytes});
    sum += bytes;
  }
  return extents;
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
  reads_inline = !on_gpu && !writes && random.one_in(3);
  pieces = on_gpu && !writes && random.one_in(3) ? random.between(2, 4) : 1;
  direct = !reads_inline && random.one_in(2);
  observed = reads_inline || random.one_in(4);
  element_bytes = element_sizes[random.below(std::size(element_sizes))];
  output_element_bytes = element_sizes[random.below(std::size(element_sizes))];
  const bool is_word = element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
  swapped = is_word && random.one_in(3);
  tuned = !reads_inline && random.one_in(6);
  extents =
      random_extents(random, element_bytes, tuned ? file_bytes - element_bytes : file_bytes / 4);

  std::uint64_t bytes = 0;
  for (const Extent& extent : extents) bytes += extent.bytes;
  chunk_bytes = round_up(divide_up(bytes, random.between(1, 24)), element_bytes);
  if (!reads_inline && !tuned && pieces == 1 && random.one_in(4)) {
    cached.resize(divide_up(bytes, chunk_bytes));
    for (std::size_t i = 0; i < cached.size(); ++i) cached[i] = random.one_in(2);
  }
  block_bytes = page_bytes * random.between(1, 3);
  read_depth = random.between(1, 6);
  write_depth = random.between(1, 4);
  lanes = random.between(1, 4);
  checksummed = cached.empty() && random.one_in(3);  // a checksum needs the bytes in order
  tuned ? choose_tuning(random) : choose_slots(random);

  for (std::size_t count = random.below(3); count > 0; --count) {
    const auto place = static_cast<Place>(random.below(places));
    const bool can_be_often = place >= Place::read_start || place == Place::process;
    troubles.push_back({place, random.below(can_be_often ? 24 : 8), random.one_in(3)});
  }
  reads_ahead = (resizes || tuned) && random.one_in(2);
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
  chunk_bytes = round_up(random.between(page_bytes / 2, 2 * page_bytes), element_bytes);
  lanes = random.between(1, 2);
  read_depth = random.between(2, 4);
  first_depth = random.between(1, read_depth);
  least_depth = random.between(1, first_depth);
  resizes = false;
  const auto in_flight = [&](std::size_t depth) {
    return divide_up(depth * block_bytes, chunk_bytes);
  };
  const std::size_t others = 2 * lanes + random.between(1, 2);
  slots = others + in_flight(read_depth);
  first_slots = others + in_flight(first_depth);
}

SequentialPlan Scenario::plan() const {
  if (cached.empty()) return {extents, chunk_bytes, nullptr, pieces};
  return {extents, chunk_bytes, std::make_shared<const Interleaving>(cached)};
}

SequentialPlan Scenario::output_plan() const {
  const std::array whole{Extent{0, 0, output_bytes(plan().bytes())}};
  const std::uint64_t bytes = std::max<std::uint64_t>(output_bytes(chunk_bytes), 1);
  if (cached.empty() || !writes) return {whole, bytes};
  return {whole, bytes, std::make_shared<const Interleaving>(cached)};
}

std::uint64_t Scenario::output_bytes(std::uint64_t input_bytes) const {
  return writes ? input_bytes / element_bytes * output_element_bytes : 0;
}

bool Scenario::gathers() const {
  return extents.size() > 1 || extents.front().offset % alignment_of(element_bytes) != 0;
}

std::string Scenario::describe() const {
  std::ostringstream text;
  text << "seed " << seed << " (OOC_SIMULATION_SEED=" << seed
       << "): " << (on_gpu ? "GPU, " : "CPU, ") << (writes ? "map" : "fold")
       << (reads_inline ? ", lanes read" : "")
       << (pieces > 1 ? ", steps of " + std::to_string(pieces) + " pieces" : "")
       << (direct ? ", direct" : "") << (swapped ? ", swapped" : "")
       << (observed ? ", observed" : "") << (resizes ? ", resizes" : "") << (tuned ? ", tuned" : "")
       << (reads_ahead ? ", reads ahead" : "") << (checksummed ? ", checksummed" : "")
       << (cached.empty() ? "" : ", interleaved") << "; " << lanes << " lanes, " << first_slots
       << " of " << slots << " slots, depth " << first_depth << " from " << least_depth << " to "
       << read_depth << ", and " << write_depth << "; elements of " << element_bytes << " to "
       << output_element_bytes << ", chunks of " << chunk_bytes << ", blocks of " << block_bytes
       << " bytes; extents";
  for (const Extent& extent : extents) {
    text << " " << extent.file << ":" << extent.offset << "+" << extent.bytes;
  }
  for (const Trouble& trouble : troubles) {
    text << "; " << (trouble.stops ? "stopped" : "failing") << " at place "
         << static_cast<std::size_t>(trouble.place) << ", call " << trouble.nth;
  }
  return text.str();
}

std::vector<std::byte> World::input_of(const Scenario& scenario) const {
  std::vector<std::byte> input;
  for (const Extent& extent : scenario.extents) {
    const auto bytes = std::span(contents[extent.file]).subspan(extent.offset, extent.bytes);
    input.insert(input.end(), bytes.begin(), bytes.end());
  }
  return input;
}

std::vector<std::byte> World::result_of(const Scenario& scenario) const {
  std::vector<std::byte> input = input_of(scenario);
  const std::size_t from = scenario.element_bytes, to = scenario.output_element_bytes;
  for (std::size_t i = 0; scenario.swapped && i < input.size(); i += from) {
    std::reverse(input.data() + i, input.data() + i + from);
  }
  if (!scenario.writes) return input;
  std::vector<std::byte> output(scenario.output_bytes(input.size()));
  for (std::size_t i = 0; i < input.size() / from; ++i) {
    std::copy_n(input.data() + i * from, std::min(from, to), output.data() + i * to);
  }
  return output;
}

World::World()
    : contents(random_contents()),
      source(open_files(dir, contents), {{0, 0, file_bytes}}, {ElementType::u1, false}),
      target({.path = dir.path() / "target.u1", .type = {ElementType::u1}}, most_output_bytes, {}) {
}

}  // namespace ooc::test

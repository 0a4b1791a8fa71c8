#include "ranks/rank_blocks.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/base/units.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ooc::detail {

namespace {

// Of what is left, each rank gets this part at once, and has as much ahead. So a rank that is eight
// times slower than the others still ends with them.
constexpr std::uint64_t parts_per_rank = 16;
constexpr std::uint64_t most_bytes = std::uint64_t{8} << 30;
// Less would take a rank no longer than the message, if the data are in memory.
constexpr std::uint64_t least_bytes = std::uint64_t{64} << 20;
constexpr std::size_t ahead = 2;  // ranges of each rank

/// Records of a step, and of a partition.
struct Steps {
  std::uint64_t records, partition;
};

template <class Value>
std::vector<std::byte> packed(const Value& value) {
  std::vector<std::byte> bytes;
  append_bytes(bytes, value);
  return bytes;
}

template <class Value>
Value value_in(const Letter& letter) {
  return ByteReader(letter.bytes).take<Value>();
}

}  // namespace

RankBlocks::RankBlocks(Conversation& conversation, std::vector<RecordRange> left,
                       std::size_t record_bytes, std::size_t partition, std::stop_token stop)
    : conversation_(conversation),
      record_bytes_(record_bytes),
      partition_(partition),
      wanted_stop_(std::move(stop)),
      left_(left.begin(), left.end()) {}

std::uint64_t RankBlocks::begin(std::uint64_t records, std::uint64_t step_records) {
  if (unit_ != 0) return unit_;
  unit_ = agree_on_unit(step_records);
  if (conversation_.rank() == 0) cut(records);
  return unit_;
}

/// Returns the least number of records that is whole steps of all ranks.
std::uint64_t RankBlocks::agree_on_unit(std::uint64_t step_records) {
  if (conversation_.rank() != 0) {
    conversation_.say(0, Word::step, packed(Steps{step_records, partition_}));
    return value_in<std::uint64_t>(conversation_.await(Word::unit, 0));
  }
  std::uint64_t unit = step_records;
  for (std::size_t rank = 1; rank < conversation_.size(); ++rank) {
    const auto steps = value_in<Steps>(conversation_.await(Word::step, rank));
    if (steps.partition != partition_) {
      throw Error(ErrorKind::usage,
                  conversation_.name_of(rank) + " has partitions of " +
                      std::to_string(steps.partition) + " records, rank 0 of " +
                      std::to_string(partition_),
                  {.why = "the operator has others on a GPU than on the CPU",
                   .hint = "give it `same_bits_everywhere`, or compute on one kind of device"});
    }
    unit = std::lcm(unit, steps.records);
  }
  conversation_.say_to_others(Word::unit, packed(unit));
  return unit;
}

/// Leaves whole blocks; the rest are fragments.
void RankBlocks::cut(std::uint64_t records) {
  const std::scoped_lock lock(mutex_);
  std::deque<RecordRange> whole;
  const auto add_fragment = [&](std::uint64_t first, std::uint64_t end) {
    if (first < end) fragments_.push_back({first, end - first});
  };
  for (const RecordRange& range : left_) {
    const std::uint64_t first = std::min(round_up(range.first, unit_), range.end());
    std::uint64_t end = range.end() == records ? records : round_down(range.end(), unit_);
    end = std::max(end, first);
    add_fragment(range.first, first);
    if (first < end) whole.push_back({first, end - first});
    add_fragment(end, range.end());
    left_count_ += end - first;
  }
  left_ = std::move(whole);
  all_count_ = left_count_;
}

std::uint64_t RankBlocks::next_count(std::uint64_t left, std::uint64_t all, std::size_t ranks,
                                     std::size_t record_bytes, std::uint64_t unit) {
  const std::uint64_t parts = parts_per_rank * ranks;
  const std::uint64_t least = std::min(least_bytes / record_bytes, all / (4 * parts));
  const std::uint64_t most = std::max(most_bytes / record_bytes, least);
  return round_up(std::max<std::uint64_t>(std::clamp(left / parts, least, most), 1), unit);
}

/// Takes the next range out of what is left on rank 0.
std::optional<RecordRange> RankBlocks::take_left() {
  if (left_.empty()) return std::nullopt;
  RecordRange& front = left_.front();
  const std::uint64_t count =
      next_count(left_count_, all_count_, conversation_.size(), record_bytes_, unit_);
  const RecordRange taken{front.first, std::min(count, front.count)};
  front = {taken.end(), front.count - taken.count};
  if (front.count == 0) left_.pop_front();
  left_count_ -= taken.count;
  return taken;
}

/// True if this rank gets no more in this pass.
bool RankBlocks::is_over() const {
  return is_aborted_ || is_stopped_ || is_paused_ || wanted_stop_.stop_requested();
}

std::optional<std::uint64_t> RankBlocks::draw() {
  std::unique_lock lock(mutex_);
  takes_part_ = true;
  while (!is_over()) {
    if (mine_.empty()) {
      if (const auto range = take_left()) mine_.push_back(*range);
    }
    if (!mine_.empty()) {
      RecordRange& front = mine_.front();
      const std::uint64_t block = front.first / unit_;
      const std::uint64_t count = std::min(unit_, front.count);
      front = {front.first + count, front.count - count};
      if (front.count == 0) mine_.pop_front();
      return block;
    }
    if (conversation_.rank() == 0 || none_left_) return std::nullopt;
    const Clock::time_point began = Clock::now();
    changed_.wait(lock);
    waited_ += std::chrono::duration<double>(Clock::now() - began).count();
  }
  return std::nullopt;
}

bool RankBlocks::are_taken() {
  const std::scoped_lock lock(mutex_);
  const bool none = conversation_.rank() == 0 ? left_.empty() : none_left_;
  return is_over() || (mine_.empty() && none);
}

void RankBlocks::attend() {
  conversation_.attend();
  const std::scoped_lock lock(mutex_);
  hear();
  if (wanted_stop_.stop_requested()) stop();
  if (conversation_.rank() == 0) {
    serve();
  } else {
    ask();
  }
}

/// Takes the messages of other ranks.
void RankBlocks::hear() {
  while (const auto letter = conversation_.take(Word::give)) {
    mine_.push_back(value_in<RecordRange>(*letter));
    --asked_;
    changed_.notify_all();
  }
  if (conversation_.take(Word::no_more)) {
    none_left_ = true;
    changed_.notify_all();
  }
  if (conversation_.take(Word::stop)) stop();
}

/// Gives ranges to those who ask, as rank 0, and says to all when there are no more.
void RankBlocks::serve() {
  while (!left_.empty()) {
    const auto letter = conversation_.take(Word::ask);
    if (!letter) return;
    conversation_.say(letter->from, Word::give, packed(*take_left()));
  }
  if (unit_ == 0 || none_left_) return;
  none_left_ = true;
  conversation_.say_to_others(Word::no_more);
}

void RankBlocks::ask() {
  if (!takes_part_ || none_left_ || is_over()) return;
  for (; mine_.size() + asked_ < ahead; ++asked_) conversation_.say(0, Word::ask);
}

/// Ends the job on all ranks.
void RankBlocks::stop() {
  if (std::exchange(is_stopped_, true)) return;
  left_.clear();
  left_count_ = 0;
  changed_.notify_all();
  if (conversation_.rank() == 0) {
    conversation_.say_to_others(Word::stop);
  } else if (wanted_stop_.stop_requested()) {
    conversation_.say(0, Word::stop);
  }
}

void RankBlocks::abort() noexcept {
  const std::scoped_lock lock(mutex_);
  is_aborted_ = true;
  changed_.notify_all();
}

void RankBlocks::pause() {
  const std::scoped_lock lock(mutex_);
  is_paused_ = true;
  changed_.notify_all();
}

void RankBlocks::go_on() {
  const std::scoped_lock lock(mutex_);
  is_paused_ = false;
}

bool RankBlocks::has_ended() {
  const std::scoped_lock lock(mutex_);
  const bool none = conversation_.rank() == 0 ? left_.empty() : none_left_;
  return is_stopped_ || (mine_.empty() && none);
}

double RankBlocks::seconds_waiting() {
  const std::scoped_lock lock(mutex_);
  return waited_;
}

}  // namespace ooc::detail

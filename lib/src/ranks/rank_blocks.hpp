#pragma once

#include <ooc/detail/pool/blocks.hpp>
#include <ooc/source.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "ranks/conversation.hpp"

namespace ooc::detail {

/// The blocks of a job that several ranks share, in one pass or several. Rank 0 knows which records
/// are left, and gives out ranges of them: large ones first, so that there are few messages, and
/// small ones at the end, so that all ranks end at about the same time. Each rank has two ahead.
class RankBlocks final : public Blocks {
 public:
  /// `left`: the records to be given out, on rank 0. `record_bytes`: of a record of all inputs.
  /// `partition`: records of a partition of the job.
  RankBlocks(Conversation& conversation, std::vector<RecordRange> left, std::size_t record_bytes,
             std::size_t partition, std::stop_token stop);

  /// The first call agrees on the size of a block with all ranks; later passes use the same size.
  /// Throws Error(usage) if the partitions of another rank have another size.
  std::uint64_t begin(std::uint64_t records, std::uint64_t step_records) override;
  std::optional<std::uint64_t> draw() override;
  bool are_taken() override;
  void attend() override;
  std::size_t processes() const noexcept override { return conversation_.ranks_on_host(); }
  void abort() noexcept override;

  /// Lets the pass that runs end, but not the job: the next one has the rest.
  void pause();
  void go_on();
  /// True if there are no more blocks in the job, or if it was stopped.
  bool has_ended();

  /// Returns the records, on rank 0, that do not fill a block.
  std::span<const RecordRange> fragments() const noexcept { return fragments_; }

  /// Returns the number of records of the next range, if `left` records are left of `all`.
  static std::uint64_t next_count(std::uint64_t left, std::uint64_t all, std::size_t ranks,
                                  std::size_t record_bytes, std::uint64_t unit);

  /// The time that threads have waited for blocks (seconds).
  double seconds_waiting();

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t agree_on_unit(std::uint64_t step_records);
  void cut(std::uint64_t records);
  std::optional<RecordRange> take_left();
  bool is_over() const;
  void hear();
  void serve();
  void ask();
  void stop();

  Conversation& conversation_;
  std::size_t record_bytes_, partition_;
  std::stop_token wanted_stop_;
  std::uint64_t unit_ = 0;  // records of a block; 0: not known yet
  std::vector<RecordRange> fragments_{};

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::deque<RecordRange> left_;    // on rank 0: to be given out
  std::uint64_t all_count_ = 0;     // records that were in it at first
  std::uint64_t left_count_ = 0;    // and that are now
  std::deque<RecordRange> mine_{};  // given to this rank
  std::size_t asked_ = 0;           // answers that are to come
  bool takes_part_ = false;         // a thread has drawn
  bool none_left_ = false;          // rank 0 has no more
  bool is_paused_ = false, is_stopped_ = false, is_aborted_ = false;
  double waited_ = 0;
};

}  // namespace ooc::detail

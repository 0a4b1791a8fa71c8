#pragma once

#include <ooc/detail/pool/blocks.hpp>
#include <ooc/source.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ooc::detail {

/// The part of a pass's records that one of several devices takes. The records are divided into
/// blocks, and a device takes the next one when it has nothing left to read, so that fast devices
/// take more of them than slow ones, and all end at about the same time. The blocks of a device
/// form a sequence of their own, from record 0 on. Any thread may call any function.
class Share {
 public:
  /// `blocks`: gives out the blocks, and must outlive this object. All blocks have
  /// `block_records`, but for the last one of the `records`.
  Share(Blocks& blocks, std::uint64_t records, std::uint64_t block_records);

  /// True if the sequence has this record, if necessary after taking more blocks. False, now and
  /// later, if there are no more blocks.
  bool has(std::uint64_t record);

  /// Returns the place in the data of a record that the sequence has.
  std::uint64_t place(std::uint64_t record) const noexcept;

  /// Returns the records that were taken, block by block.
  std::vector<RecordRange> taken() const;

  /// Records of all blocks but the last one.
  std::uint64_t block_records() const noexcept { return block_records_; }

 private:
  Blocks& blocks_;
  std::uint64_t records_, block_records_;
  std::mutex taking_;
  std::atomic<std::size_t> count_{0};         // of the blocks that are taken
  std::unique_ptr<std::uint64_t[]> taken_{};  // their numbers, in rising order
};

}  // namespace ooc::detail

#pragma once

#include <ooc/detail/file/extent.hpp>
#include <ooc/detail/file/storage_map.hpp>
#include <ooc/detail/pool/share.hpp>
#include <ooc/source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ooc::detail {

/// The schedule of a pass: the extents of each chunk, in the order in which chunks are read or
/// written. It is known before the pass starts, unless several devices share the data. Extents are
/// computed on demand, so that a plan takes no memory for each chunk, except for the order of
/// chunks that are not in the order of the sequence.
class Plan {
 public:
  virtual ~Plan() = default;

  /// Number of chunks; if the data are shared, the most that there can be.
  virtual std::size_t size() const noexcept = 0;

  /// True if there is a chunk of that index. Chunks before it are asked for first.
  virtual bool has(std::size_t chunk) const { return chunk < size(); }

  /// The largest number of extents of a chunk.
  virtual std::size_t max_extents() const noexcept = 0;

  /// Writes the extents of a chunk to `storage`, which has room for max_extents(), and returns
  /// them.
  virtual std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const = 0;
};

/// The pieces of a sequence that a plan has, in the order of its chunks.
class ChunkOrder {
 public:
  /// Returns an order in which cached and uncached pieces alternate in proportion to their numbers,
  /// so that the disk and the memory are busy from beginning to end. `cached[i]` is true if piece i
  /// is in memory: in the page cache or on the device.
  static ChunkOrder by_turns(std::vector<bool> cached);

  /// Returns the fraction of uncached pieces where both kinds alternate, given their fraction of
  /// all pieces. It is between 1/8 and 7/8: with a smaller fraction, the disk would be busy only if
  /// many chunks were in flight, which takes a large pool.
  static double disk_share(double of_the_whole) noexcept;

  /// Returns every `shards`-th piece from `shard` on, without the first `skip` of these, after a
  /// shuffle if there is a seed. The same seed and number of pieces give the same order everywhere.
  static ChunkOrder sample(std::size_t pieces, std::optional<std::uint64_t> shuffle_seed,
                           std::size_t shard, std::size_t shards, std::size_t skip = 0);

  /// Number of chunks.
  std::size_t size() const noexcept { return order_.size(); }
  std::size_t piece(std::size_t chunk) const noexcept { return order_[chunk]; }

  bool is_by_turns() const noexcept { return !cached_.empty(); }
  bool is_cached(std::size_t piece) const noexcept { return is_by_turns() && cached_[piece]; }

 private:
  std::vector<bool> cached_;  // of an order by turns
  std::vector<std::uint32_t> order_;
};

/// The way in which a plan cuts its inputs.
struct Cut {
  std::uint64_t chunk_records = 1;             // of each input; the last chunk may have fewer
  std::vector<std::uint64_t> record_bytes{1};  // of each input
  /// The order of the chunks, if it is not that of the inputs.
  std::shared_ptr<const ChunkOrder> order{};
  /// The part of the inputs that the plan has, if several devices share them: its blocks are whole
  /// steps. Only without `order`.
  std::shared_ptr<Share> share{};
  std::size_t pieces_per_step = 1;  // more than one only without `order`
  /// Records before and after those of a step that are read with them, as far as there are any.
  /// Only without `order`.
  std::uint64_t before = 0, after = 0;
  std::uint64_t records = 0;  // of a pass without inputs
  /// The first records of the inputs are on the device already. Steps of these only have chunks
  /// without extents.
  std::uint64_t resident_records = 0;
};

/// Where an input of a pass is stored.
struct InputStorage {
  StorageMap map;
  std::uint32_t first_file = 0;  // index of its first file among those of all inputs
};

/// A plan that cuts one or several inputs of equally many records into chunks. A chunk has the same
/// records of each, one input after the other. It may extend over several files. Without inputs,
/// chunks have records but no extents.
class SequentialPlan final : public Plan {
 public:
  /// Throws Error(usage) if chunks have no records.
  SequentialPlan(std::vector<InputStorage> inputs, Cut cut);

  /// Cuts one input into chunks of `chunk_bytes`.
  SequentialPlan(StorageMap input, std::uint64_t chunk_bytes,
                 std::shared_ptr<const ChunkOrder> order = nullptr,
                 std::size_t pieces_per_step = 1);

  std::size_t size() const noexcept override { return chunks_; }
  std::size_t max_extents() const noexcept override { return max_extents_; }

  /// The largest number of runs of a chunk: extents that are neighbours in a file are one run, in
  /// whatever order the chunk has them.
  std::size_t max_runs() const noexcept { return max_runs_; }

  std::span<const Extent> extents(std::size_t chunk, std::span<Extent> storage) const override;
  bool has(std::size_t chunk) const override {
    return cut_.share ? cut_.share->has(chunk * cut_.chunk_records) : chunk < chunks_;
  }

  /// Number of inputs, and the size of a record of one of them (bytes).
  std::size_t inputs() const noexcept { return inputs_.size(); }
  std::uint64_t record_bytes(std::size_t input) const noexcept { return cut_.record_bytes[input]; }

  /// Number of records of each input.
  std::uint64_t records() const noexcept { return records_; }

  /// Number of records that are on the device already.
  std::uint64_t resident_records() const noexcept { return cut_.resident_records; }

  /// True if all records of a step, and its margin, are on the device already.
  bool is_resident(std::size_t step) const noexcept {
    return cut_.resident_records != 0 && step_read(step).end() <= cut_.resident_records;
  }

  /// True if no chunk has extents.
  bool reads_nothing() const noexcept {
    return inputs_.empty() || cut_.resident_records >= records_;
  }

  /// Number of records of each input in all chunks, and their size in all inputs (bytes).
  std::uint64_t planned_records() const noexcept { return planned_records_; }
  std::uint64_t bytes() const noexcept { return planned_records_ * record_bytes_; }

  /// Size of all chunks but the last, without margins (bytes).
  std::uint64_t chunk_bytes() const noexcept { return cut_.chunk_records * record_bytes_; }

  /// Size of the longest chunk, and of one input in the longest step, with margins (bytes).
  std::uint64_t max_bytes() const noexcept { return most_read(1) * record_bytes_; }
  std::uint64_t max_step_bytes(std::size_t input) const noexcept {
    return most_read(cut_.pieces_per_step) * record_bytes(input);
  }

  /// Number of steps of a pass, as size() says. Step k consists of the chunks from first_piece(k)
  /// up to, but not including, end_piece(k).
  std::size_t steps() const noexcept;
  std::size_t pieces_per_step() const noexcept { return cut_.pieces_per_step; }
  std::size_t first_piece(std::size_t step) const noexcept {
    return std::min(step * cut_.pieces_per_step, chunks_);
  }
  std::size_t end_piece(std::size_t step) const noexcept;

  /// The records of a step or a chunk, and those that are read for it: with the margin before them
  /// in the first chunk of a step, and after them in the last.
  RecordRange step(std::size_t step) const noexcept;
  RecordRange step_read(std::size_t step) const noexcept { return with_margin(this->step(step)); }
  RecordRange chunk(std::size_t chunk) const noexcept;
  RecordRange chunk_read(std::size_t chunk) const noexcept;

  /// Size of what is read for a chunk (bytes).
  std::uint64_t bytes(std::size_t chunk) const noexcept {
    return chunk_read(chunk).count * record_bytes_;
  }

 private:
  std::uint64_t first_record(std::size_t chunk) const noexcept;
  RecordRange read_for(RecordRange chunk) const noexcept;
  RecordRange with_margin(RecordRange records) const noexcept;
  std::uint64_t most_read(std::size_t pieces) const noexcept;
  void count_extents(std::size_t input);

  Cut cut_;
  std::vector<InputStorage> inputs_;
  std::uint64_t records_ = 0;          // of each input
  std::uint64_t planned_records_ = 0;  // of each input, in all chunks
  std::uint64_t record_bytes_ = 0;     // of all inputs
  std::size_t chunks_ = 0;
  std::size_t max_extents_ = 0;
  std::size_t max_runs_ = 0;
};

}  // namespace ooc::detail

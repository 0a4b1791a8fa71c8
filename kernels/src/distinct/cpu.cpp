#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "distinct/finder.hpp"
#include "histogram/blocks.hpp"

namespace ooc::detail::distincts {

namespace {

constexpr std::uint32_t recent_bits = 12;
constexpr std::size_t recents = std::size_t{1} << recent_bits;
static_assert(recent_bits >= Table::section_bits);

/// Entries of one section that wait to be added, so that its lock is taken once for all.
struct Batch {
  std::size_t size = 0;
  std::array<Entry, 511> entries;
};

/// Calls see(values, each) for the elements in blocks: for all of a block, each once, or for its
/// first one if all are equal.
template <class T, class See>
void for_each_block(DeviceSpan<const std::byte> data, const See& see) {
  const auto* values = binning::elements<T>(data);
  for (std::size_t left = data.size / sizeof(T); left != 0;) {
    const std::size_t some = std::min(left, binning::block_elements);
    const bool are_equal = std::memcmp(values, values + 1, (some - 1) * sizeof(T)) == 0;
    if (are_equal)
      see(std::span(values, 1), some);
    else
      see(std::span(values, some), 1);
    values += some;
    left -= some;
  }
}

/// Remembers recent values, one for each of the first bits of hashes, with their counts. So
/// frequent values, which all lanes have, do not meet in the table.
template <class T>
class CpuDistinctFinder final : public Finder {
 public:
  explicit CpuDistinctFinder(Table* table) : table_(table) {
    if (table == nullptr) return;
    recent_.resize(recents);
    batches_.resize(Table::sections);
  }

  void look(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    const bool fills_table = table_ != nullptr && !table_->is_full();
    for_each_block<T>(data, [&](std::span<const T> values, std::uint64_t each) {
      take_all(values, each, fills_table);
    });
  }

  Seen finish(Stream& /*stream*/) override {
    if (table_ == nullptr) return seen_;
    for (std::size_t i = 0; i < recents; ++i) {
      if (recent_[i].bits != 0) put(i, recent_[i]);
    }
    for (Batch& batch : batches_) flush(batch);
    return seen_;
  }

 private:
  void take_all(std::span<const T> values, std::uint64_t each, bool fills_table) {
    for (const T value : values) {
      const std::uint64_t bits = bits_of(value);
      if (binning::is_a_nan(value)) {
        seen_.nan += each;
      } else if (bits == 0) {
        seen_.zeros += each;
      } else if (fills_table) {
        take({bits, each});
      } else {
        seen_.sketch.add(hash_of(bits));
      }
    }
  }

  void take(const Entry& entry) {
    const std::uint64_t hash = hash_of(entry.bits);
    const std::size_t index = hash >> (64 - recent_bits);
    Entry& recent = recent_[index];
    if (recent.bits == entry.bits) {
      recent.count += entry.count;
      return;
    }
    seen_.sketch.add(hash);
    if (recent.bits != 0) put(index, recent);
    recent = entry;
  }

  /// Puts a recent entry into the batch of its section.
  void put(std::size_t index, const Entry& entry) {
    Batch& batch = batches_[index >> (recent_bits - Table::section_bits)];
    batch.entries[batch.size++] = entry;
    if (batch.size == batch.entries.size()) flush(batch);
  }

  void flush(Batch& batch) {
    table_->add({batch.entries.data(), batch.size});
    batch.size = 0;
  }

  Table* table_;
  std::vector<Entry> recent_{};   // bits of 0: none yet
  std::vector<Batch> batches_{};  // of each section
  Seen seen_{};
};

/// Marks values in a bitmap that other lanes share.
template <class T>
class CpuMarker final : public Finder {
 public:
  explicit CpuMarker(Bitmap& bitmap) : bitmap_(bitmap), words_(bitmap.words()) {}

  void look(Stream& /*stream*/, DeviceSpan<const std::byte> data) override {
    for_each_block<T>(
        data, [&](std::span<const T> values, std::uint64_t each) { mark_all(values, each); });
  }

  Seen finish(Stream& /*stream*/) override {
    bitmap_.add(marked_);
    return seen_;
  }

 private:
  /// Asks for the words of all values first: each is a miss of the cache, if values are many.
  void mark_all(std::span<const T> values, std::uint64_t each) {
    std::size_t others = 0;
    for (const T value : values) {
      const auto bits = static_cast<std::uint32_t>(bits_of(value));
      if (binning::is_a_nan(value)) {
        seen_.nan += each;
      } else if (bits == 0) {
        seen_.zeros += each;
      } else {
        __builtin_prefetch(words_ + bits / Bitmap::word_bits, 1);
        waiting_[others++] = bits;
      }
    }
    for (std::size_t i = 0; i < others; ++i) mark(waiting_[i]);
  }

  void mark(std::uint32_t bits) {
    const std::atomic_ref<Bitmap::Word> word(words_[bits / Bitmap::word_bits]);
    const Bitmap::Word mark = Bitmap::Word{1} << bits % Bitmap::word_bits;
    if ((word.load(std::memory_order_relaxed) & mark) != 0) return;
    if ((word.fetch_or(mark, std::memory_order_relaxed) & mark) != 0) return;
    ++marked_;
    seen_.sketch.add(hash_of(bits));
  }

  Bitmap& bitmap_;
  Bitmap::Word* words_;
  std::uint64_t marked_ = 0;  // values that this lane was the first to mark
  std::array<std::uint32_t, binning::block_elements> waiting_{};
  Seen seen_{};
};

}  // namespace

std::size_t lane_bytes(ElementType type) {
  if (size_of(type) <= 2) return binning::key_counting_bytes(type, std::size_t{65536}).per_lane;
  return recents * sizeof(Entry) + Table::sections * sizeof(Batch) + sizeof(Seen);
}

std::unique_ptr<Finder> make_cpu_finder(ElementType type, Table* table) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    if constexpr (sizeof(T) >= 4)
      return std::make_unique<CpuDistinctFinder<T>>(table);
    else
      throw Error(ErrorKind::internal, "a table for values of " + std::string(name_of(type)));
  });
}

std::unique_ptr<Finder> make_cpu_marker(ElementType type, Bitmap& bitmap) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Finder> {
    if constexpr (sizeof(T) == 4)
      return std::make_unique<CpuMarker<T>>(bitmap);
    else
      throw Error(ErrorKind::internal, "a bitmap for values of " + std::string(name_of(type)));
  });
}

}  // namespace ooc::detail::distincts

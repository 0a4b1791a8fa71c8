#pragma once

#include <ooc/distinct.hpp>
#include <ooc/fold.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "distinct/finder.hpp"

namespace ooc::detail::distincts {

/// Returns the host memory of a pass whose table takes so many bytes.
HostBytes host_bytes_for(ElementType type, const DistinctOptions& options, std::size_t table_bytes);

/// Host memory for chunks and a lane, which no table gets (bytes).
constexpr std::size_t beside_table = std::size_t{1} << 21;

/// Returns the memory limit with which a table may take so many bytes.
constexpr double memory_for_table(double table_bytes) {
  return table_bytes / 3 * 4 + beside_table;
}

/// Returns the most bytes of a table with a memory limit: three quarters of what is left.
constexpr std::size_t table_within(std::size_t limit) {
  constexpr std::size_t least = std::size_t{1} << 18;
  return std::max(limit > beside_table ? (limit - beside_table) / 4 * 3 : 0, least);
}

/// The findings of a lane, of several of them, or of a loaded part.
struct FoundDistinct final : OpaqueState {
  std::shared_ptr<Table> table{};    // lanes of a pass share it; null if there is an estimate only
  std::unique_ptr<Finder> finder{};  // of a lane, until it finishes
  Seen seen{};
  std::uint64_t elements = 0;
};

/// Lends the table of a pass to its lanes, until their findings are merged.
class TableLender {
 public:
  std::shared_ptr<Table> lend(std::size_t most_bytes, bool has_counts) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Table> table = table_.lock();
    if (!table) table_ = table = std::make_shared<Table>(most_bytes, has_counts);
    return table;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    table_.reset();
  }

 private:
  std::mutex mutex_{};
  std::weak_ptr<Table> table_{};
};

/// The operator of distinct().
template <IsElement T>
class FindDistinct {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr bool same_bits_everywhere = true;
  static constexpr std::string_view partial_name = "ooc.distinct/1";

  /// `table_bytes`: the most that a table may take.
  FindDistinct(const DistinctOptions& options, std::size_t table_bytes)
      : options_(options), table_bytes_(table_bytes) {}

  Partial make_partial(Stream& stream) const;
  void consume(Stream& stream, DeviceChunk<const T> in, Partial& partial) const;
  void finish(Stream& stream, std::span<Partial> partials) const;
  void merge(Partial& total, Partial& part) const;

  /// Throws Error: `memory` if the table is full; `internal` if counts do not add up.
  Distinct result(Partial total) const;

  std::string question() const;
  void save(const Partial& total, std::vector<std::byte>& out) const;
  void load(std::span<const std::byte> in, Partial& total) const;
  std::uint64_t records_in(const Partial& total) const;
  HostBytes host_bytes() const { return host_bytes_for(type, options_, table_bytes_); }

 private:
  static constexpr ElementType type = element_type_of<T>();

  bool has_counts() const { return options_.counts != 0; }

  DistinctOptions options_;
  std::size_t table_bytes_;
  std::shared_ptr<TableLender> tables_ = std::make_shared<TableLender>();
};

}  // namespace ooc::detail::distincts

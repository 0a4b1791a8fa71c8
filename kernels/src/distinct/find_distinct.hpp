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

/// Where the values are at the end of a pass.
enum class Place {
  table,    ///< in a table on the host, from which they are saved, merged and ranked
  counted,  ///< where they were found: lanes of a GPU leave them in its memory if that has room
  bitmap,   ///< marked in a bitmap, in the memory of the device if that has room
};

/// How values are kept.
struct Keeping {
  std::size_t table_bytes = 0;  // the most that a table on the host may take
  Place place = Place::table;
  std::size_t enough_bytes = SIZE_MAX;  // a memory limit that suffices whatever the values are
};

/// The values that all lanes of a pass have found.
struct Values {
  std::unique_ptr<Table> table{};         // null: none are kept, or they are in a bitmap
  std::unique_ptr<Bitmap> bitmap{};       // null: there is none
  std::unique_ptr<CountedValues> left{};  // what lanes of a GPU leave in its memory; null: nothing

  /// The number of values.
  std::uint64_t size() const;
};

/// The findings of a lane, of several of them, or of a loaded part.
struct FoundDistinct final : OpaqueState {
  std::shared_ptr<Values> values{};
  std::unique_ptr<Finder> finder{};  // of a lane, until it finishes
  Seen seen{};
  std::uint64_t elements = 0;
};

/// Lends values to the lanes of a pass, until their findings are merged.
class Lender {
 public:
  /// Calls make() for the first lane, which returns a std::shared_ptr<Values>.
  template <class Make>
  std::shared_ptr<Values> lend(const Make& make) {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Values> lent = lent_.lock();
    if (!lent) lent_ = lent = make();
    return lent;
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    lent_.reset();
  }

 private:
  std::mutex mutex_{};
  std::weak_ptr<Values> lent_{};
};

/// Returns the host memory of a pass.
HostBytes host_bytes_for(ElementType type, const DistinctOptions& options, const Keeping& keeping);

/// The operator of distinct().
template <IsElement T>
class FindDistinct {
 public:
  using Input = T;
  using Partial = OpaquePartial;
  static constexpr Merge merge_order = Merge::unordered;
  static constexpr bool same_bits_everywhere = true;
  static constexpr std::string_view partial_name = "ooc.distinct/1";

  FindDistinct(const DistinctOptions& options, const Keeping& keeping)
      : options_(options), keeping_(keeping) {}

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
  HostBytes host_bytes() const { return host_bytes_for(type, options_, keeping_); }

 private:
  static constexpr ElementType type = element_type_of<T>();

  bool has_counts() const { return options_.counts != 0; }
  std::shared_ptr<Values> make_values(Stream& stream) const;
  std::unique_ptr<Finder> make_finder(Stream& stream, const Values& values) const;

  DistinctOptions options_;
  Keeping keeping_;
  std::shared_ptr<Lender> lender_ = std::make_shared<Lender>();
};

}  // namespace ooc::detail::distincts

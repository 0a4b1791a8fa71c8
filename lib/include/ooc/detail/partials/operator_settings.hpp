#pragma once

#include <ooc/device.hpp>
#include <ooc/records.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

// The constants by which an operator says how it is to be run.

namespace ooc {

namespace detail {

template <class Op>
constexpr Merge merge_of() {
  if constexpr (requires { Op::merge_order; }) {
    return Op::merge_order;
  } else {
    return Merge::by_partition;
  }
}

template <class Op>
constexpr bool has_same_bits_everywhere() {
  if constexpr (requires { Op::same_bits_everywhere; }) {
    return Op::same_bits_everywhere;
  } else {
    return false;
  }
}

inline constexpr std::size_t cpu_partition_bytes = std::size_t{1} << 20;
inline constexpr std::size_t gpu_partition_bytes = std::size_t{8} << 20;

/// Number of records of the largest power of two that is at most `bytes`, and at least one.
constexpr std::size_t records_in(std::size_t bytes, std::size_t record_bytes) {
  return std::bit_floor(std::max<std::size_t>(bytes / record_bytes, 1));
}

/// Records of a partition for operators whose results do not depend on it.
constexpr std::size_t partition_of_streams(std::size_t record_bytes) {
  constexpr std::size_t most = 65536;
  return std::min(records_in(cpu_partition_bytes, record_bytes), most);
}

template <class Op>
concept HasPartitions = requires {
  Op::partition_records;
};

/// Returns the records of the partitions that an operator has chosen: a number, or a function of
/// the size of a record (bytes).
template <HasPartitions Op>
constexpr std::size_t chosen_partition(std::size_t record_bytes) {
  if constexpr (requires { Op::partition_records(record_bytes); }) {
    return Op::partition_records(record_bytes);
  } else {
    static_assert(std::has_single_bit(std::size_t{Op::partition_records}),
                  "partition_records must be a power of two");
    return Op::partition_records;
  }
}

/// Returns the partition of an operator whose results do not depend on it, unless it has chosen
/// one. A call then gets one or several whole partitions.
template <class Op>
constexpr std::size_t partition_of_calls(std::size_t record_bytes) {
  if constexpr (HasPartitions<Op>) {
    return chosen_partition<Op>(record_bytes);
  } else {
    return partition_of_streams(record_bytes);
  }
}

/// True if an operator runs on devices of a kind.
template <class Op>
constexpr bool is_for(DeviceKind kind) {
  if constexpr (requires { Op::runs_on; }) {
    return Op::runs_on == kind;
  } else {
    return true;
  }
}

/// Records of a partition of an operator, a power of two. On the CPU a partition fits a core's
/// cache. On a GPU it is large enough for operators that wait for each result.
template <class Op>
constexpr std::size_t partition_of(const DeviceFacts& device, std::size_t record_bytes) {
  if constexpr (HasPartitions<Op>) {
    return chosen_partition<Op>(record_bytes);
  } else if constexpr (merge_of<Op>() == Merge::unordered || merge_of<Op>() == Merge::by_place) {
    return partition_of_streams(record_bytes);
  } else {
    const bool is_small = device.uses_host_cores || has_same_bits_everywhere<Op>();
    return records_in(is_small ? cpu_partition_bytes : gpu_partition_bytes, record_bytes);
  }
}

}  // namespace detail
}  // namespace ooc

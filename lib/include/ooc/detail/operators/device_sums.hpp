#pragma once

#include <ooc/detail/base/language.hpp>

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/device/buffer.hpp>
#include <ooc/device.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace ooc {

/// A Partial for sums on the device: an array of numbers, 0 at first, to which the operator adds.
/// It brings merge(), reset() and finish(), so that an operator needs none. finish() copies the
/// numbers to the host, and merge() adds them there, each to that of its place.
///
///     struct ColumnSums {
///       using Input = ooc::Row<float>;
///       using Partial = ooc::DeviceSums<double>;
///       std::size_t columns;
///       Partial make_partial(ooc::Stream& stream) const { return {stream, columns}; }
///       void consume(ooc::Stream& stream, ooc::DeviceRows<const float> in, Partial& sums) const {
///         add_columns<<<...>>>(in.data, in.rows(), in.columns, sums.data());  // your kernel
///       }
///     };
///     ooc::fold(coordinator, ColumnSums{columns}, points).value.values()
///
/// Large arrays suit `merge_order = Merge::unordered`: they are then copied once for each stream.
template <class T>
requires std::is_arithmetic_v<T>
class DeviceSums {
 public:
  /// Neutral: it has no numbers. The total of an empty source.
  DeviceSums() = default;
  DeviceSums(Stream& stream, std::size_t count) : values_(count) { reset(stream); }  ///< zeros

  /// The numbers on the device, until finish(). Only work on the stream may use them.
  T* data() const noexcept { return memory_.template as<T>(); }
  std::size_t size() const noexcept { return values_.size(); }  ///< how many there are

  /// The numbers on the host, after finish(): those of a partial, or of the total of a fold.
  const std::vector<T>& values() const noexcept { return values_; }

  /// Makes all numbers 0 again.
  void reset(Stream& stream) {
    memory_ = Buffer(stream.temporaries(), size() * sizeof(T));
    stream.fill_zero(data(), memory_.size());
  }

  /// Copies the numbers of several partials to the host, and waits for all of them. Then they have
  /// no device memory, so a total may outlive the coordinator.
  static void finish(Stream& stream, std::span<DeviceSums> all) {
    for (DeviceSums& sums : all) {
      stream.copy(sums.values_.data(), sums.data(), sums.memory_.size());
    }
    stream.synchronize();
    for (DeviceSums& sums : all) sums.memory_ = Buffer();
  }
  /// Adds those of another partial on the host, after finish() of both.
  void merge(const DeviceSums& part) {
    if (values_.size() < part.size()) values_.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) values_[i] += part.values_[i];
  }

  /// Writes the numbers of a total.
  void save(std::vector<std::byte>& out) const {
    for (const T& value : values_) append_bytes(out, value);
  }
  /// Reads numbers that were written so. Throws Error(bad_input) if they are not whole.
  void load(std::span<const std::byte> in) {
    ByteReader bytes(in);
    values_.clear();
    while (bytes.left() != 0) values_.push_back(bytes.take<T>());
  }

 private:
  Buffer memory_;
  std::vector<T> values_;
};

}  // namespace ooc

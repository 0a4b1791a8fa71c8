#pragma once

#include <ooc/device.hpp>

#include <cstddef>
#include <cstdint>

namespace ooc {

/// The Input or Output of an operator that works on rows of elements, whose number is known at run
/// time: the columns of an input are those of its source (see Source::columns()).
///
///     struct ColumnMeans {
///       using Input = ooc::Row<float>;
///       using Partial = std::vector<double>;
///       void consume(ooc::Stream&, ooc::DeviceRows<const float> in, Partial& sums) const;
///       void merge(Partial& total, const Partial& part) const;
///     };
template <class T>
struct Row {};

/// Rows of a dataset on the device, one after another. `size` counts elements. Rows are aligned to
/// their elements only. Neighbouring rows are there if the operator asks for them (see
/// FoldOperator).
template <class T>
struct DeviceRows : DeviceSpan<T> {
  std::uint64_t first = 0;  ///< index of the first row in the dataset
  std::size_t columns = 1;  ///< elements of a row
  std::size_t before = 0;   ///< rows before these that may be read
  std::size_t after = 0;    ///< rows after these that may be read

  /// Returns the number of rows.
  constexpr std::size_t rows() const noexcept { return this->size / columns; }

  /// Returns a row; the neighbour before the first has index -1.
  constexpr DeviceSpan<T> row(std::ptrdiff_t index) const noexcept {
    return {this->data + index * static_cast<std::ptrdiff_t>(columns), columns};
  }
};

namespace detail {

/// The records of an operator's Input or Output on the device.
template <class Record>
struct RecordView {
  using Input = DeviceWindow<const Record>;
  using Output = DeviceChunk<Record>;
  using Element = Record;

  static Input input(const Record* data, std::uint64_t first, std::size_t records,
                     std::size_t /*columns*/, std::size_t before, std::size_t after) {
    return {{{data, records}, first}, before, after};
  }
  static Output output(Record* data, std::uint64_t first, std::size_t records,
                       std::size_t /*columns*/) {
    return {{data, records}, first};
  }
};

template <class T>
struct RecordView<Row<T>> {
  using Input = DeviceRows<const T>;
  using Output = DeviceRows<T>;
  using Element = T;

  static Input input(const T* data, std::uint64_t first, std::size_t records, std::size_t columns,
                     std::size_t before, std::size_t after) {
    return {{data, records * columns}, first, columns, before, after};
  }
  static Output output(T* data, std::uint64_t first, std::size_t records, std::size_t columns) {
    return {{data, records * columns}, first, columns};
  }
};

template <class Record>
inline constexpr bool is_row = false;
template <class T>
inline constexpr bool is_row<Row<T>> = true;

}  // namespace detail

/// The form in which an operator gets its Input: DeviceWindow<const T>, which is a
/// DeviceChunk<const T>, or DeviceRows<const T> for Row<T>.
template <class Input>
using DeviceInput = typename detail::RecordView<Input>::Input;

/// The form in which an operator gets room for its Output: DeviceChunk<T>, which is a
/// DeviceSpan<T>, or DeviceRows<T> for Row<T>.
template <class Output>
using DeviceOutput = typename detail::RecordView<Output>::Output;

}  // namespace ooc

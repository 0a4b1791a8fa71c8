#include "gram/rows.hpp"

namespace ooc::detail::grams {

void fill_rows_cpu(const Rows& rows, const std::byte* centers, double* out) {
  visit(rows.type, [&]<class T>(std::type_identity<T>) {
    const auto* data = reinterpret_cast<const T*>(rows.data);
    if (centers == nullptr) {
      for (std::size_t i = 0; i < rows.count * rows.columns; ++i) out[i] = to_double(data[i]);
      return;
    }
    const auto* const center = reinterpret_cast<const Center<T>*>(centers);
    for (std::size_t row = 0; row < rows.count; ++row) {
      for (std::size_t c = 0; c < rows.columns; ++c) out[c] = distance(data[c], center[c]);
      data += rows.columns;
      out += rows.columns;
    }
  });
}

}  // namespace ooc::detail::grams

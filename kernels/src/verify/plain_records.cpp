#include "verify/plain_records.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <type_traits>

#include "verify/plain_check.hpp"

namespace ooc::detail::plain {

namespace {

DType bool_type() {
  DType type;
  type.is_bool = true;
  return type;
}

}  // namespace

std::vector<std::byte> RecordReader::next(std::uint64_t count) {
  std::vector<std::byte> records(count * record_bytes());
  read_elements(source_, first_ * record_elements_, size_of(type_), records);
  first_ += count;
  if (!type_.is_struct()) decode(type_, records);
  for (const Field& field : type_.fields) {
    if (!field.is_bool) continue;
    for (std::size_t at = field.offset; at < records.size(); at += type_.struct_bytes) {
      decode(bool_type(), std::span(records).subspan(at, field.count));
    }
  }
  return records;
}

long double NumberInRecord::value_in(std::span<const std::byte> record) const {
  return visit(type.element, [&]<class T>(std::type_identity<T>) {
    std::array<std::byte, sizeof(T)> bytes;
    std::ranges::copy(record.subspan(offset, sizeof(T)), bytes.begin());
    decode(type, bytes);
    return static_cast<long double>(value_of(std::bit_cast<T>(bytes)));
  });
}

NumberInRecord number_in(const std::string& column, const Source& source) {
  NumberInRecord number{DType{source.element()}};
  if (column.empty()) return number;
  if (source.type() && source.type()->is_struct()) {
    const auto& fields = source.type()->fields;
    const Field& field = *std::ranges::find(fields, column, &Field::name);
    number.type = {field.element, field.swapped};
    number.offset = field.offset;
  } else {
    std::size_t index = 0;
    std::from_chars(column.data(), column.data() + column.size(), index);
    number.offset = index * size_of(number.type);
  }
  return number;
}

}  // namespace ooc::detail::plain

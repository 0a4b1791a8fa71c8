#pragma once

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/formats/beginning.hpp"
#include "dataset/formats/formats.hpp"

// Rules of formats whose data lie in one piece behind a small header.

namespace ooc::detail {

/// Returns the error for a header that breaks a rule of its format. The file may be one of another
/// format that begins like it by chance.
Error broken_header(const Beginning& file, const FormatParser& format, const std::string& expected);

/// Returns a text without the spaces at both ends.
std::string_view trimmed(std::string_view text);

/// Returns the whole number that a text consists of; empty if it is another text.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Returns the number that a text consists of; empty if it is another text. Fortran's D stands for
/// E. Integers of 64 bits are exact.
std::optional<long double> real_number(std::string_view text);

/// Returns the number in some bytes of a text, without a sign.
std::uint64_t number_at(std::string_view text, std::size_t offset, std::size_t bytes,
                        bool is_big_endian);

/// Returns the type of elements of a byte order.
DType stored_type(ElementType element, bool is_big_endian);

/// Returns an array that begins at `offset`. Throws Error(bad_input) if it does not end in the
/// file, as far as the size of that is known.
StoredArray array_behind(const Beginning& file, const DType& type, std::vector<std::uint64_t> shape,
                         std::uint64_t offset);

/// Throws Error(bad_input) if a file, whose size is known, has bytes behind its data.
void require_end(const Beginning& file, const FormatParser& format, std::uint64_t data_end);

}  // namespace ooc::detail

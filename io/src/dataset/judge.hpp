#pragma once

#include <ooc/source.hpp>

#include "dataset/formats/beginning.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {

/// False if the first bytes of a raw file or stream show that it has another format or is text,
/// unless `format` says that its bytes are meant.
bool holds_numbers(Beginning& file, const Format& format);

/// Throws Error(bad_input) unless the file or stream holds numbers.
void require_numbers(Beginning& file, const Format& format);

/// Throws Error(usage) if the beginning of a raw file looks like numbers of a type that neither
/// `format` nor the extension gives.
void require_known_type(const File& file, Beginning& beginning, const StoredArray& array,
                        const Format& format);

}  // namespace ooc::detail

#pragma once

#include <ooc/source.hpp>

#include "dataset/beginning.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {

/// Throws Error(bad_input) if the first bytes of a file or stream that is no .npy show that it has
/// another format or is text, unless `format` says that its bytes are meant.
void require_numbers(Beginning& file, const Format& format);

/// Throws Error(usage) if the beginning of a raw file looks like numbers of a type that neither
/// `format` nor the extension gives.
void require_known_type(const File& file, Beginning& beginning, const Description& description,
                        const Format& format);

}  // namespace ooc::detail

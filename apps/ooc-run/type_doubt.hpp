#pragma once

#include <ooc/io/source.hpp>
#include <string>

namespace ooc_run {

/// Whether the type of raw data is merely the one that is taken for want of a better.
bool type_is_default(const ooc::Source& source, const ooc::Format& format);

/// What speaks against such a type: a sentence for the user, or empty. Looks at the first file: at
/// its name, and at its first bytes unless reading them might take long.
std::string type_doubt(const ooc::Source& source, const ooc::Format& format);

}  // namespace ooc_run

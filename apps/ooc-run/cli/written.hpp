#pragma once

#include <ooc/detail/file/output_file.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// Returns "wrote FILE, WHAT", and the note on how the file has got its name.
std::string describe_written(const ooc::detail::OutputFile& file, std::string_view what);

}  // namespace ooc_run

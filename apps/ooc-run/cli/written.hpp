#pragma once

#include <ooc/detail/file/output_file.hpp>
#include <string>
#include <string_view>

namespace ooc_run {

/// Returns "wrote FILE, WHAT", with the note of `file` on its commit if there is one.
std::string describe_written(const ooc::detail::OutputFile& file, std::string_view what);

}  // namespace ooc_run

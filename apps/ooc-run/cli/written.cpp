#include "cli/written.hpp"

#include <fmt/core.h>

namespace ooc_run {

std::string describe_written(const ooc::detail::OutputFile& file, std::string_view what) {
  return fmt::format("wrote {}, {}{}{}", file.path().string(), what,
                     file.note().empty() ? "" : "; ", file.note());
}

}  // namespace ooc_run

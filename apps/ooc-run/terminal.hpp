#pragma once

#include <cstddef>

namespace ooc_run {

/// What can be shown on a descriptor.
struct Terminal {
  std::size_t columns = 80;
  bool interactive = false;  // somebody is looking
  bool colour = false;
  bool unicode = false;
};

/// Looks at the descriptor and at COLUMNS, NO_COLOR, TERM, LC_ALL, LC_CTYPE and LANG.
Terminal describe_terminal(int descriptor);

}  // namespace ooc_run

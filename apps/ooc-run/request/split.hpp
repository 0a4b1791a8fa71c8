#pragma once

#include <ooc/split_by.hpp>
#include <ooc/target.hpp>
#include <vector>

#include "cli/arguments.hpp"

namespace ooc_run {

/// The rule of a split, and its outputs.
struct SplitSettings {
  ooc::SplitRule rule;
  std::vector<ooc::Target> targets;  // without types
};

/// Parses --edges, --by, --shuffle, --into, -o and --force. Throws Error(usage).
SplitSettings read_split_settings(const Arguments& arguments);

}  // namespace ooc_run
